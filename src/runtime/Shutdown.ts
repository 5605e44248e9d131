/** Whether the process is about to end, and how much time what is running has left. */
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import { monotonicMillis } from "./monotonic.ts"
import { Settings } from "./Settings.ts"

/** In a composition that provides no layer of it, the end never comes. */
export const Shutdown = Context.Reference<{
  readonly hasBegun: () => boolean
  /** Waits for the beginning of the end. */
  readonly begun: Effect.Effect<void>
  /** A repeat changes nothing. */
  readonly begin: Effect.Effect<void>
  /** Until all that still runs is interrupted; all of it before the end has begun. */
  readonly timeLeft: Effect.Effect<Duration.Duration>
}>("gateway/runtime/Shutdown", {
  defaultValue: () => ({
    hasBegun: () => false,
    begun: Effect.never,
    begin: Effect.void,
    timeLeft: Effect.succeed(Duration.seconds(30))
  })
})

export const layerShutdown = Layer.effect(
  Shutdown,
  Effect.gen(function* () {
    const { shutdownSeconds } = yield* Settings
    const begun = yield* Deferred.make<void>()
    let deadline: number | null = null
    return {
      hasBegun: () => deadline !== null,
      begun: Deferred.await(begun),
      begin: Effect.flatMap(monotonicMillis, (now) => {
        deadline ??= now + shutdownSeconds * 1000
        return Effect.asVoid(Deferred.succeed(begun, undefined))
      }),
      timeLeft: Effect.map(monotonicMillis, (now) =>
        deadline === null
          ? Duration.seconds(shutdownSeconds)
          : Duration.millis(Math.max(0, deadline - now))
      )
    }
  })
)
