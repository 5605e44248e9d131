import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerMonitor } from "../../src/operations/Monitor.ts"
import { layerShutdown, Shutdown } from "../../src/runtime/Shutdown.ts"
import { ChannelQueue } from "../../src/services/channels/ChannelQueue.ts"
import { ChannelRecords } from "../../src/services/channels/ChannelRecords.ts"
import {
  layerPollerPulse,
  OperationsStore,
  PollerPulse,
  Readiness,
  type StoreReport
} from "../../src/services/Operations.ts"

const sound: StoreReport = {
  schema: "ready",
  writable: true,
  audit: { auditedAt: new Date(0), ageSeconds: 1, violations: 0, stopped: 0 }
}

/** A gateway whose database answers what `answer.now` says at the time it is asked. */
const monitored = (answer: { now: Effect.Effect<StoreReport> }) =>
  layerMonitor.pipe(
    Layer.provideMerge([layerPollerPulse, layerShutdown]),
    Layer.provide([
      Layer.mock(OperationsStore, {
        report: Effect.suspend(() => answer.now),
        totals: Effect.die(new Error("not counted here"))
      }),
      Layer.mock(ChannelRecords, {}),
      Layer.mock(ChannelQueue, { lengths: Effect.succeed([]) })
    ])
  )

/** Status and the checks that are not ok. */
const state = Effect.gen(function* () {
  const { status, checks } = yield* (yield* Readiness).report
  const odd = Object.entries(checks).filter(([, check]) => check.status !== "ok")
  return [status, ...odd.map(([name, check]) => `${name} ${check.status}`)]
})

const beat = Effect.flatMap(PollerPulse, (pulse) => pulse.beat)

describe("readiness", () => {
  it.effect(
    "is lost with the first question the database fails, and won with the next answer",
    () => {
      const answer: { now: Effect.Effect<StoreReport> } = { now: Effect.succeed(sound) }
      return Effect.gen(function* () {
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* state, ["ready"])
        answer.now = Effect.die(new Error("no database"))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* state, ["not_ready", "store failing"])
        answer.now = Effect.succeed(sound)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* state, ["ready"])
      }).pipe(Effect.provide(monitored(answer)))
    }
  )

  it.effect("is lost when the database gives no answer at all", () => {
    const answer: { now: Effect.Effect<StoreReport> } = { now: Effect.never }
    return Effect.gen(function* () {
      const pending = ["store pending", "migrations pending", "audit pending"]
      assert.deepStrictEqual(yield* state, ["ready", ...pending])
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* state, [
        "not_ready",
        "store failing",
        "migrations pending",
        "audit pending"
      ])
    }).pipe(Effect.provide(monitored(answer)))
  })

  it.effect("is lost when the poller does not come round, and won when it does", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("14 seconds")
      assert.deepStrictEqual(yield* state, ["ready"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* state, ["not_ready", "poller failing"])
      yield* beat
      assert.deepStrictEqual(yield* state, ["ready"])
    }).pipe(Effect.provide(monitored({ now: Effect.succeed(sound) })))
  )

  it.effect("is lost in the moment a shutdown begins", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      yield* Effect.flatMap(Shutdown, (shutdown) => shutdown.begin)
      assert.deepStrictEqual(yield* state, ["not_ready", "shutdown failing"])
    }).pipe(Effect.provide(monitored({ now: Effect.succeed(sound) })))
  )

  it.effect("is lost while the database can be read alone", () => {
    const answer = { now: Effect.succeed({ ...sound, writable: false }) }
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* state, ["not_ready", "store failing"])
      answer.now = Effect.succeed(sound)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* state, ["ready"])
    }).pipe(Effect.provide(monitored(answer)))
  })

  it.effect.each([
    ["broken books", { violations: 2, stopped: 0, ageSeconds: 1 }, ["degraded", "audit failing"]],
    [
      "a stopped organisation",
      { violations: 0, stopped: 1, ageSeconds: 1 },
      ["degraded", "audit failing"]
    ],
    [
      "audits that fail",
      { violations: 0, stopped: 0, ageSeconds: 181 },
      ["degraded", "audit failing"]
    ],
    [
      "books not audited yet",
      { violations: 0, stopped: 0, ageSeconds: null },
      ["ready", "audit pending"]
    ]
  ] as const)("survives %s", ([, audit, expected]) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* state, [...expected])
    }).pipe(
      Effect.provide(
        monitored({ now: Effect.succeed({ ...sound, audit: { auditedAt: null, ...audit } }) })
      )
    )
  )
})
