import type { key as english } from "../en/key.ts"
import type { Translated } from "../Translated.ts"

export const key: Translated<typeof english> = {
  lead: "此标签页的 API 密钥。密钥由运营人员创建、修改和吊销。",
  name: "名称",
  id: "ID",
  member: "成员",
  organization: "组织",
  never: "永不过期",
  budget: "月度上限",
  spend: "本月各密钥的消费",
  key: "密钥",
  thisKey: "{{name}}（当前密钥）",
  orders: "订单",
  charged: "收取",
  nothing: "本月没有订单"
}
