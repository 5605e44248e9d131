/**
 * The monthly statement of an organisation: opening balance, transfers, charges, closing balance. A
 * charge belongs to the month in which its order was accepted, a transfer to the month in which it
 * was made. A month that is over and has no open order is sealed: its entries never change again,
 * and a digest proves that. Amounts are nano-units.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { ChargePart } from "../../domain/money/chargeParts.ts"
import { chargeUnits } from "../../domain/money/charges.ts"
import { transferKinds } from "../../domain/money/transfers.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const Seal = Schema.Struct({
  sealedAt: Schema.Date,
  /** The hex digest (SHA-256) of the month's CSV file of entries. */
  sha256: Schema.String,
  /** The number of entries, without the opening and the closing line of the file. */
  entries: Schema.BigInt,
  openingNano: Schema.BigInt,
  closingNano: Schema.BigInt
})
export type Seal = typeof Seal.Type

export const SealedMonth = Schema.Struct({ month: Schema.String, ...Seal.fields })
export type SealedMonth = typeof SealedMonth.Type

const Amounts = Schema.Struct({ count: Schema.Int, amountNano: Schema.BigIntFromString })
/** The charges of the month's orders, and the corrections that were made in the month. */
const chargeSums = {
  count: Schema.Int,
  grossNano: Schema.BigIntFromString,
  returnedNano: Schema.BigIntFromString
}

const ModelCharges = Schema.Struct({ model: Schema.String, ...chargeSums })
const MemberCharges = Schema.Struct({
  memberId: Schema.String,
  name: Schema.String,
  ...chargeSums
})
/**
 * The charges of orders with this metadata entry; an order with several entries counts in several
 * lines.
 */
const TagCharges = Schema.Struct({ name: Schema.String, value: Schema.String, ...chargeSums })

/** A deposit or an adjustment of the month. */
export const StatementTransfer = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(transferKinds),
  amountNano: Schema.BigIntFromString,
  reference: Schema.String,
  reason: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String),
  /** The usage record of the charge that a correction corrects. */
  correctedId: Schema.NullOr(Schema.String),
  at: Schema.DateFromString
})
export type StatementTransfer = typeof StatementTransfer.Type

export const Statement = Schema.Struct({
  organizationId: Schema.String,
  /** The current name of the organisation. */
  organizationName: Schema.String,
  month: Schema.String,
  from: Schema.Date,
  /** Exclusive: the start of the next month. */
  to: Schema.Date,
  openingNano: Schema.BigIntFromString,
  closingNano: Schema.BigIntFromString,
  transferTotals: Schema.Record(Schema.Literals(transferKinds), Amounts),
  /** The first `MAX_STATEMENT_LINES` deposits and adjustments, in order of creation. */
  transfers: Schema.Array(StatementTransfer),
  charges: Schema.Struct(chargeSums),
  /** The charges by model, the largest first. */
  byModel: Schema.Array(ModelCharges),
  byMember: Schema.Array(MemberCharges),
  /** The `MAX_STATEMENT_LINES` largest charges by metadata entry. */
  byTag: Schema.Array(TagCharges),
  /**
   * Open orders of this month and of earlier months; their charges are not in the statement yet.
   */
  openOrders: Schema.Int,
  openNano: Schema.BigIntFromString,
  /** The SHA-256 of the month before; null where that month is not sealed. */
  sealBefore: Schema.NullOr(Schema.String),
  seal: Schema.NullOr(Seal)
})
export type Statement = typeof Statement.Type

/** The maximum number of lines in `byTag` and in `transfers`. */
export const MAX_STATEMENT_LINES = 1000

/** The order whose charge a correction corrects. */
export const CorrectedOrder = Schema.Struct({
  month: Schema.String,
  memberId: Schema.String,
  memberName: Schema.String,
  keyId: Schema.String,
  modality: Schema.String,
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String))
})
export type CorrectedOrder = typeof CorrectedOrder.Type

/** A change of the balance in the month. */
export const StatementEntry = Schema.Struct({
  /** The id of a charge's usage record, or of a transfer's journal entry. */
  id: Schema.String,
  kind: Schema.Literals([...transferKinds, "charge"]),
  at: Schema.Date,
  /** Negative for charges and withdrawals. */
  amountNano: Schema.BigInt,
  memberId: Schema.NullOr(Schema.String),
  /** The current name of the member. */
  memberName: Schema.NullOr(Schema.String),
  keyId: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  modality: Schema.NullOr(Schema.String),
  input: Schema.NullOr(Schema.BigInt),
  output: Schema.NullOr(Schema.BigInt),
  unit: Schema.NullOr(Schema.Literals(chargeUnits)),
  unitPriceNano: Schema.NullOr(Schema.BigInt),
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  /** The units with prices of their own; null where there are none. */
  parts: Schema.NullOr(Schema.Array(ChargePart)),
  /** The stored quote of a charge, which is decoded only where its facts are needed. */
  quote: Schema.Unknown,
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The usage record of the charge that a correction corrects. */
  correctedId: Schema.NullOr(Schema.String),
  corrected: Schema.NullOr(CorrectedOrder),
  reference: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String)
})
export type StatementEntry = typeof StatementEntry.Type

export class Statements extends Context.Service<
  Statements,
  {
    /**
     * Reads a statement. Fails where the month has not begun, or ended before the organisation was
     * created.
     */
    read(organizationId: string, month: string): Effect.Effect<Statement, NotFound>
    /**
     * The entries in order of creation. Entries of the current month may be added while they are
     * read.
     */
    entries(organizationId: string, month: string): Stream.Stream<StatementEntry>
    /** Lists sealed months, newest first; the cursor is a month. */
    sealedMonths(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<SealedMonth>, InvalidRequest>
    /**
     * The oldest unsealed month of each organisation, if the month ended at least a minute ago and
     * has no open order. The months are in random order, so that months that fail to seal do not
     * block the others.
     */
    sealableMonths(
      limit: number
    ): Effect.Effect<ReadonlyArray<{ readonly organizationId: string; readonly month: string }>>
    /** Stores the seal, unless the month has one already. */
    seal(organizationId: string, month: string, seal: Omit<Seal, "sealedAt">): Effect.Effect<void>
  }
>()("gateway/features/statements/Statements") {}

export const noSuchStatement = new NotFound({
  message: "No such statement: the month has not begun, or the organisation was not there yet"
})
