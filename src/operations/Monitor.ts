/**
 * Checks the gateway's own health in the background, so that probes and scrapes do not query the
 * database.
 */
import { type Cause, Effect, Layer, Metric } from "effect"
import { makeQueueMeasure, makeTasksMeasure } from "../channels/channelMeasures.ts"
import { startJob } from "../runtime/backgroundJobs.ts"
import { monotonicMillis } from "../runtime/monotonic.ts"
import { Settings } from "../runtime/Settings.ts"
import { Shutdown } from "../runtime/Shutdown.ts"
import { ChannelQueue } from "../services/channels/ChannelQueue.ts"
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

/**
 * The database counts as unreachable when a check has had no answer for this time after it was due.
 */
const STORE_TIMEOUT_SECONDS = 4
/**
 * Readiness fails after MAX_MISSED_POLLS poller intervals without a run, but not before
 * MIN_POLLER_SECONDS.
 */
const MAX_MISSED_POLLS = 10
const MIN_POLLER_SECONDS = 15
/** Readiness is degraded when no audit has succeeded for more than this number of intervals. */
const MAX_MISSED_AUDITS = 3

/** The last report of the database, and whether a check after it failed. */
interface LastReport {
  readonly report: StoreReport | null
  readonly atMillis: number
  readonly isFailing: boolean
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
  const auditFailure = failsWhen(
    violations > 0 || stopped > 0,
    `${violations} broken invariants; ${stopped} organisations take no new orders`
  )
  if (auditFailure.status === "failing") return auditFailure
  if (ageSeconds === null) return pending
  return failsWhen(
    ageSeconds > MAX_MISSED_AUDITS * auditSeconds,
    `The last audit was ${Math.round(ageSeconds)} seconds ago`
  )
}

const statusOf = (checks: ReadinessReport["checks"]): ReadinessReport["status"] => {
  const { audit, deadlines, ...neededChecks } = checks
  const isFailing = (check: Check) => check.status === "failing"
  if (Object.values(neededChecks).some(isFailing)) return "not_ready"
  return [audit, deadlines].some(isFailing) ? "degraded" : "ready"
}

/** Converts money to floating point, the only number type of the metrics format. */
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
    const measureQueues = makeQueueMeasure((yield* ChannelQueue).lengths)

    let lastReport: LastReport = {
      report: null,
      atMillis: yield* monotonicMillis,
      isFailing: false
    }

    let lateTotals: Pick<Totals, "lateHolds" | "oldestLateSeconds"> = {
      lateHolds: 0,
      oldestLateSeconds: 0
    }

    const checkStore = Effect.gen(function* () {
      const report = yield* store.report
      if (!report.writable && lastReport.report?.writable !== false) {
        yield* Effect.logError("database: not writable")
      }
      lastReport = { report, atMillis: yield* monotonicMillis, isFailing: false }
      if (report.audit === null) return
      yield* Metric.update(ledgerViolations, report.audit.violations)
      yield* Metric.update(ledgerAuditTime, (report.audit.auditedAt?.getTime() ?? 0) / 1000)
      yield* Metric.update(stoppedOrganizations, report.audit.stopped)
    })

    const noteStoreFailure = (cause: Cause.Cause<never>) => {
      const wasFailing = lastReport.isFailing
      lastReport = { ...lastReport, isFailing: true }
      return wasFailing ? Effect.void : Effect.logError("database: check failed", cause)
    }

    const currency = { currency: settings.currency }
    const countTotals = Effect.gen(function* () {
      const totals = yield* store.totals
      lateTotals = totals
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
      yield* measureQueues
    })

    yield* startJob({
      name: "database check",
      interval: `${settings.healthSeconds} seconds`,
      run: checkStore,
      // After a failure, readiness fails until the database answers again.
      onFailure: noteStoreFailure
    })
    yield* startJob({
      name: "database totals",
      interval: `${settings.totalsSeconds} seconds`,
      run: countTotals,
      // After a failure, the gauges keep the values of the last run that succeeded.
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

    const storeLimitMillis = (settings.healthSeconds + STORE_TIMEOUT_SECONDS) * 1000
    const pollerLimitSeconds = Math.max(
      MAX_MISSED_POLLS * settings.pollerSeconds,
      MIN_POLLER_SECONDS
    )

    const report = Effect.gen(function* () {
      const isAway =
        lastReport.isFailing || (yield* monotonicMillis) - lastReport.atMillis > storeLimitMillis
      const silenceSeconds = yield* pulse.secondsSinceBeat
      const { writable = null, schema = null, audit = null } = lastReport.report ?? {}
      const checks = {
        store: isAway
          ? failsWhen(true, "The database does not answer")
          : writable === null
            ? pending
            : failsWhen(!writable, "The database cannot be written"),
        migrations: schema === null ? pending : schemaCheck[schema],
        poller: failsWhen(
          silenceSeconds > pollerLimitSeconds,
          `The poller last ran ${Math.round(silenceSeconds)} seconds ago`
        ),
        audit: audit === null ? pending : auditCheck(audit, settings.auditSeconds),
        deadlines: failsWhen(
          lateTotals.lateHolds > 0,
          `${lateTotals.lateHolds} holds are open after their deadline, the oldest for ${Math.round(lateTotals.oldestLateSeconds)} seconds`
        ),
        shutdown: failsWhen(shutdown.hasBegun(), "The gateway is about to stop")
      }
      return { status: statusOf(checks), checks }
    })

    return Readiness.of({ report })
  })
)
