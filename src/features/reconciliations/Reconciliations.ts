/**
 * Vendors' usage lists compared with the books. A result is stored as it was then. Amounts and units
 * are billionths.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { type ComparedColumns, type EntryKind, entryKinds } from "./reconciliation.ts"
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
  /** Orders closed from then on, and before `to`, can be `missing_there`. */
  from: Schema.Date,
  /** Exclusive. */
  to: Schema.Date,
  /** Which columns the list has. */
  hasAmount: Schema.Boolean,
  hasUnits: Schema.Boolean,
  author: Schema.String,
  createdAt: Schema.Date,
  /** Lines of the list, without the first one, which has the names. */
  lines: Schema.Int,
  /** One of each kind, in the order of `entryKinds`. */
  totals: Schema.Array(ReconciledTotal)
})
export type Reconciliation = typeof Reconciliation.Type

export interface NewReconciliation
  extends Pick<Reconciliation, "channelId" | "from" | "to" | "author"> {
  readonly compared: ComparedColumns
}

export const ReconciledEntry = Schema.Struct({
  /** Its number in the reconciliation, from 1. */
  id: Schema.String,
  kind: Schema.Literals(entryKinds),
  /**
   * Of `missing_here` what is known of the job: `unknown`, `open`, `released` or `other_channel`. Of an
   * orphan the orphan's reason, which is open text. Of the others `no_cost` where our books do not have
   * the amount, `no_id` where the vendor gave no id, or null.
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
     * Compares a stream of lines with the charged orders of a channel. Lines of one id count together.
     * An order of a task is matched by the vendor's id of the task whenever it was closed, and any other
     * by the vendor's id of the request where it was closed in the period or a day before or after. A
     * stream that fails or ends early leaves no trace.
     */
    reconcile<E>(
      reconciliation: NewReconciliation,
      lines: Stream.Stream<ListedLine, E>
    ): Effect.Effect<Reconciliation, E>
    /** Whether the channel is or was in the catalog. */
    hasChannel(channelId: string): Effect.Effect<boolean>
    find(id: string): Effect.Effect<Reconciliation, NotFound>
    /** Newest first; null is every channel. */
    list(
      channelId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<Reconciliation>, InvalidRequest>
    /** Ordered by kind, then by line; null is every kind. */
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

/** The range of entry numbers of a kind: `first` is exclusive, `last` inclusive. */
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

/** The number before the page; null where the cursor is no entry of the range. */
export const startOf = (
  range: { readonly first: number; readonly last: number },
  after: string | null
): number | null => {
  if (after === null) return range.first
  const number = /^[1-9]\d{0,8}$/.test(after) ? Number(after) : 0
  return number > range.first && number <= range.last ? number : null
}
