/** Money that moves without an order: read, and adjusted by those who answer for it. Nano-units. */
import { Context, type Effect, Schema } from "effect"
import type {
  IdempotencyMismatch,
  InsufficientBalance,
  InvalidRequest,
  NotFound
} from "../../domain/Errors.ts"
import { adjustmentKinds } from "../../domain/money/transfers.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

const transferFields = {
  id: Schema.String,
  organizationId: Schema.String,
  amountNano: Schema.BigInt,
  /** Unique in the organisation. */
  reference: Schema.String,
  createdAt: Schema.Date
}

export const Deposit = Schema.Struct(transferFields)
export type Deposit = typeof Deposit.Type

export const Adjustment = Schema.Struct({
  ...transferFields,
  kind: Schema.Literals(adjustmentKinds),
  reason: Schema.String,
  author: Schema.String,
  /** The order whose charge a correction refunds; null for other kinds. */
  orderId: Schema.NullOr(Schema.String)
})
export type Adjustment = typeof Adjustment.Type

/** Its amount is greater than zero. */
export type NewAdjustment = Omit<Adjustment, "id" | "createdAt">

const TransferTotals = Schema.Struct({ count: Schema.Int, amountNano: Schema.BigIntFromString })

/** Of every deposit of an organisation. */
export const DepositTotals = TransferTotals
export type DepositTotals = typeof DepositTotals.Type

/** Of each kind of adjustment; none of a kind that there is none of. */
export const AdjustmentTotals = Schema.Struct({
  kind: Schema.Literals(adjustmentKinds),
  ...TransferTotals.fields
})
export type AdjustmentTotals = typeof AdjustmentTotals.Type

export class Transfers extends Context.Service<
  Transfers,
  {
    /**
     * Moves the money once per reference; a repeat answers the first one. A withdrawal takes no more
     * than what is available, and corrections of a charge give no more back than it was.
     */
    adjust(
      adjustment: NewAdjustment
    ): Effect.Effect<
      { readonly adjustment: Adjustment; readonly applied: boolean },
      NotFound | IdempotencyMismatch | InvalidRequest | InsufficientBalance
    >
    /** Newest first. */
    adjustments(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<Adjustment>, InvalidRequest>
    /** Newest first. */
    deposits(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<Deposit>, InvalidRequest>
    depositTotals(organizationId: string): Effect.Effect<DepositTotals>
    adjustmentTotals(organizationId: string): Effect.Effect<ReadonlyArray<AdjustmentTotals>>
  }
>()("gateway/services/Transfers") {}
