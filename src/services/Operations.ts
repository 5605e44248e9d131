/** What running the gateway asks: of its database, and whether it should be sent requests. */
import { Context, Effect, Layer, Schema } from "effect"
import { monotonicMillis } from "../runtime/monotonic.ts"

/** The last audit of the books, whichever gateway made it. */
export const AuditState = Schema.Struct({
  /** Null before the first one. */
  auditedAt: Schema.NullOr(Schema.Date),
  ageSeconds: Schema.NullOr(Schema.Number),
  violations: Schema.Int,
  /** Organisations whose spending is stopped. */
  stopped: Schema.Int
})
export type AuditState = typeof AuditState.Type

/**
 * `behind`: the database lacks a migration of this gateway. `ahead`: it has one that this gateway does
 * not know and cannot work with.
 */
export type SchemaState = "ready" | "behind" | "ahead"

export interface StoreReport {
  readonly schema: SchemaState
  /** Null while the schema is not ready. */
  readonly audit: AuditState | null
  /** False for a database that can be read alone: a standby, one without room, a role without the right. */
  readonly writable: boolean
}

/** Over the whole database. Amounts are nano-units. */
export const Totals = Schema.Struct({
  submittingTasks: Schema.Int,
  processingTasks: Schema.Int,
  openHolds: Schema.Int,
  /** Open holds a minute or more past their deadline, and tasks that were not accepted by theirs. */
  lateHolds: Schema.Int,
  /** How long the first deadline of those has passed; 0 when nothing is late. */
  oldestLateSeconds: Schema.Number,
  /** Jobs that a vendor may have made, and that nobody has looked into; of more than 10,000 as many. */
  openOrphans: Schema.Int,
  /** Messages that are not delivered and not given up, counted like that. */
  waitingWebhooks: Schema.Int,
  /** Results that are to be copied into the archive, counted like that. */
  waitingArchives: Schema.Int,
  poolNano: Schema.BigInt,
  heldNano: Schema.BigInt
})
export type Totals = typeof Totals.Type

export class OperationsStore extends Context.Service<
  OperationsStore,
  {
    readonly report: Effect.Effect<StoreReport>
    readonly totals: Effect.Effect<Totals>
    /**
     * True for the one gateway that shall audit the books now: nobody is at it, and the last time
     * was at least `everySeconds` ago.
     */
    takeAudit(everySeconds: number): Effect.Effect<boolean>
    /** Ends an audit; null when it came to no result. */
    endAudit(violations: number | null): Effect.Effect<void>
  }
>()("gateway/services/OperationsStore") {}

export interface Check {
  /** `pending`: nothing is known yet, and the gateway is ready all the same. */
  readonly status: "ok" | "failing" | "pending"
  /** In words for an operator; never about one organisation. */
  readonly detail?: string
}

export interface ReadinessReport {
  /**
   * `degraded`: it serves, and somebody should look. Broken books stop the organisations they belong
   * to, so they take no gateway away from the others. Holds that are given back late stop none of them.
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
  Effect.map(monotonicMillis, (startedAt) => {
    let last = startedAt
    return PollerPulse.of({
      beat: Effect.map(monotonicMillis, (now) => {
        last = now
      }),
      secondsSinceBeat: Effect.map(monotonicMillis, (now) => (now - last) / 1000)
    })
  })
)
