/** Whether this gateway should be sent requests, and why not. */
import { Clock, Context, Effect, Layer } from "effect"

export interface Check {
  /** `pending`: nothing is known yet, which keeps nobody away. */
  readonly status: "ok" | "failing" | "pending"
  /** In words for an operator; never about one organisation. */
  readonly detail?: string
}

export interface ReadinessReport {
  /**
   * `degraded`: it serves, and somebody should look. Broken books stop the organisations they belong
   * to, so they take no gateway away from the others. Holds that are given back late stop nobody.
   */
  readonly status: "ready" | "degraded" | "not_ready"
  readonly checks: {
    readonly store: Check
    readonly migrations: Check
    readonly poller: Check
    readonly audit: Check
    /** Whether what is due is given back in its time. */
    readonly deadlines: Check
    readonly shutdown: Check
  }
}

export class Readiness extends Context.Service<
  Readiness,
  { readonly report: Effect.Effect<ReadinessReport> }
>()("gateway/services/Readiness") {}

/** Whether the poller still comes round. */
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
