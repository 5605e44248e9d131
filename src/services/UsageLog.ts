/** The usage log: one record per charge, written in the commit of the charge. */
import { Context, type Effect, Schema } from "effect"
import type { AppliedPriceList } from "../domain/catalog/PriceList.ts"
import { type InvalidRequest, NotFound } from "../domain/Errors.ts"
import { ChargePart } from "../domain/money/chargeParts.ts"
import { chargeBases, chargeUnits } from "../domain/money/charges.ts"
import type { Tag } from "../domain/money/metadata.ts"
import type { Quote } from "../domain/money/Quote.ts"
import { transferAccounts } from "../domain/money/transfers.ts"
import { VendorBill } from "../domain/money/vendorBill.ts"
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
  /**
   * The price of an input token where input has its own price; `unitPriceNano` is then the price of
   * an output token.
   */
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  /** The units with prices of their own; null where there are none. */
  parts: Schema.NullOr(Schema.Array(ChargePart)),
  chargeNano: Schema.BigInt,
  /** The vendor's bill, which members do not see; null where the bill is unknown. */
  costNano: Schema.NullOr(Schema.BigInt),
  /** What the vendor itself said that it bills, and that at the price of its unit; or null. */
  vendorBill: Schema.NullOr(VendorBill),
  reportedCostNano: Schema.NullOr(Schema.BigInt),
  /** The price list that priced the order; null where the catalog's prices stood. */
  priceListId: Schema.NullOr(Schema.String),
  basis: Schema.Literals(chargeBases),
  taskId: Schema.NullOr(Schema.String),
  /** The client's metadata of the order; null where it sent none. */
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The accounting month: the month in which the order was accepted, such as `2026-10`. */
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
  /** The amount charged above the hold. */
  readonly overageNano: bigint
  /** Journal entries of the order, the oldest first. */
  readonly entries: ReadonlyArray<ReceiptEntry>
  /** The vendor job, and the channels that refused the order before. Only operators see them. */
  readonly job: VendorJob
  readonly refusals: ReadonlyArray<RefusedJob>
  readonly heldAt: Date
  /** The price list that priced the order. Only operators see its name. */
  readonly priceList: AppliedPriceList | null
  /** Later refunds of the charge, the oldest first. */
  readonly corrections: ReadonlyArray<Adjustment>
}

const PREFIX = "us_"

/**
 * Derives the id of a usage record from the id of its order. The derived id is unique, because an
 * order has at most one record.
 */
export const usageId = (orderId: string): string => PREFIX + orderId

/**
 * The id of the order of a usage record; null where the id does not have the form of a usage
 * record's id.
 */
export const orderOfUsage = (id: string): string | null =>
  id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null

/** Builds the receipt of a charge from its usage record and its order. */
export const receiptOf = (
  record: UsageRecord,
  order: {
    readonly id: string
  } & Pick<
    Receipt,
    "quote" | "holdNano" | "heldAt" | "job" | "refusals" | "corrections" | "priceList"
  >
): Receipt => {
  const entry = (kind: keyof typeof accountsOf, amountNano: bigint, createdAt: Date) => ({
    id: journalId(kind, order.id),
    kind,
    amountNano,
    ...accountsOf[kind],
    createdAt
  })
  const { holdNano, quote, heldAt, job, refusals, corrections, priceList } = order
  const { chargeNano, createdAt } = record
  return {
    record,
    quote,
    holdNano,
    heldAt,
    job,
    refusals,
    corrections,
    priceList,
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

/** The same error for an unknown id and for the record of another organisation or member. */
export const noSuchRecord = new NotFound({ message: "No such usage record" })

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /**
     * Lists records newest first, sorted by the creation time of their orders, not by the time of
     * the charge. Lists one member's records, or the whole organisation's where `memberId` is null.
     * A tag limits the list to orders with that tag.
     */
    list(
      organizationId: string,
      filter: { readonly memberId: string | null; readonly tag: Tag | null },
      page: PageRequest
    ): Effect.Effect<Page<UsageRecord>, InvalidRequest>
    /**
     * The receipt of a usage record of one member, or of the whole organisation where `memberId` is
     * null. All other records are not found.
     */
    receipt(
      organizationId: string,
      memberId: string | null,
      id: string
    ): Effect.Effect<Receipt, NotFound>
  }
>()("gateway/services/UsageLog") {}
