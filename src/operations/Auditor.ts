/**
 * Audits the books again and again: what happened since the last time, and in turn all there is.
 * Organisations whose books are broken take no new orders until a later audit finds them sound; the
 * others do not notice.
 */
import { Effect, Layer } from "effect"
import { startJob } from "../runtime/backgroundJobs.ts"
import { Settings } from "../runtime/Settings.ts"
import { Ledger, type Violation } from "../services/Ledger.ts"
import { ledgerAuditTime } from "../services/metrics.ts"
import { OperationsStore } from "../services/Operations.ts"

/** Violations that get a line in the log of their own; the rest are counted. */
const LOGGED = 20
/** Each gateway checks this often in the interval of the audits whether one is due. */
const CHECKS_PER_AUDIT = 4
const MAX_RECHECK_SECONDS = 10

const nameOf = ({ invariant, organizationId, subject, detail }: Violation): string =>
  JSON.stringify([invariant, organizationId, subject, detail])

const logViolations = Effect.fnUntraced(function* (violations: ReadonlyArray<Violation>) {
  for (const { detail, invariant, organizationId, subject } of violations.slice(0, LOGGED)) {
    yield* Effect.logError("the books are broken", detail).pipe(
      Effect.annotateLogs({ invariant, organization: organizationId, subject })
    )
  }
  if (violations.length > LOGGED) {
    yield* Effect.logError(`and ${violations.length - LOGGED} violations more`)
  }
})

/** The first violation of each organisation, in words. */
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

    /** What is broken at two looks: one is too little to stop an organisation. */
    const brokenTwice = Effect.gen(function* () {
      const first = yield* ledger.verifyOf(yield* ledger.suspects(auditSeconds))
      if (first.length === 0) return []
      const names = new Set(first.map(nameOf))
      yield* Effect.sleep(`${Math.min(checkSeconds, MAX_RECHECK_SECONDS)} seconds`)
      const broken = new Set(first.map(({ organizationId }) => organizationId))
      const second = yield* ledger.verifyOf([...broken])
      return second.filter((violation) => names.has(nameOf(violation)))
    })

    const audit = Effect.gen(function* () {
      const violations = yield* brokenTwice
      yield* logViolations(violations)
      yield* ledger.stopSpending(reasonsOf(violations))
      yield* store.endAudit(violations.length)
    }).pipe(Effect.onError(() => Effect.exit(store.endAudit(null))))

    // The first audit of a gateway that is alone on its database does not rely on one before its start.
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
      // Readiness is degraded after several audits without a result.
      onFailure: (cause) => Effect.logError("ledger audit: run failed", cause),
      metric: ledgerAuditTime
    })
  })
)
