/**
 * Months of an organisation's money: what it had, what came, what was charged, what it has. A charge
 * stands in the month its order was taken in, everything else in the month it was made in. A month that
 * is over and has no open order is sealed: its entries do not change any more, and a digest proves it.
 * Amounts are nano-units.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import { chargeUnits } from "../../domain/money/charges.ts"
import { transferKinds } from "../../domain/money/transfers.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const Seal = Schema.Struct({
  sealedAt: Schema.Date,
  /** Of the month's file of entries, in hex. */
  sha256: Schema.String,
  /** Entries of the file, its opening and closing line apart. */
  entries: Schema.BigInt,
  openingNano: Schema.BigInt,
  closingNano: Schema.BigInt
})
export type Seal = typeof Seal.Type

export const SealedMonth = Schema.Struct({ month: Schema.String, ...Seal.fields })
export type SealedMonth = typeof SealedMonth.Type

const Amounts = Schema.Struct({ count: Schema.Int, amountNano: Schema.BigIntFromString })
/** What was charged for the orders of the month, and given back of charges in it. */
const charged = {
  count: Schema.Int,
  grossNano: Schema.BigIntFromString,
  returnedNano: Schema.BigIntFromString
}

const ModelCharges = Schema.Struct({ model: Schema.String, ...charged })
const MemberCharges = Schema.Struct({
  memberId: Schema.String,
  name: Schema.String,
  ...charged
})
/** Of orders with this text under this name; an order with several notes stands in several lines. */
const TagCharges = Schema.Struct({ name: Schema.String, value: Schema.String, ...charged })

/** A deposit or an adjustment of the month. */
export const StatementTransfer = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(transferKinds),
  amountNano: Schema.BigIntFromString,
  reference: Schema.String,
  reason: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String),
  /** The charge that a correction is about. */
  correctedId: Schema.NullOr(Schema.String),
  at: Schema.DateFromString
})
export type StatementTransfer = typeof StatementTransfer.Type

export const Statement = Schema.Struct({
  organizationId: Schema.String,
  /** What it is called now. */
  organizationName: Schema.String,
  month: Schema.String,
  from: Schema.Date,
  /** What begins then is the next month's. */
  to: Schema.Date,
  openingNano: Schema.BigIntFromString,
  closingNano: Schema.BigIntFromString,
  transferTotals: Schema.Record(Schema.Literals(transferKinds), Amounts),
  /** In order of creation; the first ones only, where there are very many. */
  transfers: Schema.Array(StatementTransfer),
  charges: Schema.Struct(charged),
  /** In order of the largest charge. */
  byModel: Schema.Array(ModelCharges),
  byMember: Schema.Array(MemberCharges),
  /** The largest ones only, where there are very many. */
  byTag: Schema.Array(TagCharges),
  /** Orders of this month and earlier ones that are not closed yet: what they come to is missing. */
  openOrders: Schema.Int,
  openNano: Schema.BigIntFromString,
  /** Of the month before; null where that is not sealed. */
  sealBefore: Schema.NullOr(Schema.String),
  seal: Schema.NullOr(Seal)
})
export type Statement = typeof Statement.Type

/** Lines of `byTag` and of `transfers`, at most. */
export const MAX_STATEMENT_LINES = 1000

/** What changed the balance in the month. */
export const StatementEntry = Schema.Struct({
  /** Of a charge that of its usage record, of others that of their journal entry. */
  id: Schema.String,
  kind: Schema.Literals([...transferKinds, "charge"]),
  at: Schema.Date,
  /** Below zero where it was taken. */
  amountNano: Schema.BigInt,
  memberId: Schema.NullOr(Schema.String),
  keyId: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  modality: Schema.NullOr(Schema.String),
  input: Schema.NullOr(Schema.BigInt),
  output: Schema.NullOr(Schema.BigInt),
  unit: Schema.NullOr(Schema.Literals(chargeUnits)),
  unitPriceNano: Schema.NullOr(Schema.BigInt),
  inputUnitPriceNano: Schema.NullOr(Schema.BigInt),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The charge that a correction is about. */
  correctedId: Schema.NullOr(Schema.String),
  /** The month that it stands in. */
  correctedMonth: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String)
})
export type StatementEntry = typeof StatementEntry.Type

export class Statements extends Context.Service<
  Statements,
  {
    /** Of a month that has begun, and in which there was the organisation. */
    read(organizationId: string, month: string): Effect.Effect<Statement, NotFound>
    /** In order of creation. Those of the present month go on to come while they are read. */
    entries(organizationId: string, month: string): Stream.Stream<StatementEntry>
    /** Newest first; the cursor is a month. */
    sealedMonths(
      organizationId: string,
      page: PageRequest
    ): Effect.Effect<Page<SealedMonth>, InvalidRequest>
    /**
     * Months that can be sealed, of each organisation the oldest, a minute after its end. Any of them:
     * those that cannot be sealed are not to stand before the others.
     */
    sealableMonths(
      most: number
    ): Effect.Effect<ReadonlyArray<{ readonly organizationId: string; readonly month: string }>>
    /** Keeps the seal; the first one of a month stays. */
    seal(organizationId: string, month: string, seal: Omit<Seal, "sealedAt">): Effect.Effect<void>
  }
>()("gateway/features/statements/Statements") {}

export const noSuchStatement = new NotFound({
  message: "No such statement: the month has not begun, or the organisation was not there yet"
})
