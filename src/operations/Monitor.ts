/** Looks after the gateway's own health, so that a probe or a scrape costs the database nothing. */
import { type Cause, Effect, Layer, Metric } from "effect"
import { makeTasksMeasure } from "../channels/channelMeasures.ts"
import { startJob } from "../runtime/backgroundJobs.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import { Shutdown } from "../runtime/Shutdown.ts"
import { ChannelRecords } from "../services/channels/ChannelRecords.ts"
import {
  heldMoney,
  lateHolds,
  ledgerAuditTime,
  ledgerViolations,
  oldestLateHoldSeconds,
  openHolds,
  openOrphans,
  openTasks,
  poolMoney,
  residentBytes,
  stoppedOrganizations,
  waitingArchives,
  waitingWebhooks
} from "../services/metrics.ts"
import {
  type AuditState,
  type Check,
  OperationsStore,
  PollerPulse,
  Readiness,
  type ReadinessReport,
  type SchemaState,
  type StoreReport,
  type Totals
} from "../services/Operations.ts"
import { makeProcessMeasure } from "./processMeasure.ts"

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

const pending: Check = { status: "pending" }
const failsWhen = (isFailing: boolean, detail: string): Check =>
  isFailing ? { status: "failing", detail } : { status: "ok" }

const schemaCheck: Readonly<Record<SchemaState, Check>> = {
  ready: { status: "ok" },
  behind: failsWhen(true, "The database has not all migrations of this gateway"),
  ahead: failsWhen(true, "A newer version has migrated the database, and this one has to make room")
}

const auditCheck = (
  { violations, stopped, ageSeconds }: AuditState,
  auditSeconds: number
): Check => {
  const broken = failsWhen(
    violations > 0 || stopped > 0,
    `${violations} broken invariants; ${stopped} organisations take no new orders`
  )
  if (broken.status === "failing") return broken
  if (ageSeconds === null) return pending
  return failsWhen(
    ageSeconds > MISSED_AUDITS * auditSeconds,
    `The last audit was ${Math.round(ageSeconds)} seconds ago`
  )
}

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
    const { openTasks: openTasksByChannel } = yield* ChannelRecords
    const measureTasks = makeTasksMeasure(openTasksByChannel)

    let known: Known = { report: null, at: yield* monotonicMillis, failing: false }

    let late: Pick<Totals, "lateHolds" | "oldestLateSeconds"> = {
      lateHolds: 0,
      oldestLateSeconds: 0
    }

    const lookAtStore = Effect.gen(function* () {
      const report = yield* store.report
      if (!report.writable && known.report?.writable !== false) {
        yield* Effect.logError("database: not writable")
      }
      known = { report, at: yield* monotonicMillis, failing: false }
      if (report.audit === null) return
      yield* Metric.update(ledgerViolations, report.audit.violations)
      yield* Metric.update(ledgerAuditTime, (report.audit.auditedAt?.getTime() ?? 0) / 1000)
      yield* Metric.update(stoppedOrganizations, report.audit.stopped)
    })

    const noteNoAnswer = (cause: Cause.Cause<never>) => {
      const wasFailing = known.failing
      known = { ...known, failing: true }
      return wasFailing ? Effect.void : Effect.logError("database: no answer", cause)
    }

    const currency = { currency: settings.currency }
    const countTotals = Effect.gen(function* () {
      const totals = yield* store.totals
      late = totals
      const tasksIn = (state: string) => Metric.withAttributes(openTasks, { state })
      yield* Metric.update(tasksIn("submitting"), totals.submittingTasks)
      yield* Metric.update(tasksIn("processing"), totals.processingTasks)
      yield* Metric.update(openHolds, totals.openHolds)
      yield* Metric.update(openOrphans, totals.openOrphans)
      yield* Metric.update(waitingWebhooks, totals.waitingWebhooks)
      yield* Metric.update(waitingArchives, totals.waitingArchives)
      yield* Metric.update(lateHolds, totals.lateHolds)
      yield* Metric.update(oldestLateHoldSeconds, totals.oldestLateSeconds)
      yield* Metric.update(Metric.withAttributes(poolMoney, currency), units(totals.poolNano))
      yield* Metric.update(Metric.withAttributes(heldMoney, currency), units(totals.heldNano))
      yield* measureTasks
    })

    yield* startJob({
      name: "database check",
      interval: `${settings.healthSeconds} seconds`,
      run: lookAtStore,
      // Readiness fails until the database answers again.
      onFailure: noteNoAnswer
    })
    yield* startJob({
      name: "database totals",
      interval: `${settings.totalsSeconds} seconds`,
      run: countTotals,
      // The gauges keep the values of the last run that succeeded.
      onFailure: (cause) => Effect.logDebug("database totals: query failed", cause),
      metric: openTasks
    })
    const measureProcess = yield* makeProcessMeasure
    yield* startJob({
      name: "process metrics",
      interval: `${settings.totalsSeconds} seconds`,
      run: Effect.flatMap(pulse.secondsSinceBeat, measureProcess),
      onFailure: (cause) => Effect.logDebug("process metrics: run failed", cause),
      metric: residentBytes
    })

    const storeLimit = (settings.healthSeconds + STORE_PATIENCE_SECONDS) * 1000
    const roundLimit = Math.max(MISSED_ROUNDS * settings.pollerSeconds, ROUND_PATIENCE_SECONDS)

    const report = Effect.gen(function* () {
      const isAway = known.failing || (yield* monotonicMillis) - known.at > storeLimit
      const silence = yield* pulse.secondsSinceBeat
      const { writable = null, schema = null, audit = null } = known.report ?? {}
      const checks = {
        store: isAway
          ? failsWhen(true, "The database does not answer")
          : writable === null
            ? pending
            : failsWhen(!writable, "The database cannot be written"),
        migrations: schema === null ? pending : schemaCheck[schema],
        poller: failsWhen(
          silence > roundLimit,
          `The poller came round ${Math.round(silence)} seconds ago`
        ),
        audit: audit === null ? pending : auditCheck(audit, settings.auditSeconds),
        deadlines: failsWhen(
          late.lateHolds > 0,
          `${late.lateHolds} holds are open after their deadline, the oldest for ${Math.round(late.oldestLateSeconds)} seconds`
        ),
        shutdown: failsWhen(shutdown.hasBegun(), "The gateway is about to stop")
      }
      return { status: statusOf(checks), checks }
    })

    return Readiness.of({ report })
  })
)
