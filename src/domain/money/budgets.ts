/** Budgets: the scopes, the periods and the alert thresholds. */
import { Schema } from "effect"

/** The scopes of a budget, that is, whose orders count; the narrower scope comes first. */
export const budgetScopes = ["key", "member", "organization"] as const
export type BudgetScope = (typeof budgetScopes)[number]

/**
 * The periods of a budget, by the calendar of the deployment's time zone; the shorter period comes
 * first.
 */
export const budgetPeriods = ["day", "month", "total"] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** The default alert thresholds, in per cent of the amount. */
export const usualThresholds: ReadonlyArray<number> = [50, 80, 100]

/** A budget that refuses an order, and the figures behind the decision. Amounts are nano-units. */
export const SpentBudget = Schema.Struct({
  id: Schema.String,
  scope: Schema.Literals(budgetScopes),
  period: Schema.Literals(budgetPeriods),
  /** Whether the budget is the member's monthly cap. */
  isCap: Schema.Boolean,
  amountNano: Schema.BigIntFromString,
  /** The sum of holds and charges in the period. */
  usedNano: Schema.BigIntFromString,
  /** The time at which the next period begins; null if there is none. */
  resetsAt: Schema.NullOr(Schema.DateFromString)
})
export type SpentBudget = typeof SpentBudget.Type
