/**
 * Timers that share one fiber. Most timers are cancelled before they fire. Setting one costs an
 * entry in a set, whereas a sleeping effect would cost a fiber and a timer.
 */
import { Clock, Effect, Latch } from "effect"
import { monotonicMillisOf } from "./monotonic.ts"

interface Alarm {
  readonly atMillis: number
  /** The callback; null once the alarm is cancelled. */
  ring: (() => void) | null
}

/** The interval between checks for due alarms, which is also the maximum delay of an alarm. */
const CHECK_MILLIS = 250

/**
 * Makes a function that sets an alarm and returns its cancellation; no alarm outlives the scope.
 */
export const makeAlarms = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const alarms = new Set<Alarm>()
  const isAnySet = Latch.makeUnsafe()

  const ringDue = Effect.sync(() => {
    const nowMillis = monotonicMillisOf(clock)
    for (const alarm of alarms) {
      if (alarm.atMillis > nowMillis) continue
      alarms.delete(alarm)
      alarm.ring?.()
    }
    if (alarms.size === 0) isAnySet.closeUnsafe()
  })
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(isAnySet.await, Effect.delay(ringDue, CHECK_MILLIS)))
  )

  return (delayMillis: number, ring: () => void): (() => void) => {
    const alarm: Alarm = { atMillis: monotonicMillisOf(clock) + delayMillis, ring }
    alarms.add(alarm)
    isAnySet.openUnsafe()
    return () => {
      alarms.delete(alarm)
      // The callback is removed from the alarm, because a JavaScript Set may keep a deleted alarm
      // until the next full garbage collection, and with it everything that `ring` refers to.
      alarm.ring = null
    }
  }
})

export type SetAlarm = Effect.Success<typeof makeAlarms>
