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
  /** Price of an input token, where input has a price of its own; `unitPriceNano` is then that of output. */
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  chargeNano: Schema.BigInt,
  /** The vendor's bill for it, which members do not see; null where it is unknown. */
  costNano: Schema.NullOr(Schema.BigInt),
  basis: Schema.Literals(chargeBases),
  taskId: Schema.NullOr(Schema.String),
  /** The client's metadata of the order; null without any. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The month in which it was ordered, and in which it counts, as `2026-10`. */
  month: Schema.String,
  createdAt: Schema.Date
})
export type UsageRecord = typeof UsageRecord.Type

/** A line of the journal that belongs to a charge. */
interface ReceiptEntry
  extends Pick<JournalEntry, "id" | "amountNano" | "debit" | "credit" | "createdAt"> {
  readonly kind: keyof typeof accountsOf | "correction"
}

/** A charge with everything that it was calculated from. */
export interface Receipt {
  readonly record: UsageRecord
  /** The price, stored with the hold. */
  readonly quote: Quote
  readonly holdNano: bigint
  /** What was charged above the hold. */
  readonly overageNano: bigint
  /** In order of time. */
  readonly entries: ReadonlyArray<ReceiptEntry>
  /** The job at the channel that made it, which only operators see, and the refusals of other channels before. */
  readonly job: VendorJob
  readonly refusals: ReadonlyArray<RefusedJob>
  readonly heldAt: Date
  /** The corrections of the charge, in order of time. */
  readonly corrections: ReadonlyArray<Adjustment>
}

const PREFIX = "us_"

/** The id of an order's usage record; an order has at most one. */
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
     * Lists charges by the time of their orders, newest first, of one member or of the complete
     * organisation; with a tag, only those of orders that have it.
     */
    list(
      organizationId: string,
      filter: { readonly memberId: string | null; readonly tag: Tag | null },
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
    /** The receipt of a charge of one member, or of the complete organisation; other charges are not found. */
    receipt(
      organizationId: string,
      memberId: string | null,
      id: string
    ): Effect.Effect<Receipt, NotFound>
  }
>()("gateway/services/UsageLog") {}
