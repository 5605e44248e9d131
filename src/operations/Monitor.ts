/** Looks after the gateway's own health, so that a probe or a scrape costs the database nothing. */
import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { Settings } from "../runtime/Settings.ts"
import { Shutdown } from "../runtime/Shutdown.ts"
import {
  heldMoney,
  lateHolds,
  ledgerAuditTime,
  ledgerViolations,
  oldestLateHoldSeconds,
  openHolds,
  openTasks,
  poolMoney,
  stoppedOrganizations
} from "../services/metrics.ts"
import {
  type AuditState,
  type Check,
  OperationsStore,
  PollerPulse,
  Readiness,
  type ReadinessReport,
  type StoreReport,
  type Totals
} from "../services/Operations.ts"

/** A database that has not answered for longer than this, beyond the pace of asking, is away. */
const STORE_PATIENCE_SECONDS = 4
/** Rounds the poller may miss, and the least time it gets for one. */
const MISSED_ROUNDS = 10
const ROUND_PATIENCE_SECONDS = 15
/** Audits that may fail in a row before somebody should look. */
const MISSED_AUDITS = 3

/** The answer of the last question that got one, and whether the one after it failed. */
interface Known {
  readonly report: StoreReport | null
  readonly at: number
  readonly failing: boolean
}

type Lateness = Pick<Totals, "lateHolds" | "oldestLateSeconds">

const ok: Check = { status: "ok" }
const pending: Check = { status: "pending" }
const failing = (detail: string): Check => ({ status: "failing", detail })

const auditCheck = (audit: AuditState, auditSeconds: number): Check => {
  if (audit.violations > 0 || audit.stopped > 0) {
    return failing(
      `${audit.violations} broken invariants; ${audit.stopped} organisations take no new orders`
    )
  }
  if (audit.ageSeconds === null) return pending
  return audit.ageSeconds > MISSED_AUDITS * auditSeconds
    ? failing(`The last audit was ${Math.round(audit.ageSeconds)} seconds ago`)
    : ok
}

const deadlinesCheck = ({ lateHolds, oldestLateSeconds }: Lateness): Check =>
  lateHolds > 0
    ? failing(
        `${lateHolds} holds are open after their deadline, the oldest for ${Math.round(oldestLateSeconds)} seconds`
      )
    : ok

const statusOf = (checks: ReadinessReport["checks"]): ReadinessReport["status"] => {
  const { audit, deadlines, ...needed } = checks
  const isFailing = (check: Check) => check.status === "failing"
  if (Object.values(needed).some(isFailing)) return "not_ready"
  return [audit, deadlines].some(isFailing) ? "degraded" : "ready"
}

/** Amounts of money become floating point here: the metrics' format knows nothing else. */
const units = (nano: bigint): number => Number(nano) / 1e9

export const layerMonitor = Layer.effect(
  Readiness,
  Effect.gen(function* () {
    const store = yield* OperationsStore
    const pulse = yield* PollerPulse
    const shutdown = yield* Shutdown
    const settings = yield* Settings

    let known: Known = { report: null, at: yield* Clock.currentTimeMillis, failing: false }

    let lateness: Lateness = { lateHolds: 0, oldestLateSeconds: 0 }

    const lookAtStore = Effect.gen(function* () {
      const report = yield* store.report
      if (!report.writable && known.report?.writable !== false) {
        yield* Effect.logError("the database cannot be written")
      }
      known = { report, at: yield* Clock.currentTimeMillis, failing: false }
      if (report.audit === null) return
      yield* Metric.update(ledgerViolations, report.audit.violations)
      yield* Metric.update(ledgerAuditTime, (report.audit.auditedAt?.getTime() ?? 0) / 1000)
      yield* Metric.update(stoppedOrganizations, report.audit.stopped)
    }).pipe(
      Effect.catchCause((cause) => {
        const before = known.failing
        known = { ...known, failing: true }
        return before ? Effect.void : Effect.logError("the database does not answer", cause)
      })
    )

    const currency = { currency: settings.currency }
    const countTotals = Effect.gen(function* () {
      const totals = yield* store.totals
      lateness = totals
      const tasksIn = (state: string) => Metric.withAttributes(openTasks, { state })
      yield* Metric.update(tasksIn("submitting"), totals.submittingTasks)
      yield* Metric.update(tasksIn("processing"), totals.processingTasks)
      yield* Metric.update(openHolds, totals.openHolds)
      yield* Metric.update(lateHolds, totals.lateHolds)
      yield* Metric.update(oldestLateHoldSeconds, totals.oldestLateSeconds)
      yield* Metric.update(Metric.withAttributes(poolMoney, currency), units(totals.poolNano))
      yield* Metric.update(Metric.withAttributes(heldMoney, currency), units(totals.heldNano))
    }).pipe(Effect.catchCause((cause) => Effect.logDebug("the totals could not be counted", cause)))

    const every = (seconds: number, round: Effect.Effect<void>) =>
      Effect.forkScoped(Effect.repeat(round, Schedule.spaced(`${seconds} seconds`)))
    yield* every(settings.healthSeconds, lookAtStore)
    yield* every(settings.totalsSeconds, countTotals)

    const storeCheck = (now: number): Check =>
      known.failing || now - known.at > (settings.healthSeconds + STORE_PATIENCE_SECONDS) * 1000
        ? failing("The database does not answer")
        : known.report === null
          ? pending
          : known.report.writable
            ? ok
            : failing("The database cannot be written")

    const roundLimit = Math.max(MISSED_ROUNDS * settings.pollerSeconds, ROUND_PATIENCE_SECONDS)

    const report = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const silence = yield* pulse.secondsSinceBeat
      const latest = known.report
      const checks = {
        store: storeCheck(now),
        migrations:
          latest === null
            ? pending
            : latest.migrated
              ? ok
              : failing("The database has not all migrations of this gateway"),
        poller:
          silence > roundLimit
            ? failing(`The poller came round ${Math.round(silence)} seconds ago`)
            : ok,
        audit:
          latest === null || latest.audit === null
            ? pending
            : auditCheck(latest.audit, settings.auditSeconds),
        deadlines: deadlinesCheck(lateness),
        shutdown: shutdown.hasBegun() ? failing("The gateway is about to stop") : ok
      }
      return { status: statusOf(checks), checks }
    })

    return Readiness.of({ report })
  })
)
