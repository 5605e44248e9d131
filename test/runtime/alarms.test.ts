import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeAlarms } from "../../src/runtime/alarms.ts"

describe("an alarm", () => {
  it.effect("rings once when its time is over, and not when it was put off", () =>
    Effect.gen(function* () {
      const rung: Array<string> = []
      const setAlarm = yield* makeAlarms
      setAlarm(1000, () => rung.push("a"))
      const putOff = setAlarm(1000, () => rung.push("b"))
      yield* TestClock.adjust("750 millis")
      assert.deepStrictEqual(rung, [])
      putOff()
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(rung, ["a"])
      setAlarm(1000, () => rung.push("c"))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(rung, ["a", "c"])
    })
  )

  it.effect("does not ring because the calendar is set forward", () =>
    Effect.gen(function* () {
      const rung: Array<string> = []
      const clock = yield* Clock.Clock
      let ahead = 0
      const corrected: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        sleep: (duration) => clock.sleep(duration)
      }
      const setAlarm = yield* Effect.provideService(makeAlarms, Clock.Clock, corrected)
      setAlarm(60_000, () => rung.push("a"))
      ahead = 86_400_000
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(rung, [])
      yield* TestClock.adjust("31 seconds")
      assert.deepStrictEqual(rung, ["a"])
    })
  )
})
