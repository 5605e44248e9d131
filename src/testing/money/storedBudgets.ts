/** Rows of budgets and their uses in memory. */
import type { Budget } from "../../services/money/Budgets.ts"

export interface StoredUse {
  heldNano: bigint
  capturedNano: bigint
  hasRefused: boolean
  /** The last threshold for which a notification was sent. */
  lastThreshold: number
}

export interface StoredBudget
  extends Pick<Budget, "id" | "scope" | "subjectId" | "period" | "isCap" | "createdAt"> {
  amountNano: bigint
  thresholds: ReadonlyArray<number>
  /** The use of each period, by the start of the period in milliseconds. */
  readonly uses: Map<number, StoredUse>
}

/** A budget in which an order counts, with its use in the period of the order. */
export interface BudgetUse {
  readonly budget: StoredBudget
  readonly use: StoredUse
}

export interface Now {
  readonly nowMillis: number
  readonly timeZone: string
}
