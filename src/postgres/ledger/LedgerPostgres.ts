/**
 * The ledger in PostgreSQL. Movements of money are batched; each batch is one call of a SQL
 * function.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Overloaded } from "../../domain/Errors.ts"
import { transferPrefix } from "../../domain/money/transfers.ts"
import { ownFailure } from "../../domain/VendorOutcome.ts"
import { isTransient } from "../../runtime/databaseErrors.ts"
import { makeMicroBatch } from "../../runtime/microBatch.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Balance,
  type HoldRequest,
  Ledger,
  MemberMonth,
  Pool,
  type Release
} from "../../services/Ledger.ts"
import {
  answerDeposit,
  answerHold,
  DepositOutcome,
  releaseOfAbandoned,
  releaseOrLog,
  unknownOrganization
} from "../../services/ledgerAnswers.ts"
import { ledgerBatchSize } from "../../services/metrics.ts"
import { Distribution } from "../citus/Distribution.ts"
import { retryBriefly, rowOf, rowsOf, withStatementTimeout } from "../client/rows.ts"
import { readJournal } from "./journal.ts"
import { HORIZON, makeAudit } from "./ledgerAudit.ts"
import { type Movement, moveTogether } from "./ledgerBatch.ts"

type Close = Exclude<Movement, { readonly _tag: "Hold" }>

const ExpiredHoldRow = Schema.Struct({ organizationId: Schema.String, id: Schema.String })
const SettlementRow = Schema.Struct({ behind: Schema.Finite })
const ReassignmentRow = Schema.Struct({ isOpen: Schema.Boolean })
const PoolRow = Schema.Struct({ ...Pool.fields, overdraftNano: Schema.NullOr(Schema.BigInt) })
const StoppedRow = Schema.Struct({
  organizationId: Schema.String,
  reason: Schema.NullOr(Schema.String)
})
const DepositRow = Schema.Struct({ outcome: DepositOutcome })

/** The maximum number of movements in one call, of any organisations. */
const MAX_BATCH = 256
/**
 * The maximum number of concurrent calls. Movements of one organisation are in one call at a time,
 * except for retries.
 */
const MAX_CALLS = 4
/**
 * The maximum number of movements, over all organisations, that wait for the database; further
 * holds are refused.
 */
const MAX_QUEUED = 5000

/**
 * The shortest step of a sweep: one statement advances the time of `orders_settled` by one step.
 */
const SHORT_STEP_SECONDS = 60
/**
 * A longer step is this share of the time that the sweep is behind, so that a sweep over months
 * takes seconds.
 */
const STEP_SHARE = 0.05

const overloaded = new Overloaded({
  message: "The service cannot take this order at the moment; nothing was charged",
  retryAfterSeconds: 2
})

const WITHDRAWN = "The order was withdrawn before the vendor was called"

/**
 * Releases a hold whose order has stopped waiting for it. No vendor was called, so the hold must be
 * undone completely.
 */
const withdrawHold = (request: HoldRequest): Release => ({
  organizationId: request.organizationId,
  holdId: request.id,
  by: "withdrawn",
  task:
    request.task === null
      ? null
      : {
          ...(request.task.isWaiting === true
            ? { from: "waiting", state: "failed" }
            : { from: "submitting", state: "rejected" }),
          errorCode: "overloaded",
          errorMessage: WITHDRAWN
        },
  orphan: null,
  failure: ownFailure("withdrawn", WITHDRAWN, "overloaded"),
  answer: null,
  forgetKey: true
})

const LowRow = Schema.Struct({ lowNano: Schema.NullOr(Schema.BigInt) })

export const layerLedger = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const settings = yield* Settings
    const random = yield* SecureRandom.SecureRandom
    const { isDistributed, batchOptions, routeOf } = yield* Distribution
    /** Orders without a task expire at the earliest after this time. */
    const shortestDeadline = Math.min(
      settings.imageDeadlineSeconds,
      settings.textDeadlineSeconds,
      settings.textStreamDeadlineSeconds
    )

    const batch = yield* makeMicroBatch({
      maxItems: MAX_BATCH,
      concurrency: MAX_CALLS,
      ...batchOptions,
      run: (movements: ReadonlyArray<Movement>) =>
        Effect.andThen(
          Metric.update(ledgerBatchSize, movements.length),
          withStatementTimeout(
            moveTogether(
              sql,
              settings.timeZone,
              movements,
              routeOf(movements[0]?.request.organizationId ?? "")
            )
          )
        ),
      isTransient,
      patienceMillis: settings.holdPatienceSeconds * 1000,
      onAbandonedAnswer: (movement, { outcome }) =>
        movement._tag === "Hold" && (outcome === "held" || outcome === "known")
          ? Effect.asVoid(release(withdrawHold(movement.request)))
          : Effect.void
    })

    const hold: Ledger["Service"]["hold"] = Effect.fnUntraced(function* (request) {
      if (batch.queuedCount() >= MAX_QUEUED) return yield* overloaded
      const outcome = yield* batch
        .attempt(request.organizationId, {
          _tag: "Hold",
          request,
          keySeconds: settings.idempotencySeconds
        })
        .pipe(Effect.mapError(() => overloaded))
      if (outcome._tag === "Close") {
        return yield* Effect.die(new Error("a hold was answered as a close"))
      }
      return yield* answerHold(outcome, request, settings.currency)
    })

    const close = Effect.fnUntraced(function* (movement: Close) {
      const { organizationId, holdId } = movement.request
      const row = yield* batch.submit(organizationId, movement)
      if (row._tag === "Hold" || row.state === null) {
        return yield* Effect.die(new Error(`no hold is called ${holdId}`))
      }
      return {
        won: row.outcome === "won",
        state: row.state,
        capturedNano: row.captured,
        overageNano: row.overage
      }
    })

    const settleBy = (seconds: number) =>
      rowOf(SettlementRow)(
        withStatementTimeout(sql`
          SELECT settle_orders(${HORIZON}::interval, make_interval(secs => ${seconds})) AS "behind"`)
      )

    /**
     * Advances the time of `orders_settled` to `HORIZON` ago, one statement per step. The first
     * step of each sweep is short, so that the time advances even if a longer step exceeds its
     * time-out.
     */
    const settle = Effect.gen(function* () {
      let { behind } = yield* settleBy(SHORT_STEP_SECONDS)
      while (behind > 0) {
        ;({ behind } = yield* settleBy(Math.max(SHORT_STEP_SECONDS, behind * STEP_SHARE)))
      }
    })

    const release: Ledger["Service"]["release"] = (request) => close({ _tag: "Release", request })

    const balance: Ledger["Service"]["balance"] = Effect.fn("Ledger.balance")(
      function* (organizationId) {
        const [row] = yield* rowsOf(Balance)(
          retryBriefly(sql`
            SELECT balance AS "balanceNano", held AS "heldNano" FROM pools
             WHERE organization_id = ${organizationId}`)
        )
        return row ?? (yield* unknownOrganization)
      }
    )

    const pool: Ledger["Service"]["pool"] = Effect.fn("Ledger.pool")(function* (organizationId) {
      const [row] = yield* rowsOf(PoolRow)(
        retryBriefly(sql`
          SELECT balance AS "balanceNano", held AS "heldNano", uncovered AS "uncoveredNano",
                 credit AS "creditNano",
                 CASE WHEN holds_on_credit THEN credit END AS "overdraftNano"
            FROM pools WHERE organization_id = ${organizationId}`)
      )
      if (row === undefined) return yield* unknownOrganization
      const { overdraftNano, ...amounts } = row
      return overdraftNano === null ? amounts : { ...amounts, overdraftNano }
    })

    return Ledger.of({
      hold,
      reassign: Effect.fn("Ledger.reassign")(function* ({
        organizationId,
        holdId,
        job,
        cost,
        refusal
      }) {
        const { isOpen } = yield* rowOf(ReassignmentRow)(
          retryBriefly(sql`
            SELECT reassign_order(${organizationId}, ${holdId}, ${sql.json(job)},
                                  ${cost === null ? null : sql.json(cost)},
                                  ${sql.json({ ...refusal })}) AS "isOpen"`)
        )
        return isOpen
      }),
      capture: (request) => close({ _tag: "Capture", request }),
      release,
      deposit: Effect.fn("Ledger.deposit")(function* (organizationId, amountNano, reference) {
        yield* balance(organizationId)
        const id = transferPrefix + (yield* random.uuidV7())
        const { outcome } = yield* rowOf(DepositRow)(
          withStatementTimeout(
            sql`SELECT outcome FROM transfer_funds(${settings.timeZone}, ${organizationId}, ${id}, 'deposit', ${amountNano},
                                                   ${reference}, NULL, NULL, NULL)`
          )
        )
        return yield* answerDeposit(outcome)
      }),
      balance,
      pool,
      memberMonth: Effect.fn("Ledger.memberMonth")((organizationId, memberId) =>
        rowOf(MemberMonth)(
          retryBriefly(sql`
          SELECT b.amount AS "capNano", coalesce(mm.captured, 0) AS "capturedNano",
                 coalesce(mm.held, 0) AS "heldNano"
            FROM members m
            LEFT JOIN budgets b
              ON b.organization_id = m.organization_id AND b.subject_id = m.id AND b.is_cap
            LEFT JOIN member_months mm
              ON mm.organization_id = m.organization_id AND mm.member_id = m.id
             AND mm.month = date_trunc('month', now() AT TIME ZONE ${settings.timeZone})::date
           WHERE m.organization_id = ${organizationId} AND m.id = ${memberId}`)
        )
      ),
      journal: Effect.fn("Ledger.journal")((organizationId, page) =>
        readJournal(sql, organizationId, page)
      ),
      ...makeAudit(sql, { keySeconds: settings.idempotencySeconds, isDistributed }),
      lowBalance: Effect.fn("Ledger.lowBalance")(function* (organizationId) {
        const [row] = yield* rowsOf(LowRow)(
          retryBriefly(sql`
            SELECT low_balance AS "lowNano" FROM pools WHERE organization_id = ${organizationId}`)
        )
        return row === undefined ? yield* unknownOrganization : row.lowNano
      }),
      setLowBalance: Effect.fn("Ledger.setLowBalance")(function* (organizationId, lowNano) {
        const rows = yield* retryBriefly(sql`
          UPDATE pools SET low_balance = ${lowNano}::bigint, low_told = false
           WHERE organization_id = ${organizationId} RETURNING organization_id`)
        if (rows.length === 0) return yield* unknownOrganization
      }),
      stopSpending: Effect.fn("Ledger.stopSpending")(function* (reasons) {
        const stopped = yield* rowsOf(StoppedRow)(
          retryBriefly(sql`
            SELECT organization_id AS "organizationId", stopped_reason AS reason FROM pools
             WHERE stopped_at IS NOT NULL`)
        )
        const before = new Map(
          stopped.map(({ organizationId, reason }) => [organizationId, reason])
        )
        const changed = [...new Set([...reasons.keys(), ...before.keys()])].filter(
          (organizationId) => reasons.get(organizationId) !== before.get(organizationId)
        )
        for (const organizationId of changed) {
          const reason = reasons.get(organizationId) ?? null
          const since = before.has(organizationId) ? sql`stopped_at` : sql`now()`
          yield* retryBriefly(sql`
            UPDATE pools
               SET stopped_at = ${reason === null ? sql`NULL` : since},
                   stopped_reason = ${reason}
             WHERE organization_id = ${organizationId}`)
        }
      }),
      sweepExpiredHolds: Effect.fn("Ledger.sweepExpiredHolds")(function* (scope) {
        yield* settle
        const shortest = scope === "all" ? 0 : shortestDeadline
        const expired = yield* rowsOf(ExpiredHoldRow)(
          withStatementTimeout(sql`
          SELECT organization_id AS "organizationId", id
            FROM left_orders(make_interval(secs => ${shortest}))
           WHERE ${scope === "all" ? sql`true` : sql`expires_at <= now()`}`)
        )
        yield* Effect.forEach(
          expired,
          ({ organizationId, id }) =>
            release(releaseOfAbandoned(organizationId, id)).pipe(releaseOrLog(id)),
          { concurrency: "unbounded", discard: true }
        )
        return expired.length
      })
    })
  })
)
