/** The balance of an organisation's pool, the member's month, and the budgets of the key. */
import { Schema, Struct } from "effect"
import { BudgetView } from "./admin/budgets.ts"
import { amount, arrayOf, decimalOrNull, exposureFields, poolFields, text } from "./shared.ts"

const applicableBudgetFields = [
  ...(["id", "scope", "period", "amount"] as const),
  ...(["used", "available", "is_member_cap", "resets_at"] as const)
] as const

/** A budget as the holder of a key sees it: what it bounds, and what is left. */
const ApplicableBudgetView = BudgetView.mapFields(Struct.pick(applicableBudgetFields)).annotate({
  identifier: "ApplicableBudget",
  description: "A budget that orders must fit into"
})

export const BalanceView = Schema.Struct({
  currency: text("Currency of the amounts"),
  ...poolFields,
  ...exposureFields,
  month: Schema.Struct({
    cap: decimalOrNull("The member's cap; null is none"),
    used: amount("Charged in it"),
    held: amount("Held in it")
  }).annotate({ description: "The member's current calendar month" }),
  budgets: arrayOf(
    ApplicableBudgetView,
    "The budgets into each of which an order with this key must fit, the key's own first"
  )
}).annotate({
  identifier: "Balance",
  description: "The organisation's pool, the member's month and the budgets of the key's orders"
})
