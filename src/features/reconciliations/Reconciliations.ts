/**
 * Reconciliations: vendors' usage lists compared with our charged orders. A result is a snapshot:
 * later changes of orders do not change it. Amounts and units are billionths.
 */
import { Context, type Effect, Schema, type Stream } from "effect"
import { type InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { type ComparedColumns, type EntryKind, entryKinds } from "./reconciliation.ts"
import type { ListedLine } from "./vendorLists.ts"

export const ReconciledTotal = Schema.Struct({
  kind: Schema.Literals(entryKinds),
  count: Schema.Int,
  /** The cost by the prices of the mounts; orders without a cost count as zero. */
  amountHereNano: Schema.BigIntFromString,
  amountThereNano: Schema.BigIntFromString,
  unitsHereNano: Schema.BigIntFromString,
  unitsThereNano: Schema.BigIntFromString,
  /** What vendors reported with their answers; orders without a report count as zero. */
  reportedNano: Schema.BigIntFromString
})
export type ReconciledTotal = typeof ReconciledTotal.Type

export const Reconciliation = Schema.Struct({
  id: Schema.String,
  channelId: Schema.String,
  /** The start of the period. Only orders closed in the period can be `missing_there`. */
  from: Schema.Date,
  /** The end of the period, exclusive. */
  to: Schema.Date,
  /** Which columns the list has. */
  hasAmount: Schema.Boolean,
  hasUnits: Schema.Boolean,
  author: Schema.String,
  createdAt: Schema.Date,
  /** The number of lines in the list, without the header. */
  lines: Schema.Int,
  /** The totals of each kind, in the order of `entryKinds`. */
  totals: Schema.Array(ReconciledTotal)
})
export type Reconciliation = typeof Reconciliation.Type

export interface NewReconciliation
  extends Pick<Reconciliation, "channelId" | "from" | "to" | "author"> {
  readonly compared: ComparedColumns
}

export const ReconciledEntry = Schema.Struct({
  /** The entry's number in the reconciliation, from 1. */
  id: Schema.String,
  kind: Schema.Literals(entryKinds),
  /**
   * For `missing_here`: the state of the job, which is `unknown`, `open`, `released` or
   * `other_channel`. For an orphan: the orphan's reason, which is open text. For the other kinds:
   * `no_cost` where the order has no cost, `no_id` where the order has no vendor id, or null.
   */
  reason: Schema.NullOr(Schema.String),
  vendorId: Schema.NullOr(Schema.String),
  /** The first line with this vendor id, and the number of lines with it. */
  line: Schema.NullOr(Schema.Int),
  lines: Schema.Int,
  orderId: Schema.NullOr(Schema.String),
  organizationId: Schema.NullOr(Schema.String),
  /**
   * The number of charged orders with this vendor id: above one only where the vendor used the id
   * twice.
   */
  orders: Schema.Int,
  amountHereNano: Schema.NullOr(Schema.BigIntFromString),
  amountThereNano: Schema.NullOr(Schema.BigIntFromString),
  unitsHereNano: Schema.NullOr(Schema.BigIntFromString),
  unitsThereNano: Schema.NullOr(Schema.BigIntFromString),
  /** What the vendor reported with its answers, at the mount's price; null where unknown. */
  reportedNano: Schema.NullOr(Schema.BigIntFromString),
  closedAt: Schema.NullOr(Schema.Date)
})
export type ReconciledEntry = typeof ReconciledEntry.Type

export class Reconciliations extends Context.Service<
  Reconciliations,
  {
    /**
     * Compares a stream of lines with the charged orders of a channel. Lines with the same id are
     * added up. The order of a task is matched by the task's vendor id, whenever the order was
     * closed. Any other order is matched by the vendor's request id if it was closed in the period,
     * or at most a day before or after it. If the stream fails or is interrupted, nothing is
     * stored.
     */
    reconcile<E>(
      reconciliation: NewReconciliation,
      lines: Stream.Stream<ListedLine, E>
    ): Effect.Effect<Reconciliation, E>
    /** Whether the channel is or was in the catalog. */
    hasChannel(channelId: string): Effect.Effect<boolean>
    find(id: string): Effect.Effect<Reconciliation, NotFound>
    /** Lists reconciliations newest first; a null channel means all channels. */
    list(
      channelId: string | null,
      page: PageRequest
    ): Effect.Effect<Page<Reconciliation>, InvalidRequest>
    /** Lists entries ordered by kind, then by line; a null kind means all kinds. */
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

/** The entry number before the page; null where the cursor is not an entry of the range. */
export const startOf = (
  range: { readonly first: number; readonly last: number },
  after: string | null
): number | null => {
  if (after === null) return range.first
  const number = /^[1-9]\d{0,8}$/.test(after) ? Number(after) : 0
  return number > range.first && number <= range.last ? number : null
}
