/** Money that moves without an order: deposits, and adjustments, each by an operator with a reason. */

/** `credit` gives, `withdrawal` takes, and `correction` gives a charge back, or a part of it. */
export const adjustmentKinds = ["credit", "withdrawal", "correction"] as const
export type AdjustmentKind = (typeof adjustmentKinds)[number]

export const transferKinds = ["deposit", ...adjustmentKinds] as const
export type TransferKind = (typeof transferKinds)[number]

/** Where money comes from and goes to. */
export const transferAccounts = {
  deposit: { debit: "external", credit: "pool" },
  credit: { debit: "adjustments", credit: "pool" },
  withdrawal: { debit: "pool", credit: "external" },
  correction: { debit: "revenue", credit: "pool" }
} as const satisfies Record<TransferKind, { debit: string; credit: string }>

/** How the ids of transfers begin, which are their journal entries' ids as well; a UUIDv7 follows. */
export const transferPrefix = "tr_"
