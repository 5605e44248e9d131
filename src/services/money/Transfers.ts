/**
 * Transfers: movements of money without an order, which are deposits and operators' adjustments.
 * Amounts are nano-units.
 */
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
  /** The reference, unique within the organisation. */
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

/** A new adjustment; its amount is greater than zero. */
export type NewAdjustment = Omit<Adjustment, "id" | "createdAt">

const TransferTotals = Schema.Struct({ count: Schema.Int, amountNano: Schema.BigIntFromString })

/** Totals over all deposits of an organisation. */
export const DepositTotals = TransferTotals
export type DepositTotals = typeof DepositTotals.Type

/** Totals of one kind of adjustment; kinds without adjustments are left out. */
export const AdjustmentTotals = Schema.Struct({
  kind: Schema.Literals(adjustmentKinds),
  ...TransferTotals.fields
})
export type AdjustmentTotals = typeof AdjustmentTotals.Type

export class Transfers extends Context.Service<
  Transfers,
  {
    /**
     * Moves the money once per reference; a repeat returns the first adjustment. A withdrawal
     * cannot exceed the available balance, and the corrections of a charge together cannot exceed
     * the charge.
     */
    adjust(
      adjustment: NewAdjustment
    ): Effect.Effect<
      { readonly adjustment: Adjustment; readonly applied: boolean },
      NotFound | IdempotencyMismatch | InvalidRequest | InsufficientBalance
    >
    /** Lists newest first. */
    adjustments(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<Adjustment>, InvalidRequest>
    /** Lists newest first. */
    deposits(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<Deposit>, InvalidRequest>
    depositTotals(organizationId: string): Effect.Effect<DepositTotals>
    adjustmentTotals(organizationId: string): Effect.Effect<ReadonlyArray<AdjustmentTotals>>
  }
>()("gateway/services/Transfers") {}
