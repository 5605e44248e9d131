/** What may be spent in some time, and what it is told of. */
import { Schema } from "effect"

/** Whose orders count: the narrower one comes first. */
export const budgetScopes = ["key", "member", "organization"] as const
export type BudgetScope = (typeof budgetScopes)[number]

/** The calendar's, in the deployment's zone; the shorter one comes first. */
export const budgetPeriods = ["day", "month", "total"] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** Percents of the amount. */
export const usualThresholds: ReadonlyArray<number> = [50, 80, 100]

/** A budget that refuses an order, and what it was decided by. Amounts are nano-units. */
export const SpentBudget = Schema.Struct({
  id: Schema.String,
  scope: Schema.Literals(budgetScopes),
  period: Schema.Literals(budgetPeriods),
  /** The member's monthly cap. */
  isCap: Schema.Boolean,
  amountNano: Schema.BigIntFromString,
  /** What the period has held and charged. */
  usedNano: Schema.BigIntFromString,
  /** When the next period begins; null is never. */
  resetsAt: Schema.NullOr(Schema.DateFromString)
})
export type SpentBudget = typeof SpentBudget.Type
