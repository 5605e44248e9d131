import type { models as english } from "../en/models.ts"
import type { Translated } from "../Translated.ts"

export const models: Translated<typeof english> = {
  lead: "您的密钥可以使用的模型。价格适用于您的组织。",
  search: "搜索模型",
  modality: "模态",
  all: "全部",
  aliases: "别名 {{names}}",
  images_one: "每次请求 {{count}} 张图片",
  images_other: "每次请求最多 {{count}} 张图片",
  try: "在试用台中打开",
  nothing: "没有符合条件的模型"
}
