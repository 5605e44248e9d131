/** Rows of budgets and their uses in memory. */
import type { Budget } from "../../services/money/Budgets.ts"

export interface StoredUse {
  heldNano: bigint
  capturedNano: bigint
  hasRefused: boolean
  /** The last threshold that was notified of. */
  lastThreshold: number
}

export interface StoredBudget
  extends Pick<Budget, "id" | "scope" | "subjectId" | "period" | "isCap" | "createdAt"> {
  amountNano: bigint
  thresholds: ReadonlyArray<number>
  /** By the start of the period in milliseconds. */
  readonly uses: Map<number, StoredUse>
}

/** A budget that an order counts in, with the period's use. */
export interface BudgetUse {
  readonly budget: StoredBudget
  readonly use: StoredUse
}

export interface Now {
  readonly nowMillis: number
  readonly timeZone: string
}
