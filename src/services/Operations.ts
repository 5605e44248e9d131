/**
 * The operational state of the gateway: the state of its database, and whether the gateway is ready
 * for requests.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { monotonicMillis } from "../runtime/monotonic.ts"

/** The last audit of the ledger, by any gateway. */
export const AuditState = Schema.Struct({
  /** The time of the last complete audit; null before the first one. */
  auditedAt: Schema.NullOr(Schema.Date),
  ageSeconds: Schema.NullOr(Schema.Number),
  violations: Schema.Int,
  /** The number of organisations whose spending is stopped. */
  stopped: Schema.Int
})
export type AuditState = typeof AuditState.Type

/**
 * `behind`: the database lacks a migration of this gateway. `ahead`: the database has a migration
 * that this gateway does not know and cannot work with.
 */
export type SchemaState = "ready" | "behind" | "ahead"

export interface StoreReport {
  readonly schema: SchemaState
  /** The state of the ledger's audit; null while the schema is not ready. */
  readonly audit: AuditState | null
  /**
   * False where the database only accepts reads, for example because it is a standby, its disk is
   * full, or the gateway's role may not write.
   */
  readonly writable: boolean
}

/** Totals over the whole database. Amounts are nano-units. */
export const Totals = Schema.Struct({
  submittingTasks: Schema.Int,
  processingTasks: Schema.Int,
  openHolds: Schema.Int,
  /**
   * The number of open holds that are a minute or more past their deadline, plus the number of
   * tasks that no vendor had accepted by their submit deadline.
   */
  lateHolds: Schema.Int,
  /** Seconds since the oldest deadline of the late holds and tasks; 0 when nothing is late. */
  oldestLateSeconds: Schema.Number,
  /** Orphans that no operator has resolved; counted up to 10,000. */
  openOrphans: Schema.Int,
  /** Webhook messages that are neither delivered nor given up; counted up to 10,000. */
  waitingWebhooks: Schema.Int,
  /** Results that wait to be copied into the archive; counted up to 10,000. */
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
     * Claims the next audit, so that only one gateway runs it. Returns true where this gateway may
     * run the audit: no audit is running, and the last one began at least `everySeconds` ago.
     */
    takeAudit(everySeconds: number): Effect.Effect<boolean>
    /** Ends an audit and records the number of violations; null when the audit failed. */
    endAudit(violations: number | null): Effect.Effect<void>
  }
>()("gateway/services/OperationsStore") {}

export interface Check {
  /** `pending`: the check has no result yet; the gateway is still ready. */
  readonly status: "ok" | "failing" | "pending"
  /** An explanation for an operator; it never names an organisation. */
  readonly detail?: string
}

export interface ReadinessReport {
  /**
   * `degraded`: the gateway serves requests, but an operator should look. Ledger violations do not
   * make a gateway unready, because only the organisations concerned stop spending. Holds that are
   * released late do not make a gateway unready either.
   */
  readonly status: "ready" | "degraded" | "not_ready"
  readonly checks: {
    readonly store: Check
    readonly migrations: Check
    readonly poller: Check
    readonly audit: Check
    /** Whether expired holds are released in time. */
    readonly deadlines: Check
    readonly shutdown: Check
  }
}

export class Readiness extends Context.Service<
  Readiness,
  { readonly report: Effect.Effect<ReadinessReport> }
>()("gateway/services/Readiness") {}

/** The heartbeat of the poller, which shows whether the poller is still running. */
export class PollerPulse extends Context.Service<
  PollerPulse,
  {
    /** Records a heartbeat: the poller queried the store for due tasks, and the query succeeded. */
    readonly beat: Effect.Effect<void>
    /** Seconds since the last heartbeat, or since the start of the gateway. */
    readonly secondsSinceBeat: Effect.Effect<number>
  }
>()("gateway/services/PollerPulse") {}

export const layerPollerPulse = Layer.effect(
  PollerPulse,
  Effect.map(monotonicMillis, (startedAt) => {
    let lastBeatMillis = startedAt
    return PollerPulse.of({
      beat: Effect.map(monotonicMillis, (now) => {
        lastBeatMillis = now
      }),
      secondsSinceBeat: Effect.map(monotonicMillis, (now) => (now - lastBeatMillis) / 1000)
    })
  })
)
