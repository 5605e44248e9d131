/** The balance of an organisation's pool, and the member's month. */
import { Schema } from "effect"
import { amount, decimalOrNull, exposureFields, poolFields, text } from "./shared.ts"

export const BalanceView = Schema.Struct({
  currency: text("Currency of the amounts"),
  ...poolFields,
  ...exposureFields,
  month: Schema.Struct({
    cap: decimalOrNull("The member's cap; null is none"),
    used: amount("Charged in it"),
    held: amount("Held in it")
  }).annotate({ description: "The member's current calendar month" })
}).annotate({
  identifier: "Balance",
  description: "The organisation's pool and the member's month"
})
