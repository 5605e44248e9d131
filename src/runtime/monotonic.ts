/** Monotonic time, for waits and time-outs: adjustments of the wall clock do not affect it. */
import { type Clock, Effect } from "effect"

/** Milliseconds since an arbitrary time in the past. */
export const monotonicMillisOf = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/** The monotonic time of the current clock in milliseconds. */
export const monotonicMillis: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.succeed(monotonicMillisOf(clock))
)
