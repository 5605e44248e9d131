/** Tells whether the process shuts down, and how much time running work has left. */
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import { monotonicMillis } from "./monotonic.ts"
import { Settings } from "./Settings.ts"

/** The state of the shutdown. Without `layerShutdown`, the process never shuts down. */
export const Shutdown = Context.Reference<{
  readonly hasBegun: () => boolean
  /** Waits until the shutdown begins. */
  readonly awaitBegin: Effect.Effect<void>
  /** Begins the shutdown. Repeated calls have no effect. */
  readonly begin: Effect.Effect<void>
  /**
   * The time until running work is interrupted; the whole of `shutdownSeconds` before the shutdown
   * begins.
   */
  readonly timeLeft: Effect.Effect<Duration.Duration>
}>("gateway/runtime/Shutdown", {
  defaultValue: () => ({
    hasBegun: () => false,
    awaitBegin: Effect.never,
    begin: Effect.void,
    timeLeft: Effect.succeed(Duration.seconds(30))
  })
})

export const layerShutdown = Layer.effect(
  Shutdown,
  Effect.gen(function* () {
    const { shutdownSeconds } = yield* Settings
    const started = yield* Deferred.make<void>()
    let deadline: number | null = null
    return {
      hasBegun: () => deadline !== null,
      awaitBegin: Deferred.await(started),
      begin: Effect.flatMap(monotonicMillis, (now) => {
        deadline ??= now + shutdownSeconds * 1000
        return Effect.asVoid(Deferred.succeed(started, undefined))
      }),
      timeLeft: Effect.map(monotonicMillis, (now) =>
        deadline === null
          ? Duration.seconds(shutdownSeconds)
          : Duration.millis(Math.max(0, deadline - now))
      )
    }
  })
)
