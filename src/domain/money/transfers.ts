/**
 * Money that moves without an order: deposits and adjustments, which an operator makes with a
 * reason.
 */

/**
 * The kinds of adjustments: `credit` adds money, `withdrawal` takes money, and `correction` refunds
 * a charge or a part of it.
 */
export const adjustmentKinds = ["credit", "withdrawal", "correction"] as const
export type AdjustmentKind = (typeof adjustmentKinds)[number]

export const transferKinds = ["deposit", ...adjustmentKinds] as const
export type TransferKind = (typeof transferKinds)[number]

/** The debited and the credited account of each kind of transfer. */
export const transferAccounts = {
  deposit: { debit: "external", credit: "pool" },
  credit: { debit: "adjustments", credit: "pool" },
  withdrawal: { debit: "pool", credit: "external" },
  correction: { debit: "revenue", credit: "pool" }
} as const satisfies Record<TransferKind, { debit: string; credit: string }>

/**
 * The prefix of transfer ids, which are also the ids of their journal entries; a UUIDv7 follows.
 */
export const transferPrefix = "tr_"
