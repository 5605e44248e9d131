/**
 * The parts of the finance desk's work. Each opens accounts of its own, on which nobody else acts,
 * so that every answer is known beforehand.
 */
import { caps, manyBudgets, midnight, oneBudget, percents, together } from "./budgets.ts"
import { balances, corrections, credits, exposures, holds, transfers } from "./money.ts"
import type { Part } from "./steps.ts"

export const midnightPart: readonly [string, Part] = ["midnight", midnight]

/** The parts that may be done at any time of the day, by their names. */
export const parts: ReadonlyArray<readonly [string, Part]> = [
  ["transfers", transfers],
  ["corrections", corrections],
  ["balances", balances],
  ["one budget", oneBudget],
  ["many budgets", manyBudgets],
  ["caps", caps],
  ["together", together],
  ["holds", holds],
  ["credits", credits],
  ["exposures", exposures],
  ["percents", percents]
]
