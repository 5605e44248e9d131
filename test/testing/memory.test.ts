/** What only the stores in memory can show: time that moves at a word, and rows that are broken. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { CallLog } from "../../src/services/CallLog.ts"
import { IdempotencyKeys } from "../../src/services/IdempotencyKeys.ts"
import { OperationsStore } from "../../src/services/Operations.ts"
import { TaskHistory } from "../../src/services/TaskHistory.ts"
import { Access, Ledger, layerStoresMemory, TaskRepo } from "../../src/testing/doubles.ts"
import { jobId, organization, usageOf } from "../support/ledger.ts"
import { upstream } from "../support/tasks.ts"

const quote = {
  kind: "second_video",
  resolution: "720p",
  outputSeconds: 5,
  nanoPerSecond: "2",
  holdNano: "10"
}
const task = { listedProtocol: "vp_d", summary: {}, submitSeconds: 60 }

describe("stores in memory", () => {
  it.effect(
    "count a cap by the calendar of the deployment, and a charge in the month of its hold",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.UTC(2026, 0, 31, 15, 59, 0))
        const access = yield* Access
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const cap = { name: "capped", monthlyCapNano: 30n }
        const memberId = yield* access.createMember(organizationId, cap)
        const january = hold(20n, { memberId, ttlSeconds: 86_400 })
        yield* ledger.hold(january)
        const refused = yield* Effect.flip(ledger.hold(hold(20n, { memberId })))
        assert.deepInclude(refused, {
          _tag: "member_cap_exceeded",
          used: "0.00000002",
          retryAfterSeconds: 60
        })
        yield* TestClock.adjust("1 minute")
        yield* ledger.hold(hold(20n, { memberId }))
        yield* ledger.capture({ ...close(january.id), chargeNano: 25n, usage: usageOf(25n) })
        assert.deepStrictEqual(yield* ledger.memberMonth(organizationId, memberId), {
          capNano: 30n,
          capturedNano: 0n,
          heldNano: 20n
        })
        assert.deepStrictEqual(yield* ledger.verify, [])
      }).pipe(
        Effect.provide(layerStoresMemory()),
        Effect.provideService(Settings, { ...defaultSettings, timeZone: "Asia/Shanghai" })
      )
  )

  it.effect("give back a hold in the moment its time is over", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { hold } = yield* organization(100n)
      yield* ledger.hold(hold(10n, { ttlSeconds: 60 }))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 1)
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect("count a hold as late that nobody gave back a minute after its time", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const store = yield* OperationsStore
      const { hold } = yield* organization(100n)
      yield* ledger.hold(hold(10n, { ttlSeconds: 60 }))
      yield* ledger.hold(hold(10n, { id: jobId("vt"), task, quote, ttlSeconds: 3600 }))
      yield* TestClock.adjust("119 seconds")
      assert.deepInclude(yield* store.totals, { lateHolds: 0, oldestLateSeconds: 0 })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* store.totals, { lateHolds: 2, oldestLateSeconds: 60 })
      assert.deepStrictEqual(yield* ledger.verify, [])
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect("free an idempotency key after its time", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const idempotencyKeys = yield* IdempotencyKeys
      const { organizationId, hold } = yield* organization(100n)
      const key = { key: "k", fingerprint: "f" }
      yield* ledger.hold(hold(10n, { key }))
      yield* TestClock.adjust("24 hours")
      yield* idempotencyKeys.purge
      assert.isNull(yield* idempotencyKeys.recall(organizationId, key))
      yield* ledger.hold(hold(10n, { key }))
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect("let a task be claimed once an ask interval, and again when its lease is over", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const tasks = yield* TaskRepo
      const { organizationId, hold } = yield* organization(100n)
      const request = hold(10n, { id: jobId("vt"), ttlSeconds: 3600, task, quote })
      yield* ledger.hold(request)
      yield* tasks.accept(organizationId, request.id, upstream("up"), 2)
      const claim = tasks.claim(organizationId, request.id)
      const due = tasks.claimDue({ limit: 10, perChannel: 10, openByChannel: new Map() })
      yield* TestClock.adjust("1999 millis")
      assert.isTrue(Option.isNone(yield* claim))
      yield* TestClock.adjust("1 millis")
      const claimed = Option.getOrNull(yield* claim)
      assert.deepInclude(claimed, { lease: 1n, sincePollSeconds: 2, ageSeconds: 2 })
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual(yield* due, [])
      yield* TestClock.adjust("1 second")
      const [again] = yield* due
      assert.deepInclude(again, { lease: 2n, sincePollSeconds: 30 })
      yield* TestClock.adjust("1 hour")
      assert.isTrue(Option.getOrNull(yield* claim)?.pastDeadline)
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect("refuse a key from the moment it expires, and forget calls after their time", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const log = yield* CallLog
      const { organizationId, memberIds, hold } = yield* organization(100n)
      const { key } = yield* access.createKey(memberIds[0] ?? "", {
        name: "short",
        scopes: ["models"],
        models: null,
        expiresAt: new Date(60_000)
      })
      const request = hold(10n, { id: jobId("vt"), task, quote })
      yield* (yield* Ledger).hold(request)
      yield* log.record(
        { organizationId, jobId: request.id, channelId: "ch", purpose: "submit", upstreamId: null },
        {
          answeredCall: null,
          weigh: () => 1,
          describe: () => ({
            method: "POST",
            url: "http://vendor.test",
            status: 200,
            failure: null,
            startedAt: new Date(0),
            durationMillis: 1,
            request: null,
            answer: null,
            outcome: "200"
          })
        }
      )
      const logged = Effect.flatMap(TaskHistory, (history) =>
        Effect.map(history.find(request.id), ({ totalCalls }) => totalCalls)
      )
      assert.strictEqual(yield* logged, 1)
      yield* TestClock.adjust("59999 millis")
      yield* access.authenticate(key)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(access.authenticate(key)))._tag, "invalid_api_key")
      yield* TestClock.adjust("30 days")
      yield* log.prune
      assert.strictEqual(yield* logged, 1)
      yield* TestClock.adjust("1 day")
      yield* log.prune
      assert.strictEqual(yield* logged, 0)
    }).pipe(Effect.provide(layerStoresMemory()))
  )

  it.effect("are apart from the stores of every other layer", () =>
    Effect.gen(function* () {
      const made = yield* Effect.flatMap(Access, (access) =>
        access.createOrganization("Test")
      ).pipe(Effect.provide(layerStoresMemory()))
      const other = yield* Access
      assert.isTrue(yield* other.isEmpty)
      assert.strictEqual((yield* Effect.flip(other.organization(made)))._tag, "not_found")
      const both = Layer.mergeAll(
        Layer.effectDiscard(
          Effect.flatMap(Access, (access) => access.createOrganization("A"))
        ).pipe(Layer.provide(layerStoresMemory())),
        layerStoresMemory()
      )
      const second = yield* Effect.provide(Access, both)
      assert.isTrue(yield* second.isEmpty)
    }).pipe(Effect.provide(layerStoresMemory()))
  )
})
