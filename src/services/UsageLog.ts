/** The usage detail: one record per charge, written with the charge. */
import { Context, type Effect, Schema } from "effect"
import { type InvalidRequest, NotFound } from "../domain/Errors.ts"
import { chargeBases, chargeUnits } from "../domain/money/charges.ts"
import type { Tag } from "../domain/money/metadata.ts"
import type { Quote } from "../domain/money/Quote.ts"
import { transferAccounts } from "../domain/money/transfers.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"
import {
  accountsOf,
  type JournalEntry,
  journalId,
  type RefusedJob,
  type VendorJob
} from "./Ledger.ts"
import type { Adjustment } from "./money/Transfers.ts"

export const UsageRecord = Schema.Struct({
  id: Schema.String,
  memberId: Schema.String,
  model: Schema.String,
  modality: Schema.String,
  input: Schema.BigInt,
  output: Schema.BigInt,
  unit: Schema.Literals(chargeUnits),
  unitPriceNano: Schema.BigInt,
  /** The price of an input token where input has its own price; `unitPriceNano` is that of output then. */
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  chargeNano: Schema.BigInt,
  /** The vendor's bill, which members do not see; null where it is not known. */
  costNano: Schema.NullOr(Schema.BigInt),
  basis: Schema.Literals(chargeBases),
  taskId: Schema.NullOr(Schema.String),
  /** The client's metadata of the order; null where it sent none. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The month in which the order was accepted and is counted, such as `2026-10`. */
  month: Schema.String,
  createdAt: Schema.Date
})
export type UsageRecord = typeof UsageRecord.Type

/** A line of the journal that belongs to a charge. */
interface ReceiptEntry
  extends Pick<JournalEntry, "id" | "amountNano" | "debit" | "credit" | "createdAt"> {
  readonly kind: keyof typeof accountsOf | "correction"
}

/** A charge with all data that it was computed from. */
export interface Receipt {
  readonly record: UsageRecord
  /** The price, stored with the hold. */
  readonly quote: Quote
  readonly holdNano: bigint
  /** What was charged above the hold. */
  readonly overageNano: bigint
  /** The oldest first. */
  readonly entries: ReadonlyArray<ReceiptEntry>
  /** The channel, which only operators see, and the channels that refused the order before. */
  readonly job: VendorJob
  readonly refusals: ReadonlyArray<RefusedJob>
  readonly heldAt: Date
  /** Later refunds of the charge, the oldest first. */
  readonly corrections: ReadonlyArray<Adjustment>
}

const PREFIX = "us_"

/** An order has at most one usage record, whose id contains the id of the order. */
export const usageId = (orderId: string): string => PREFIX + orderId

/** Null where the id cannot be that of a usage record. */
export const orderOfUsage = (id: string): string | null =>
  id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null

/** The receipt of a charge, from the order that was charged. */
export const receiptOf = (
  record: UsageRecord,
  order: {
    readonly id: string
  } & Pick<Receipt, "quote" | "holdNano" | "heldAt" | "job" | "refusals" | "corrections">
): Receipt => {
  const entry = (kind: keyof typeof accountsOf, amountNano: bigint, createdAt: Date) => ({
    id: journalId(kind, order.id),
    kind,
    amountNano,
    ...accountsOf[kind],
    createdAt
  })
  const { holdNano, quote, heldAt, job, refusals, corrections } = order
  const { chargeNano, createdAt } = record
  return {
    record,
    quote,
    holdNano,
    heldAt,
    job,
    refusals,
    corrections,
    overageNano: chargeNano > holdNano ? chargeNano - holdNano : 0n,
    entries: [
      entry("hold", holdNano, heldAt),
      entry("capture", chargeNano, createdAt),
      entry("release", holdNano, createdAt),
      ...corrections.map(({ id, amountNano, createdAt }) => ({
        id,
        kind: "correction" as const,
        amountNano,
        createdAt,
        ...transferAccounts.correction
      }))
    ]
  }
}

/** One error for a foreign and an unknown id. */
export const noSuchRecord = new NotFound({ message: "No such usage record" })

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /**
     * Lists by the time of the order, the newest first, however late it was charged. Covers one member or the
     * whole organisation, and with a tag only the orders that have it.
     */
    list(
      organizationId: string,
      filter: { readonly memberId: string | null; readonly tag: Tag | null },
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
    /** Covers one member or the whole organisation; another's record is not found. */
    receipt(
      organizationId: string,
      memberId: string | null,
      id: string
    ): Effect.Effect<Receipt, NotFound>
  }
>()("gateway/services/UsageLog") {}
