/** Whether this gateway should be sent requests, and why not. */
import { Context, type Effect } from "effect"

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
