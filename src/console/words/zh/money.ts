import type { money as english } from "../en/money.ts"
import type { Translated } from "../Translated.ts"

export const money: Translated<typeof english> = {
  title: "money"
}
