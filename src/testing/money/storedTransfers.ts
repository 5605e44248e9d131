/** Rows of deposits and adjustments in memory. */
import type { Adjustment, Deposit } from "../../services/money/Transfers.ts"

export type StoredTransfer =
  | Omit<Adjustment, "organizationId">
  | (Omit<Deposit, "organizationId"> & {
      readonly kind: "deposit"
      readonly reason: null
      readonly author: null
      readonly orderId: null
    })
