/** The ledger in PostgreSQL: each movement of money is one call of one SQL function. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Schema } from "effect"
import {
  IdempotencyMismatch,
  InsufficientBalance,
  InvalidRequest,
  MemberCapExceeded,
  NotFound
} from "../domain/Errors.ts"
import { formatNano } from "../domain/Money.ts"
import { storable } from "../domain/text.ts"
import {
  type Capture,
  type Closed,
  type HoldRequest,
  Ledger,
  type Orphan,
  type Release,
  type UsageEntry
} from "../services/Ledger.ts"
import { Settings } from "../services/Settings.ts"
import type { NewTask, TaskOutcome } from "../services/TaskRepo.ts"
import { readJournal } from "./journal.ts"
import { repeatable, rowOf, rowsOf } from "./rows.ts"
import { makeStopSpending } from "./spendingStops.ts"

const Held = Schema.Struct({
  id: Schema.String,
  outcome: Schema.Literals([
    "held",
    "known",
    "insufficient_balance",
    "member_cap_exceeded",
    "unknown_member"
  ]),
  available: Schema.NullOr(Schema.BigInt),
  cap: Schema.NullOr(Schema.BigInt),
  used: Schema.NullOr(Schema.BigInt),
  cap_ends_at: Schema.Date
})

const ClosedRow = Schema.Struct({
  id: Schema.String,
  won: Schema.Boolean,
  state: Schema.Literals(["captured", "released"]),
  captured: Schema.BigInt,
  overage: Schema.BigInt
})

const Deposited = Schema.Struct({
  outcome: Schema.Literals(["applied", "repeated", "mismatch", "too_large"])
})

const BalanceRow = Schema.Struct({ balance: Schema.BigInt, held: Schema.BigInt })

const MonthRow = Schema.Struct({
  cap: Schema.NullOr(Schema.BigInt),
  captured: Schema.BigInt,
  held: Schema.BigInt
})

const ViolationRow = Schema.Struct({
  invariant: Schema.String,
  organization_id: Schema.String,
  subject: Schema.String,
  detail: Schema.String
})

const holdItem = (request: HoldRequest) => ({
  id: request.id,
  member_id: request.memberId,
  amount: request.amountNano.toString(),
  ttl_seconds: request.ttlSeconds,
  quote: request.quote,
  job: {
    channel_id: request.job.channelId,
    protocol: request.job.protocol,
    upstream_model: request.job.upstreamModel
  },
  task: request.task === null ? null : taskItem(request.task)
})

const taskItem = (task: NewTask) => ({
  key_id: task.keyId,
  model: task.model,
  listed_protocol: task.listedProtocol,
  summary: task.summary,
  submit_seconds: task.submitSeconds
})

const outcomeItem = (task: TaskOutcome | null) =>
  task === null
    ? null
    : {
        from: task.from,
        state: task.state,
        video_url: task.state === "succeeded" ? storable(task.videoUrl) : null,
        completion_tokens:
          task.state === "succeeded" ? (task.completionTokens?.toString() ?? null) : null,
        error_code: task.state === "succeeded" ? null : storable(task.errorCode),
        error_message: task.state === "succeeded" ? null : storable(task.errorMessage)
      }

const usageItem = (holdId: string, usage: UsageEntry) => ({
  id: `us_${holdId}`,
  key_id: usage.keyId,
  task_id: usage.taskId,
  model: usage.model,
  modality: usage.modality,
  input: usage.input.toString(),
  output: usage.output.toString(),
  unit: usage.unit,
  unit_price: usage.unitPriceNano.toString(),
  basis: usage.basis
})

const orphanItem = (orphan: Orphan | null) =>
  orphan === null
    ? null
    : {
        upstream_id: orphan.upstreamId === null ? null : storable(orphan.upstreamId),
        reason: orphan.reason
      }

export const layerLedger = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const settings = yield* Settings

    const hold: Ledger["Service"]["hold"] = Effect.fn("Ledger.hold")(function* (request) {
      const held = yield* rowOf(Held)(
        repeatable(sql`SELECT * FROM hold_funds(
          ${request.organizationId}, ${settings.timeZone}, ${sql.json([holdItem(request)])})`)
      )
      const required = formatNano(request.amountNano)
      switch (held.outcome) {
        case "held":
        case "known":
          return
        case "insufficient_balance": {
          const available = formatNano(held.available ?? 0n)
          return yield* new InsufficientBalance({
            message: `This request needs ${required} ${settings.currency}, and ${available} is available`,
            required,
            available
          })
        }
        case "member_cap_exceeded": {
          const cap = formatNano(held.cap ?? 0n)
          const used = formatNano(held.used ?? 0n)
          const waitMillis = held.cap_ends_at.getTime() - (yield* Clock.currentTimeMillis)
          return yield* new MemberCapExceeded({
            message:
              `This request needs ${required} ${settings.currency}; of this month's cap of ${cap}, ` +
              `${used} is used. The next month begins at ${held.cap_ends_at.toISOString()}`,
            cap,
            used,
            required,
            retryAfterSeconds: Math.max(1, Math.ceil(waitMillis / 1000))
          })
        }
        case "unknown_member":
          return yield* Effect.die(new Error(`no member ${request.memberId} in its organisation`))
      }
    })

    const close = (organizationId: string, item: object) =>
      Effect.map(
        rowOf(ClosedRow)(
          repeatable(sql`SELECT * FROM close_holds(${organizationId}, ${sql.json([item])})`)
        ),
        (row): Closed => ({
          won: row.won,
          state: row.state,
          capturedNano: row.captured,
          overageNano: row.overage
        })
      )

    const capture: Ledger["Service"]["capture"] = Effect.fn("Ledger.capture")((request: Capture) =>
      close(request.organizationId, {
        id: request.holdId,
        by: request.by,
        charge: request.chargeNano.toString(),
        usage: usageItem(request.holdId, request.usage),
        task: outcomeItem(request.task),
        orphan: null
      })
    )

    const release: Ledger["Service"]["release"] = Effect.fn("Ledger.release")((request: Release) =>
      close(request.organizationId, {
        id: request.holdId,
        by: request.by,
        charge: null,
        usage: null,
        task: outcomeItem(request.task),
        orphan: orphanItem(request.orphan)
      })
    )

    const balance: Ledger["Service"]["balance"] = Effect.fn("Ledger.balance")(
      function* (organizationId) {
        const [row] = yield* rowsOf(BalanceRow)(
          repeatable(sql`SELECT balance, held FROM pools WHERE organization_id = ${organizationId}`)
        )
        return row === undefined
          ? yield* new NotFound({ message: "No such organisation" })
          : { balanceNano: row.balance, heldNano: row.held }
      }
    )

    const deposit: Ledger["Service"]["deposit"] = Effect.fn("Ledger.deposit")(
      function* (organizationId, amountNano, reference) {
        yield* balance(organizationId)
        const { outcome } = yield* rowOf(Deposited)(
          sql`SELECT deposit(${organizationId}, ${amountNano}, ${reference}) AS outcome`
        )
        switch (outcome) {
          case "applied":
            return true
          case "repeated":
            return false
          case "mismatch":
            return yield* new IdempotencyMismatch({
              message: "This reference was deposited before with another amount",
              param: "reference"
            })
          case "too_large":
            return yield* new InvalidRequest({
              message: "amount: The pool would hold more than it can count",
              param: "amount"
            })
        }
      }
    )

    const memberMonth: Ledger["Service"]["memberMonth"] = Effect.fn("Ledger.memberMonth")(
      function* (organizationId, memberId) {
        const row = yield* rowOf(MonthRow)(
          repeatable(sql`
          SELECT m.monthly_cap AS cap, coalesce(mm.captured, 0) AS captured,
                 coalesce(mm.held, 0) AS held
            FROM members m
            LEFT JOIN member_months mm
              ON mm.organization_id = m.organization_id AND mm.member_id = m.id
             AND mm.month = date_trunc('month', now() AT TIME ZONE ${settings.timeZone})::date
           WHERE m.organization_id = ${organizationId} AND m.id = ${memberId}`)
        )
        return { capNano: row.cap, capturedNano: row.captured, heldNano: row.held }
      }
    )

    const journal: Ledger["Service"]["journal"] = Effect.fn("Ledger.journal")(
      (organizationId, page) => readJournal(sql, organizationId, page)
    )

    const verify = Effect.gen(function* () {
      // It reads everything there is, which may take longer than a statement of a request may.
      yield* sql`SET LOCAL statement_timeout = '120s'`
      const rows = yield* rowsOf(ViolationRow)(
        // The first of every organisation come first, so that one cannot hide the others.
        sql`
        SELECT invariant, organization_id, subject, detail
          FROM (SELECT *, row_number() OVER (PARTITION BY organization_id
                                             ORDER BY invariant, detail, subject) AS nth
                  FROM ledger_audit) broken
         ORDER BY nth, organization_id LIMIT 1000`
      )
      return rows.map((row) => ({
        invariant: row.invariant,
        organizationId: row.organization_id,
        subject: row.subject,
        detail: row.detail
      }))
    }).pipe(sql.withTransaction, Effect.orDie)

    const sweepImages: Ledger["Service"]["sweepImages"] = Effect.fn("Ledger.sweepImages")(
      function* (scope) {
        const left = yield* rowsOf(
          Schema.Struct({ organization_id: Schema.String, id: Schema.String })
        )(sql`
          SELECT h.organization_id, h.id FROM holds h
           WHERE h.state = 'open' AND ${scope === "all" ? sql`true` : sql`h.expires_at <= now()`}
             AND NOT EXISTS (SELECT 1 FROM tasks t
                              WHERE t.organization_id = h.organization_id AND t.id = h.id)`)
        const orphan = { upstreamId: null, reason: "gateway_stopped" }
        yield* Effect.forEach(left, ({ organization_id, id }) =>
          Effect.catchCause(
            release({
              organizationId: organization_id,
              holdId: id,
              by: "sweep",
              task: null,
              orphan
            }),
            (cause) => Effect.logError("a hold could not be given back", id, cause)
          )
        )
        return left.length
      }
    )

    return Ledger.of({
      hold,
      capture,
      release,
      deposit,
      balance,
      memberMonth,
      journal,
      verify,
      stopSpending: makeStopSpending(sql),
      sweepImages
    })
  })
)
