/** Monotonic time, for waits and limits: corrections of the wall clock do not move it. */
import { type Clock, Effect } from "effect"

/** Since some moment in the past. */
export const monotonicMillisOf = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/** The same of the clock at hand. */
export const monotonicMillis: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.succeed(monotonicMillisOf(clock))
)
