/** Reconciliations in memory: the lines of a list are gathered, and compared in one step. */
import { Clock, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { NANO_PER_UNIT } from "../../domain/money/Money.ts"
import {
  type NewReconciliation,
  noSuchReconciliation,
  type ReconciledEntry,
  type ReconciledTotal,
  type Reconciliation,
  Reconciliations,
  rangeOf,
  reconciliationPrefix,
  startOf
} from "../../features/reconciliations/Reconciliations.ts"
import {
  entryKinds,
  isSame,
  TOLERANCE_MILLIS
} from "../../features/reconciliations/reconciliation.ts"
import type { ListedLine } from "../../features/reconciliations/vendorLists.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { type MemoryState, MemoryStore, pageOf, type StoredOrder } from "../memory/MemoryStore.ts"

type Entry = Omit<ReconciledEntry, "id">

const nothing: Entry = {
  ...{ kind: "missing_here", reason: null, vendorId: null, line: null, lines: 0 },
  ...{ orderId: null, organizationId: null, orders: 0, closedAt: null },
  ...{ amountHereNano: null, amountThereNano: null, unitsHereNano: null, unitsThereNano: null }
}

/** Nothing where one of them is not known. */
const sumOf = (amounts: ReadonlyArray<bigint | null>): bigint | null =>
  amounts.reduce((sum, nano) => (sum === null || nano === null ? null : sum + nano), 0n)

const vendorIdOf = ({ task, call }: StoredOrder): string | null =>
  task?.upstreamId ?? call?.requestId ?? null

const isWithin = (at: Date | undefined, from: number, to: number): boolean =>
  at !== undefined && at.getTime() >= from && at.getTime() < to

const here = (orders: ReadonlyArray<StoredOrder>): Partial<Entry> => {
  const [first] = orders
  return {
    orderId: first?.request.id ?? null,
    organizationId: first?.request.organizationId ?? null,
    orders: orders.length,
    amountHereNano: sumOf(orders.map(({ costNano }) => costNano)),
    unitsHereNano: sumOf(
      orders.map(({ usage }) => usage && (usage.input + usage.output) * NANO_PER_UNIT)
    ),
    closedAt: first?.ended?.at ?? null
  }
}

const there = (lines: ReadonlyArray<ListedLine>): Partial<Entry> => ({
  vendorId: lines[0]?.vendorId ?? null,
  line: lines[0]?.line ?? null,
  lines: lines.length,
  amountThereNano: sumOf(lines.map(({ amountNano }) => amountNano)),
  unitsThereNano: sumOf(lines.map(({ unitsNano }) => unitsNano))
})

/** What is known of a job with this id that nothing was charged for on the channel. */
const explanation = (
  { orphans }: MemoryState,
  tasks: ReadonlyArray<StoredOrder>,
  channelId: string,
  vendorId: string
): Partial<Entry> => {
  const orphan = [...orphans.values()].find(
    ({ job, upstreamId, answer }) =>
      job.channelId === channelId && [upstreamId, answer?.requestId].includes(vendorId)
  )
  if (orphan !== undefined) {
    const { id: orderId, organizationId, reason } = orphan
    return { kind: "orphan", reason, orderId, organizationId }
  }
  const known = tasks.filter((order) => order.task?.upstreamId === vendorId)
  const own = known.find(({ job }) => job.channelId === channelId)
  const order = own ?? known[0]
  if (order === undefined) return { reason: "unknown" }
  const { id: orderId, organizationId } = order.request
  const reason = own === undefined ? "other_channel" : own.state
  return { reason, orderId, organizationId, closedAt: order.ended?.at ?? null }
}

const compare = (
  state: MemoryState,
  { channelId, from, to, compared }: NewReconciliation,
  lines: ReadonlyArray<ListedLine>
): ReadonlyArray<Entry> => {
  const [begin, end] = [from.getTime(), to.getTime()]
  const orders = [...state.organizations.values()]
    .flatMap((books) => [...books.orders.values()])
    .toSorted((one, other) => (one.request.id < other.request.id ? -1 : 1))
  const tasks = orders.filter(({ task }) => task !== null)
  const listed = Map.groupBy(lines, ({ vendorId }) => vendorId)
  const charged = orders.filter((order) => {
    const { state: stands, job, ended, task } = order
    const isNear = isWithin(ended?.at, begin - TOLERANCE_MILLIS, end + TOLERANCE_MILLIS)
    const isListed = task !== null && listed.has(task.upstreamId ?? "")
    return stands === "captured" && job.channelId === channelId && (isNear || isListed)
  })
  const ours = Map.groupBy(charged, vendorIdOf)
  const noCost = compared.amount ? "no_cost" : null

  const fromList = [...listed].map(([vendorId, own]): Entry => {
    const made = ours.get(vendorId)
    const entry = { ...nothing, ...there(own) }
    if (made === undefined) return { ...entry, ...explanation(state, tasks, channelId, vendorId) }
    const both = { ...entry, ...here(made) }
    const [ourSide, theirSide] = [
      { amountNano: both.amountHereNano, unitsNano: both.unitsHereNano },
      { amountNano: both.amountThereNano, unitsNano: both.unitsThereNano }
    ]
    return {
      ...both,
      kind: isSame(ourSide, theirSide, compared) ? "matched" : "different",
      reason: both.amountHereNano === null ? noCost : null
    }
  })
  const missing = [...ours]
    .filter(([vendorId]) => vendorId === null || !listed.has(vendorId))
    .flatMap(([vendorId, made]) =>
      (vendorId === null ? made.map((order) => [order]) : [made])
        .filter((some) => some.some(({ ended }) => isWithin(ended?.at, begin, end)))
        .map((some): Entry => {
          const entry = { ...nothing, ...here(some), vendorId, kind: "missing_there" as const }
          const reason = entry.amountHereNano === null ? noCost : null
          return { ...entry, reason: vendorId === null ? "no_id" : reason }
        })
    )
  const all = [
    ...fromList,
    ...missing.toSorted((one, other) => (`${one.orderId}` < `${other.orderId}` ? -1 : 1))
  ]
  return entryKinds.flatMap((kind) => all.filter((entry) => entry.kind === kind))
}

const totalsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReconciledTotal> =>
  entryKinds.map((kind) => {
    const own = entries.filter((entry) => entry.kind === kind)
    const total = (nano: (entry: Entry) => bigint | null) =>
      own.reduce((sum, entry) => sum + (nano(entry) ?? 0n), 0n)
    return {
      kind,
      count: own.length,
      amountHereNano: total(({ amountHereNano }) => amountHereNano),
      amountThereNano: total(({ amountThereNano }) => amountThereNano),
      unitsHereNano: total(({ unitsHereNano }) => unitsHereNano),
      unitsThereNano: total(({ unitsThereNano }) => unitsThereNano)
    }
  })

export const layerReconciliationsMemory = Layer.effect(
  Reconciliations,
  Effect.gen(function* () {
    const state = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const { reconciliations } = state

    const stored = (id: string) =>
      Effect.suspend(() => {
        const found = reconciliations.get(id)
        return found === undefined ? Effect.fail(noSuchReconciliation) : Effect.succeed(found)
      })

    return Reconciliations.of({
      reconcile: Effect.fn("Reconciliations.reconcile")(function* (asked, source) {
        const lines = yield* Stream.runCollect(source)
        const { channelId, from, to, author, compared } = asked
        const compareAt = yield* Clock.currentTimeMillis
        const entries = compare(state, asked, lines)
        const reconciliation: Reconciliation = {
          ...{ channelId, from, to, author },
          id: reconciliationPrefix + (yield* random.uuidV7()),
          hasAmount: compared.amount,
          hasUnits: compared.units,
          createdAt: new Date(compareAt),
          lines: lines.length,
          totals: totalsOf(entries)
        }
        reconciliations.set(reconciliation.id, {
          reconciliation,
          entries: entries.map((entry, index) => ({ ...entry, id: String(index + 1) }))
        })
        return reconciliation
      }),
      hasChannel: Effect.fn("Reconciliations.hasChannel")((channelId) =>
        Effect.sync(() => state.accounts.has(channelId))
      ),
      find: Effect.fn("Reconciliations.find")((id) =>
        Effect.map(stored(id), ({ reconciliation }) => reconciliation)
      ),
      list: Effect.fn("Reconciliations.list")((channelId, page) =>
        Effect.suspend(() => {
          const all = [...reconciliations.values()].map(({ reconciliation }) => reconciliation)
          const own = all.filter((one) => channelId === null || one.channelId === channelId)
          return pageOf(own, page)
        })
      ),
      entries: Effect.fn("Reconciliations.entries")(function* (id, kind, { after, limit }) {
        const { reconciliation, entries } = yield* stored(id)
        const range = rangeOf(reconciliation, kind)
        const start = startOf(range, after)
        if (start === null) return yield* unknownCursor
        const last = Math.min(start + limit + 1, range.last)
        return cutPage(entries.slice(start, last), limit)
      }),
      remove: Effect.fn("Reconciliations.remove")((id) =>
        Effect.map(stored(id), () => void reconciliations.delete(id))
      )
    })
  })
)
