/** The fields of budgets that several groups of the contract share. */
import { Effect, Schema } from "effect"
import { budgetPeriods, budgetScopes, usualThresholds } from "../../../domain/money/budgets.ts"
import { Amount } from "../../../domain/money/Money.ts"
import { amount, constant, flag, oneOf, Timestamp, text, timeOrNull } from "../shared.ts"

const MAX_THRESHOLDS = 10
export const MAX_PERCENT = 1000
export const Thresholds = Schema.Array(
  Schema.Int.check(
    Schema.isBetween(
      { minimum: 1, maximum: MAX_PERCENT },
      { expected: `a whole number from 1 to ${MAX_PERCENT}` }
    )
  )
)
  .check(Schema.isMaxLength(MAX_THRESHOLDS, { expected: `at most ${MAX_THRESHOLDS} percents` }))
  .annotate({
    description:
      "Percents of the amount: when what is used reaches one, `budget.threshold` tells so, once in a period"
  })

export const budgetScope = oneOf(
  budgetScopes,
  "Whose orders count: a key's, a member's or all of an organisation"
)

/** The fields of a new budget beside the ones whose orders count in it. */
export const budgetFields = {
  period: oneOf(
    budgetPeriods,
    "The calendar's day or month in the deployment's zone, or all of time"
  ),
  amount: Amount,
  thresholds: Thresholds.pipe(Schema.withDecodingDefaultKey(Effect.succeed([...usualThresholds])))
}

export const BudgetView = Schema.Struct({
  object: constant("budget", "Always `budget`"),
  id: text("The budget's id"),
  organization_id: text("Whose it is"),
  scope: budgetScope,
  subject_id: text("The organisation, the member or the key whose orders count"),
  period: budgetFields.period,
  amount: amount("How much may be held and charged in a period"),
  thresholds: Thresholds,
  held: amount("What open orders hold of it"),
  charged: amount("What was charged in the period"),
  used: amount("Both together"),
  available: amount("What can still be ordered for; not below zero"),
  exceeded: flag("More is used than the amount: new orders are refused, and what runs goes on"),
  is_member_cap: flag("It is the member's `monthly_cap`, and refuses as `member_cap_exceeded`"),
  started_at: timeOrNull("When the present period began; null where it is all of time"),
  resets_at: timeOrNull("When the next one begins; null is never"),
  created_at: Timestamp
}).annotate({ identifier: "Budget", description: "What may be spent, and what is" })
export type BudgetView = typeof BudgetView.Type
