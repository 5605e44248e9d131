import type { failures as english } from "../en/failures.ts"
import type { Translated } from "../Translated.ts"

export const failures: Translated<typeof english> = {
  titles: {
    modality_mismatch: "该模型生成的是其他类型的内容。",
    modality_not_ready: "此类模型尚未开放。",
    video_unsupported_protocol: "该模型无法下单：其协议不支持视频。",
    image_unsupported_protocol: "该模型无法下单：其协议不支持图片。",
    video_sku_invalid: "该模型不提供此时长或分辨率。",
    billing_unavailable: "此订单没有价格。",
    upstream_error: "供应商拒绝了订单或出现故障。",
    insufficient_balance: "余额不足。",
    member_cap_exceeded: "此订单将超出成员本月上限。",
    budget_exceeded: "此订单将超出预算。",
    invalid_api_key: "密钥或令牌已失效。",
    permission_denied: "此密钥或角色无权执行该操作。",
    model_not_found: "没有这个模型。",
    task_not_found: "没有这个订单。",
    task_processing: "订单仍在生成中。",
    price_list_in_use: "仍有组织在使用此价目表。",
    not_found: "没有这个对象。",
    method_not_allowed: "网关不提供此操作。",
    payload_too_large: "内容超过了网关一次可接收的大小。",
    unsupported_media_type: "网关在此处不接受这种类型的文件。",
    invalid_request: "表单中有内容不符合要求。",
    idempotency_conflict: "相同的请求仍在进行。",
    idempotency_mismatch: "此参考号已用于其他操作。",
    precondition_failed: "期间有其他人做了修改。",
    channel_unavailable: "该模型目前没有可用的渠道。",
    rate_limited: "请求过于频繁。",
    overloaded: "网关繁忙，未下任何订单。",
    internal_error: "网关出错。",
    offline: "您处于离线状态，请在网络恢复后重试。",
    unreachable: "网关没有响应。",
    unreadable: "无法读取返回的内容。"
  },
  use: "改用 {{value}}",
  required: "订单需要 {{required}}，目前可用 {{available}}。",
  retryAfter: "{{seconds}} 秒后可重试。",
  until: "将于 {{when}} 重新开始。",
  used: "已使用 {{used}} / {{amount}}，此订单需要 {{required}}。"
}
