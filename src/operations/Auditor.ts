/**
 * Audits the ledger at intervals. Each audit verifies the organisations whose rows or sums look
 * inconsistent, and in turn all other organisations. An organisation whose books are broken takes
 * no new orders until a later audit finds them sound. Other organisations are not affected.
 */
import { Effect, Layer } from "effect"
import { startJob } from "../runtime/backgroundJobs.ts"
import { Settings } from "../runtime/Settings.ts"
import { Ledger, type Violation } from "../services/Ledger.ts"
import { ledgerAuditTime } from "../services/metrics.ts"
import { OperationsStore } from "../services/Operations.ts"

/** The maximum number of violations with a log line each. The other violations share one line. */
const MAX_LOGGED = 20
/** The number of times in each audit interval that a gateway checks whether an audit is due. */
const CHECKS_PER_AUDIT = 4
const MAX_RECHECK_SECONDS = 10

const nameOf = ({ invariant, organizationId, subject, detail }: Violation): string =>
  JSON.stringify([invariant, organizationId, subject, detail])

const logViolations = Effect.fnUntraced(function* (violations: ReadonlyArray<Violation>) {
  for (const { detail, invariant, organizationId, subject } of violations.slice(0, MAX_LOGGED)) {
    yield* Effect.logError("ledger audit: invariant violated", detail).pipe(
      Effect.annotateLogs({ invariant, organization_id: organizationId, subject })
    )
  }
  if (violations.length > MAX_LOGGED) {
    yield* Effect.logError("ledger audit: further violations not logged").pipe(
      Effect.annotateLogs({ count: violations.length - MAX_LOGGED })
    )
  }
})

/** The first violation of each organisation, as a text for operators. */
const reasonsOf = (violations: ReadonlyArray<Violation>): ReadonlyMap<string, string> =>
  new Map(
    violations
      .toReversed()
      .map((one) => [one.organizationId, `${one.invariant}: ${one.detail} (${one.subject})`])
  )

export const layerAuditor = Layer.effectDiscard(
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const store = yield* OperationsStore
    const { auditSeconds, soleGateway } = yield* Settings
    const checkSeconds = auditSeconds / CHECKS_PER_AUDIT

    /**
     * Violations that two successive checks find. A single check is not enough to stop an
     * organisation.
     */
    const confirmedViolations = Effect.gen(function* () {
      const firstViolations = yield* ledger.verifyOf(yield* ledger.suspects(auditSeconds))
      if (firstViolations.length === 0) return []
      const firstNames = new Set(firstViolations.map(nameOf))
      yield* Effect.sleep(`${Math.min(checkSeconds, MAX_RECHECK_SECONDS)} seconds`)
      const brokenIds = new Set(firstViolations.map(({ organizationId }) => organizationId))
      const second = yield* ledger.verifyOf([...brokenIds])
      return second.filter((violation) => firstNames.has(nameOf(violation)))
    })

    const audit = Effect.gen(function* () {
      const violations = yield* confirmedViolations
      yield* logViolations(violations)
      yield* ledger.stopSpending(reasonsOf(violations))
      yield* store.endAudit(violations.length)
    }).pipe(Effect.onError(() => Effect.exit(store.endAudit(null))))

    // A gateway that is alone on its database audits at every start, however recent the last audit
    // is.
    let minAgeSeconds = soleGateway ? 0 : auditSeconds
    const auditIfDue = Effect.gen(function* () {
      const ageSeconds = minAgeSeconds
      minAgeSeconds = auditSeconds
      if (yield* store.takeAudit(ageSeconds)) yield* audit
    })

    yield* startJob({
      name: "ledger audit",
      interval: `${checkSeconds} seconds`,
      run: auditIfDue,
      // After failures, readiness is degraded when no audit has succeeded for several intervals.
      onFailure: (cause) => Effect.logError("ledger audit: run failed", cause),
      metric: ledgerAuditTime
    })
  })
)
