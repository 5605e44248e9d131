/** What stores must find in a vendor's list: what differs, what is missing on a side, and why. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Stream } from "effect"
import {
  type NewReconciliation,
  type ReconciledEntry,
  Reconciliations
} from "../../src/features/reconciliations/Reconciliations.ts"
import { entryKinds } from "../../src/features/reconciliations/reconciliation.ts"
import type { ListedLine } from "../../src/features/reconciliations/vendorLists.ts"
import type { Page } from "../../src/runtime/Page.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { type TaskOutcome, TaskRepo } from "../../src/services/TaskRepo.ts"
import { jobId, organization, type Stores, usageOf } from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

const NANO = 1_000_000_000n

let channels = 0

const always = {
  from: new Date("2020-01-01"),
  to: new Date("2999-12-31"),
  author: "Ada",
  compared: { amount: true, units: true }
}

/** A line with as many units as the orders below have. */
const line = (number: number, vendorId: string, amountNano: bigint, units = 5n): ListedLine => ({
  line: number,
  vendorId,
  amountNano,
  unitsNano: units * NANO
})

const succeeded = {
  from: "processing",
  state: "succeeded",
  videoUrl: "https://vendor.test/film.mp4",
  completionTokens: null
} as const satisfies TaskOutcome

const failed = {
  from: "processing",
  state: "failed",
  errorCode: "no",
  errorMessage: "no"
} as const satisfies TaskOutcome

/** A channel of its own with orders on it, which end as they are told to. */
const business = Effect.gen(function* () {
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const channelId = `rc-${channels++}`
  const { organizationId, hold, close } = yield* organization(1_000_000n)
  const jobAt = (channel: string) => ({ channelId: channel, protocol: "p", upstreamModel: "u" })

  /** Charged five units in one call, which its vendor gave the id. */
  const called = Effect.fnUntraced(function* (requestId: string | null, costNano: bigint | null) {
    const request = hold(5n, { job: jobAt(channelId) })
    yield* ledger.hold(request)
    const call = { startedAt: new Date(), durationMillis: 1, status: 200, bytes: 1, requestId }
    const used = { chargeNano: 5n, costNano, usage: usageOf(5n), call }
    yield* ledger.capture({ ...close(request.id), ...used })
    return request.id
  })
  /** A task that its vendor has accepted. */
  const accepted = Effect.fnUntraced(function* (upstreamId: string, channel = channelId) {
    const task = { listedProtocol: "p", summary: {}, submitSeconds: 60 }
    const request = hold(5n, { id: jobId("vt"), quote, job: jobAt(channel), task })
    yield* ledger.hold(request)
    yield* repo.accept(organizationId, request.id, upstream(upstreamId), 60)
    return request.id
  })
  const captured = Effect.fnUntraced(function* (id: string, costNano: bigint | null) {
    const used = { chargeNano: 5n, costNano, usage: usageOf(5n) }
    yield* ledger.capture({ ...close(id), task: succeeded, ...used })
    return id
  })
  const given = (id: string, upstreamId: string | null) =>
    ledger.release({
      ...close(id),
      task: failed,
      orphan: upstreamId === null ? null : { reason: "deadline", upstreamId },
      forgetKey: false
    })
  const reconcile = Effect.fnUntraced(function* (
    lines: ReadonlyArray<ListedLine>,
    more: Partial<NewReconciliation> = {}
  ) {
    const reconciliations = yield* Reconciliations
    const asked = { ...always, channelId, ...more }
    const made = yield* reconciliations.reconcile(asked, Stream.fromIterable(lines))
    const page = { after: null, limit: 100 }
    const { data } = yield* reconciliations.entries(made.id, null, page)
    return { made, entries: data }
  })
  return { channelId, called, accepted, captured, given, reconcile }
})

const told = ({ kind, reason, vendorId, orderId, lines }: ReconciledEntry) => ({
  kind,
  reason,
  vendorId,
  orderId,
  lines
})

/** Reads page after page of two entries. */
const allEntries = Effect.fnUntraced(function* (id: string, kind: ReconciledEntry["kind"] | null) {
  const reconciliations = yield* Reconciliations
  const entries: Array<ReconciledEntry> = []
  let [after, hasMore]: [string | null, boolean] = [null, true]
  while (hasMore) {
    const page: Page<ReconciledEntry> = yield* reconciliations.entries(id, kind, {
      after,
      limit: 2
    })
    entries.push(...page.data)
    ;[after, hasMore] = [page.data.at(-1)?.id ?? null, page.hasMore]
  }
  return entries
})

export const reconciliationsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("each id and each order is found as what it is, and summed up", () =>
    Effect.gen(function* () {
      const { channelId, called, accepted, captured, given, reconcile } = yield* business
      const id = (name: string) => `${channelId}-${name}`
      const same = yield* captured(yield* accepted(id("same")), 7n)
      const call = yield* called(id("call"), 7n)
      const dearer = yield* captured(yield* accepted(id("dearer")), 7n)
      const longer = yield* called(id("longer"), 7n)
      const free = yield* called(id("free"), null)
      const unlisted = yield* captured(yield* accepted(id("unlisted")), 3n)
      const nameless = yield* called(null, 4n)
      const open = yield* accepted(id("open"))
      const failure = yield* accepted(id("failure"))
      yield* given(failure, null)
      const lost = yield* accepted(id("lost"))
      yield* given(lost, id("lost"))
      const elsewhere = yield* captured(yield* accepted(id("elsewhere"), `${channelId}-b`), 7n)

      const { made, entries } = yield* reconcile([
        line(2, id("stranger"), 1n),
        line(3, id("same"), 7n),
        line(4, id("call"), 4n, 3n),
        line(5, id("dearer"), 8n),
        line(6, id("longer"), 7n, 6n),
        line(7, id("free"), 7n),
        line(8, id("call"), 3n, 2n),
        line(9, id("open"), 1n),
        line(10, id("failure"), 1n),
        line(11, id("lost"), 9n),
        line(12, id("elsewhere"), 7n)
      ])
      const row = (
        kind: ReconciledEntry["kind"],
        name: string | null,
        orderId: string | null,
        reason: string | null = null,
        lines = kind === "missing_there" ? 0 : 1
      ) => ({ kind, reason, vendorId: name === null ? null : id(name), orderId, lines })
      assert.deepStrictEqual(entries.map(told), [
        row("different", "dearer", dearer),
        row("different", "longer", longer),
        row("different", "free", free, "no_cost"),
        ...[
          row("missing_there", "unlisted", unlisted),
          row("missing_there", null, nameless, "no_id")
        ].toSorted((one, other) => (`${one.orderId}` < `${other.orderId}` ? -1 : 1)),
        row("missing_here", "stranger", null, "unknown"),
        row("missing_here", "open", open, "open"),
        row("missing_here", "failure", failure, "released"),
        row("missing_here", "elsewhere", elsewhere, "other_channel"),
        row("orphan", "lost", lost, "deadline"),
        row("matched", "same", same),
        row("matched", "call", call, null, 2)
      ])
      assert.deepStrictEqual(
        entries.map((entry) => entry.id),
        entries.map((_, index) => `${index + 1}`)
      )
      assert.strictEqual(made.lines, 11)
      assert.strictEqual(made.author, "Ada")
      assert.deepStrictEqual(
        made.totals.map(({ kind, count, amountHereNano, amountThereNano, unitsHereNano }) => [
          kind,
          count,
          amountHereNano,
          amountThereNano,
          unitsHereNano
        ]),
        [
          ["different", 3, 14n, 22n, 15n * NANO],
          ["missing_there", 2, 7n, 0n, 10n * NANO],
          ["missing_here", 4, 0n, 10n, 0n],
          ["orphan", 1, 0n, 9n, 0n],
          ["matched", 2, 14n, 14n, 10n * NANO]
        ]
      )
    })
  )

  it.effect(
    "only what the list tells is compared, and only the period's orders can be missing",
    () =>
      Effect.gen(function* () {
        const { channelId, called, accepted, captured, reconcile } = yield* business
        const id = (name: string) => `${channelId}-${name}`
        yield* called(id("a"), null)
        yield* captured(yield* accepted(id("b")), 7n)
        yield* captured(yield* accepted(id("c")), 7n)
        const units = { compared: { amount: false, units: true } }
        const counted = yield* reconcile([{ ...line(2, id("a"), 0n), amountNano: null }], units)
        assert.deepStrictEqual(
          counted.entries.map(({ kind, vendorId }) => [kind, vendorId]),
          [
            ["missing_there", id("b")],
            ["missing_there", id("c")],
            ["matched", id("a")]
          ]
        )
        // Long ago: tasks are found by their ids all the same, and nothing is missing.
        const past = { from: new Date("2020-01-01"), to: new Date("2020-02-01") }
        const before = yield* reconcile([line(2, id("a"), 0n), line(3, id("b"), 7n)], past)
        assert.deepStrictEqual(
          before.entries.map(({ kind, vendorId }) => [kind, vendorId]),
          [
            ["missing_here", id("a")],
            ["matched", id("b")]
          ]
        )
        // It ended a moment ago: what is not a day away is found, and is not missing.
        const edge = { from: new Date("2020-01-01"), to: new Date(Date.now() - 3_600_000) }
        const after = yield* reconcile([{ ...line(2, id("a"), 0n), amountNano: null }], {
          ...units,
          ...edge
        })
        assert.deepStrictEqual(
          after.entries.map(({ kind, vendorId }) => [kind, vendorId]),
          [["matched", id("a")]]
        )
      })
  )

  it.effect("a list that fails leaves nothing, and what came of others stays as it was", () =>
    Effect.gen(function* () {
      const reconciliations = yield* Reconciliations
      const { channelId, called, reconcile } = yield* business
      yield* called(`${channelId}-a`, 7n)
      const first = (yield* reconcile([line(2, `${channelId}-a`, 7n)])).made
      const lines = Stream.concat(
        Stream.range(2, 5000).pipe(Stream.map((number) => line(number, `x-${number}`, 1n))),
        Stream.fail("broken off" as const)
      )
      const failure = yield* Effect.flip(reconciliations.reconcile({ ...always, channelId }, lines))
      assert.strictEqual(failure, "broken off")
      const second = (yield* reconcile([])).made
      const page = { after: null, limit: 1 }
      const own = yield* reconciliations.list(channelId, page)
      assert.deepStrictEqual([own.data.map((one) => one.id), own.hasMore], [[second.id], true])
      const rest = yield* reconciliations.list(channelId, { ...page, after: second.id })
      assert.deepStrictEqual([rest.data.map((one) => one.id), rest.hasMore], [[first.id], false])
      yield* called(`${channelId}-b`, 7n)
      assert.deepStrictEqual(yield* reconciliations.find(first.id), first)

      yield* reconciliations.remove(first.id)
      const gone = yield* Effect.flip(reconciliations.find(first.id))
      assert.strictEqual(gone._tag, "not_found")
      assert.strictEqual((yield* Effect.flip(reconciliations.remove(first.id)))._tag, "not_found")
      const noEntries = reconciliations.entries(first.id, null, page)
      assert.strictEqual((yield* Effect.flip(noEntries))._tag, "not_found")
    })
  )

  it.effect("entries come page by page, of one kind or of all", () =>
    Effect.gen(function* () {
      const reconciliations = yield* Reconciliations
      const { channelId, called, reconcile } = yield* business
      const numbers = [2, 3, 4, 5, 6]
      for (const number of numbers) yield* called(`${channelId}-${number}`, 7n)
      const { made } = yield* reconcile(
        numbers.flatMap((number) => [
          line(number, `${channelId}-${number}`, 7n),
          line(number + 10, `${channelId}-x${number}`, 7n)
        ])
      )
      const all: Array<string> = []
      for (const kind of [null, ...entryKinds]) {
        const entries = yield* allEntries(made.id, kind)
        if (kind !== null) assert.isTrue(entries.every((entry) => entry.kind === kind))
        all.push(...entries.map(({ vendorId }) => `${kind} ${vendorId}`))
      }
      assert.lengthOf(all, 20)
      assert.lengthOf(new Set(all), 20)
      for (const [kind, after] of [
        [null, "11"],
        [null, "0"],
        [null, "x"],
        ["matched", "1"],
        ["different", "1"]
      ] as const) {
        const page = reconciliations.entries(made.id, kind, { after, limit: 2 })
        assert.strictEqual((yield* Effect.flip(page))._tag, "invalid_request", `${kind} ${after}`)
      }
    })
  )
}
