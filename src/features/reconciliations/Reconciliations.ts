/**
 * Vendors' usage lists compared with the books, and what came of it, as it was then. Amounts and units
 * are billionths.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { type Compared, type EntryKind, entryKinds } from "./reconciliation.ts"
import type { ListedLine } from "./vendorLists.ts"

export const ReconciledTotal = Schema.Struct({
  kind: Schema.Literals(entryKinds),
  count: Schema.Int,
  /** What the mounts' costs say the vendor bills; orders without a cost count as nothing. */
  amountHereNano: Schema.BigIntFromString,
  amountThereNano: Schema.BigIntFromString,
  unitsHereNano: Schema.BigIntFromString,
  unitsThereNano: Schema.BigIntFromString
})
export type ReconciledTotal = typeof ReconciledTotal.Type

export const Reconciliation = Schema.Struct({
  id: Schema.String,
  channelId: Schema.String,
  /** Orders closed from then on count as missing there. */
  from: Schema.Date,
  /** The moment after the last one. */
  to: Schema.Date,
  /** What the list tells. */
  hasAmount: Schema.Boolean,
  hasUnits: Schema.Boolean,
  author: Schema.String,
  createdAt: Schema.Date,
  /** Of the list, without the first one. */
  lines: Schema.Int,
  /** One of each kind, in their order. */
  totals: Schema.Array(ReconciledTotal)
})
export type Reconciliation = typeof Reconciliation.Type

export interface NewReconciliation
  extends Pick<Reconciliation, "channelId" | "from" | "to" | "author"> {
  readonly compared: Compared
}

/** Why a job is not among what was charged, or which job it may be. */
export const entryReasons = ["unknown", "open", "released", "other_channel"] as const

export const ReconciledEntry = Schema.Struct({
  /** Its number in the reconciliation, from 1. */
  id: Schema.String,
  kind: Schema.Literals(entryKinds),
  /**
   * Of `missing_here` one of `entryReasons`, of an orphan why it is one, `no_cost` where our books do
   * not know the amount, and `no_id` where the vendor told none.
   */
  reason: Schema.NullOr(Schema.String),
  vendorId: Schema.NullOr(Schema.String),
  /** The first line with this id, and how many there are. */
  line: Schema.NullOr(Schema.Int),
  lines: Schema.Int,
  orderId: Schema.NullOr(Schema.String),
  organizationId: Schema.NullOr(Schema.String),
  /** Charged orders with this id: more than one only where a vendor gave it twice. */
  orders: Schema.Int,
  amountHereNano: Schema.NullOr(Schema.BigIntFromString),
  amountThereNano: Schema.NullOr(Schema.BigIntFromString),
  unitsHereNano: Schema.NullOr(Schema.BigIntFromString),
  unitsThereNano: Schema.NullOr(Schema.BigIntFromString),
  closedAt: Schema.NullOr(Schema.Date)
})
export type ReconciledEntry = typeof ReconciledEntry.Type

export class Reconciliations extends Context.Service<
  Reconciliations,
  {
    /**
     * Compares the lines, which come piece by piece, with the charged orders of a channel. Lines of one
     * id count together. An order of a task is found by the vendor's id of it whenever it was closed,
     * and any other by the vendor's id of the request where it was closed in the period or a day before
     * or after. Lines that fail or break off leave no trace.
     */
    reconcile<E>(
      reconciliation: NewReconciliation,
      lines: Stream.Stream<ListedLine, E>
    ): Effect.Effect<Reconciliation, E>
    /** Whether the channel is or was in the catalog. */
    hasChannel(channelId: string): Effect.Effect<boolean>
    find(id: string): Effect.Effect<Reconciliation, NotFound>
    /** Newest first; of one channel, or of all. */
    list(
      channelId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<Reconciliation>, InvalidRequest>
    /** In the order of the kinds, and of lines; of one kind, or of all. */
    entries(
      id: string,
      kind: EntryKind | null,
      page: PageRequest
    ): Effect.Effect<Page<ReconciledEntry>, NotFound | InvalidRequest>
    remove(id: string): Effect.Effect<void, NotFound>
  }
>()("gateway/features/reconciliations/Reconciliations") {}

export const reconciliationPrefix = "rc_"

export const noSuchReconciliation = new NotFound({ message: "No such reconciliation" })

/** The numbers of the entries of a kind: the ones after `first`, up to `last`. */
export const rangeOf = (
  { totals }: Reconciliation,
  kind: EntryKind | null
): { readonly first: number; readonly last: number } => {
  const count = (kinds: ReadonlyArray<EntryKind>) =>
    totals.reduce((sum, total) => sum + (kinds.includes(total.kind) ? total.count : 0), 0)
  if (kind === null) return { first: 0, last: count(entryKinds) }
  const first = count(entryKinds.slice(0, entryKinds.indexOf(kind)))
  return { first, last: first + count([kind]) }
}

/** Where the page begins; null where the cursor is none of the list. */
export const startOf = (
  range: { readonly first: number; readonly last: number },
  after: string | null
): number | null => {
  if (after === null) return range.first
  const number = /^[1-9]\d{0,8}$/.test(after) ? Number(after) : 0
  return number > range.first && number <= range.last ? number : null
}
