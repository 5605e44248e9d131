import type { wizard as english } from "../en/wizard.ts"
import type { Translated } from "../Translated.ts"

export const wizard: Translated<typeof english> = {
  title: "添加渠道",
  lead: "应用之前不会有任何改变。",
  steps: { vendor: "供应商", account: "连接", models: "模型", prices: "价格", review: "检查" },
  next: "下一步",
  back: "上一步",
  other: "使用其他协议？请在目录中添加渠道。",
  vendors: {
    openai: "对话、图像理解、向量、语音合成和语音转写，使用 OpenAI API 或其兼容接口",
    jina: "重排序，使用 Jina API 或其兼容接口",
    ip_a: "图像，使用 OpenAI Images API 或其兼容接口，例如 Seedream",
    ip_b: "通义千问图像",
    ip_c: "中转通义千问与 Seedream 图像",
    vp_a: "Seedance 视频，按 token 计费",
    vp_b: "需要应用 ID 的 Seedance 视频账号",
    vp_c: "中转 Seedance、可灵、Vidu 与万相视频",
    vp_d: "可灵视频，按秒计费",
    vp_e: "Vidu 视频，按秒计费",
    vp_f: "通义万相视频，按秒计费"
  },
  urlHint: "建议的地址；使用其他地域或服务商时请修改。",
  test: "测试并继续",
  anyway: "仍然继续",
  found: "找到的模型：{{count}}",
  search: "搜索模型",
  typed: "模型 ID",
  typedHint: "该供应商不提供模型列表。每输入一个 ID 后按回车。",
  moreHint: "供应商未列出的 ID",
  names: "客户端使用的模型 ID",
  listed: "目录中已有该模型：将按其现有价格挂载。",
  pricesOf: "{{model}} 的价格",
  noModels: "尚未选择模型。",
  added: "改动",
  addChannel: "渠道 {{name}}（{{id}}）",
  addModel: "模型 {{id}}",
  addMount: "挂载 {{id}}",
  missing: "缺少：",
  gaps: {
    key: "API 密钥：渠道不会收到订单。",
    test: "成功的连接测试。",
    models: "模型：无法下单。",
    prices: "{{models}} 的价格：无法下单。",
    cost: "供应商成本：毛利未知。可在目录的挂载中填写。"
  },
  apply: "应用",
  newer: "目录在此期间已有改动。请再次检查后应用。",
  done: "已应用为目录的版本 {{version}}。",
  tryIt: "试用",
  open: "打开渠道"
}
