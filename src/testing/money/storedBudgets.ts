/** How budgets, and what counts in them, stand in memory. */
import type { Budget } from "../../services/money/Budgets.ts"

export interface StoredUse {
  heldNano: bigint
  capturedNano: bigint
  hasRefused: boolean
  /** The last percent that was told. */
  told: number
}

export interface StoredBudget
  extends Pick<Budget, "id" | "scope" | "subjectId" | "period" | "isCap" | "createdAt"> {
  amountNano: bigint
  thresholds: ReadonlyArray<number>
  /** By when the period began, in milliseconds. */
  readonly uses: Map<number, StoredUse>
}

/** What an order counts in. */
export interface Counted {
  readonly budget: StoredBudget
  readonly use: StoredUse
}

export interface Now {
  readonly nowMillis: number
  readonly timeZone: string
}
