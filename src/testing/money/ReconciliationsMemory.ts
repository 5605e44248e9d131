/**
 * Reconciliations in memory: all lines of a vendor's list are collected, then compared in one step.
 */
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

const emptyEntry: Entry = {
  kind: "missing_here",
  reason: null,
  vendorId: null,
  line: null,
  lines: 0,
  orderId: null,
  organizationId: null,
  orders: 0,
  closedAt: null,
  amountHereNano: null,
  amountThereNano: null,
  unitsHereNano: null,
  unitsThereNano: null,
  reportedNano: null
}

/** The sum of the amounts; null where one of them is unknown. */
const sumOf = (amounts: ReadonlyArray<bigint | null>): bigint | null =>
  amounts.reduce((sum, nano) => (sum === null || nano === null ? null : sum + nano), 0n)

const vendorIdOf = ({ task, call }: StoredOrder): string | null =>
  task?.upstreamId ?? call?.requestId ?? null

const isWithin = (at: Date | undefined, from: number, to: number): boolean =>
  at !== undefined && at.getTime() >= from && at.getTime() < to

const ourSide = (orders: ReadonlyArray<StoredOrder>): Partial<Entry> => {
  const [first] = orders
  return {
    orderId: first?.request.id ?? null,
    organizationId: first?.request.organizationId ?? null,
    orders: orders.length,
    amountHereNano: sumOf(orders.map(({ costNano }) => costNano)),
    reportedNano: sumOf(orders.map(({ reportedCostNano }) => reportedCostNano)),
    unitsHereNano: sumOf(
      orders.map(({ usage }) => usage && (usage.input + usage.output) * NANO_PER_UNIT)
    ),
    closedAt: first?.ended?.at ?? null
  }
}

const vendorSide = (lines: ReadonlyArray<ListedLine>): Partial<Entry> => ({
  vendorId: lines[0]?.vendorId ?? null,
  line: lines[0]?.line ?? null,
  lines: lines.length,
  amountThereNano: sumOf(lines.map(({ amountNano }) => amountNano)),
  unitsThereNano: sumOf(lines.map(({ unitsNano }) => unitsNano))
})

/**
 * Finds the orphan or the order with the vendor's id, which explains why a line of the vendor's
 * list has no charge on the channel.
 */
const explainUncharged = (
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
  const matches = tasks.filter((order) => order.task?.upstreamId === vendorId)
  const onChannel = matches.find(({ job }) => job.channelId === channelId)
  const order = onChannel ?? matches[0]
  if (order === undefined) return { reason: "unknown" }
  const { id: orderId, organizationId } = order.request
  const reason = onChannel === undefined ? "other_channel" : onChannel.state
  return { reason, orderId, organizationId, closedAt: order.ended?.at ?? null }
}

const compare = (
  state: MemoryState,
  { channelId, from, to, compared }: NewReconciliation,
  lines: ReadonlyArray<ListedLine>
): ReadonlyArray<Entry> => {
  const begin = from.getTime()
  const end = to.getTime()
  const orders = [...state.organizations.values()]
    .flatMap((books) => [...books.orders.values()])
    .toSorted((one, other) => (one.request.id < other.request.id ? -1 : 1))
  const tasks = orders.filter(({ task }) => task !== null)
  const listedByVendorId = Map.groupBy(lines, ({ vendorId }) => vendorId)
  const chargedOrders = orders.filter((order) => {
    const { job, ended, task } = order
    const isNear = isWithin(ended?.at, begin - TOLERANCE_MILLIS, end + TOLERANCE_MILLIS)
    const isListed = task !== null && listedByVendorId.has(task.upstreamId ?? "")
    return order.state === "captured" && job.channelId === channelId && (isNear || isListed)
  })
  const ordersByVendorId = Map.groupBy(chargedOrders, vendorIdOf)
  const noCost = compared.amount ? "no_cost" : null

  const fromList = [...listedByVendorId].map(([vendorId, listedLines]): Entry => {
    const matches = ordersByVendorId.get(vendorId)
    const entry = { ...emptyEntry, ...vendorSide(listedLines) }
    if (matches === undefined) {
      return { ...entry, ...explainUncharged(state, tasks, channelId, vendorId) }
    }
    const matchedEntry = { ...entry, ...ourSide(matches) }
    const ourAmounts = {
      amountNano: matchedEntry.amountHereNano,
      unitsNano: matchedEntry.unitsHereNano
    }
    const theirs = {
      amountNano: matchedEntry.amountThereNano,
      unitsNano: matchedEntry.unitsThereNano
    }
    return {
      ...matchedEntry,
      kind: isSame(ourAmounts, theirs, compared) ? "matched" : "different",
      reason: matchedEntry.amountHereNano === null ? noCost : null
    }
  })
  const missingEntries = [...ordersByVendorId]
    .filter(([vendorId]) => vendorId === null || !listedByVendorId.has(vendorId))
    .flatMap(([vendorId, matches]) =>
      (vendorId === null ? matches.map((order) => [order]) : [matches])
        .filter((group) => group.some(({ ended }) => isWithin(ended?.at, begin, end)))
        .map((group): Entry => {
          const entry = {
            ...emptyEntry,
            ...ourSide(group),
            vendorId,
            kind: "missing_there" as const
          }
          const reason = entry.amountHereNano === null ? noCost : null
          return { ...entry, reason: vendorId === null ? "no_id" : reason }
        })
    )
  const all = [
    ...fromList,
    ...missingEntries.toSorted((one, other) => (`${one.orderId}` < `${other.orderId}` ? -1 : 1))
  ]
  return entryKinds.flatMap((kind) => all.filter((entry) => entry.kind === kind))
}

const totalsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReconciledTotal> =>
  entryKinds.map((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind)
    const total = (nano: (entry: Entry) => bigint | null) =>
      ofKind.reduce((sum, entry) => sum + (nano(entry) ?? 0n), 0n)
    return {
      kind,
      count: ofKind.length,
      amountHereNano: total(({ amountHereNano }) => amountHereNano),
      amountThereNano: total(({ amountThereNano }) => amountThereNano),
      unitsHereNano: total(({ unitsHereNano }) => unitsHereNano),
      unitsThereNano: total(({ unitsThereNano }) => unitsThereNano),
      reportedNano: total(({ reportedNano }) => reportedNano)
    }
  })

export const layerReconciliationsMemory = Layer.effect(
  Reconciliations,
  Effect.gen(function* () {
    const state = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    const { reconciliations } = state

    const find = (id: string) =>
      Effect.suspend(() => {
        const match = reconciliations.get(id)
        return match === undefined ? Effect.fail(noSuchReconciliation) : Effect.succeed(match)
      })

    return Reconciliations.of({
      reconcile: Effect.fn("Reconciliations.reconcile")(function* (request, source) {
        const lines = yield* Stream.runCollect(source)
        const { channelId, from, to, author, compared } = request
        const nowMillis = yield* Clock.currentTimeMillis
        const entries = compare(state, request, lines)
        const reconciliation: Reconciliation = {
          channelId,
          from,
          to,
          author,
          id: reconciliationPrefix + (yield* random.uuidV7()),
          hasAmount: compared.amount,
          hasUnits: compared.units,
          createdAt: new Date(nowMillis),
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
        Effect.map(find(id), ({ reconciliation }) => reconciliation)
      ),
      list: Effect.fn("Reconciliations.list")((channelId, page) =>
        Effect.suspend(() => {
          const all = [...reconciliations.values()].map(({ reconciliation }) => reconciliation)
          const listedByVendorId = all.filter(
            (one) => channelId === null || one.channelId === channelId
          )
          return pageOf(listedByVendorId, page)
        })
      ),
      entries: Effect.fn("Reconciliations.entries")(function* (id, kind, { after, limit }) {
        const { reconciliation, entries } = yield* find(id)
        const range = rangeOf(reconciliation, kind)
        const start = startOf(range, after)
        if (start === null) return yield* unknownCursor
        const last = Math.min(start + limit + 1, range.last)
        return cutPage(entries.slice(start, last), limit)
      }),
      remove: Effect.fn("Reconciliations.remove")((id) =>
        Effect.map(find(id), () => void reconciliations.delete(id))
      )
    })
  })
)
