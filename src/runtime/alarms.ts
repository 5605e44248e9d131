/**
 * Alarms that one fiber rings. Most are put off before they ring, so setting one costs an entry in a
 * set, where an effect of its own that sleeps costs a fiber and a timer.
 */
import { Clock, Effect, Latch } from "effect"
import { monotonicMillisOf } from "./monotonic.ts"

interface Alarm {
  readonly atMillis: number
  /** Null once it has been put off. */
  ring: (() => void) | null
}

/** How often is looked for alarms that are due: one rings at most so much too late. */
const CHECK_MILLIS = 250

/** Makes a function that sets an alarm and answers how it is put off; no alarm outlives the scope. */
export const makeAlarms = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const alarms = new Set<Alarm>()
  const isAnySet = Latch.makeUnsafe()

  const ringDue = Effect.sync(() => {
    const now = monotonicMillisOf(clock)
    for (const alarm of alarms) {
      if (alarm.atMillis > now) continue
      alarms.delete(alarm)
      alarm.ring?.()
    }
    if (alarms.size === 0) isAnySet.closeUnsafe()
  })
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(isAnySet.await, Effect.delay(ringDue, CHECK_MILLIS)))
  )

  return (afterMillis: number, ring: () => void): (() => void) => {
    const alarm: Alarm = { atMillis: monotonicMillisOf(clock) + afterMillis, ring }
    alarms.add(alarm)
    isAnySet.openUnsafe()
    return () => {
      alarms.delete(alarm)
      // A full collection alone frees the tables that a set has outgrown, and what they refer to.
      alarm.ring = null
    }
  }
})

export type SetAlarm = Effect.Success<typeof makeAlarms>
