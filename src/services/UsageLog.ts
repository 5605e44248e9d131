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
  /** Price of an input token, where input is charged apart; `unitPriceNano` is of output then. */
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  chargeNano: Schema.BigInt,
  /** What the vendor bills for it, which members are not told; null where it is not known. */
  costNano: Schema.NullOr(Schema.BigInt),
  basis: Schema.Literals(chargeBases),
  taskId: Schema.NullOr(Schema.String),
  /** The client's notes with the order; null where it made none. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** That its order was taken in and counts in, as `2026-10`. */
  month: Schema.String,
  createdAt: Schema.Date
})
export type UsageRecord = typeof UsageRecord.Type

/** A line of the journal that belongs to a charge. */
interface ReceiptEntry
  extends Pick<JournalEntry, "id" | "amountNano" | "debit" | "credit" | "createdAt"> {
  readonly kind: keyof typeof accountsOf | "correction"
}

/** A charge with everything it follows from. */
export interface Receipt {
  readonly record: UsageRecord
  /** Frozen with the hold. */
  readonly quote: Quote
  readonly holdNano: bigint
  /** What was charged above the hold. */
  readonly overageNano: bigint
  /** In time. */
  readonly entries: ReadonlyArray<ReceiptEntry>
  /** Where it was made, which is the operator's to know, and the channels that were asked before. */
  readonly job: VendorJob
  readonly refusals: ReadonlyArray<RefusedJob>
  readonly heldAt: Date
  /** What was given back of the charge since, in time. */
  readonly corrections: ReadonlyArray<Adjustment>
}

const PREFIX = "us_"

/** An order has at most one usage record, which is called by the order. */
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
        ...{ id, kind: "correction" as const, amountNano, createdAt },
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
     * Newest order first, whenever it was charged; of one member, or of the whole organisation, and
     * with a tag alone of the orders that carry it.
     */
    list(
      organizationId: string,
      of: { readonly memberId: string | null; readonly tag: Tag | null },
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
    /** Of one member, or of the whole organisation; what belongs to anybody else is not found. */
    receipt(
      organizationId: string,
      memberId: string | null,
      id: string
    ): Effect.Effect<Receipt, NotFound>
  }
>()("gateway/services/UsageLog") {}
