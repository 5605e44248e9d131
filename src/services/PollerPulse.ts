/** Whether the poller still comes round. */
import { Clock, Context, Effect, Layer } from "effect"

export class PollerPulse extends Context.Service<
  PollerPulse,
  {
    /** The poller asked the store for due tasks, and got an answer. */
    readonly beat: Effect.Effect<void>
    /** Since the last beat, or since the start. */
    readonly secondsSinceBeat: Effect.Effect<number>
  }
>()("gateway/services/PollerPulse") {}

export const layerPollerPulse = Layer.effect(
  PollerPulse,
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    let last = startedAt
    return PollerPulse.of({
      beat: Effect.map(Clock.currentTimeMillis, (now) => {
        last = now
      }),
      secondsSinceBeat: Effect.map(Clock.currentTimeMillis, (now) => (now - last) / 1000)
    })
  })
)
