/** What goes into a ledger batch and what comes back, and the one call that makes it so. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { storable } from "../domain/text.ts"
import type { Capture, HoldRequest, Orphan, Release, UsageEntry } from "../services/Ledger.ts"
import { StoredAnswer } from "../services/Repeats.ts"
import type { NewTask, TaskOutcome } from "../services/TaskRepo.ts"
import { decodeRows } from "./rows.ts"

export type Movement =
  | { readonly _tag: "Hold"; readonly request: HoldRequest; readonly keySeconds: number }
  | { readonly _tag: "Capture"; readonly request: Capture }
  | { readonly _tag: "Release"; readonly request: Release }

const OutcomeRow = Schema.Struct({
  is_hold: Schema.Boolean,
  place: Schema.Int,
  outcome: Schema.Literals([
    "held",
    "known",
    "key_used",
    "stopped",
    "unknown_member",
    "member_cap_exceeded",
    "insufficient_balance",
    "won",
    "closed",
    "stale",
    "unknown"
  ]),
  state: Schema.NullOr(Schema.Literals(["open", "captured", "released"])),
  captured: Schema.NullOr(Schema.BigInt),
  overage: Schema.NullOr(Schema.BigInt),
  available: Schema.NullOr(Schema.BigInt),
  cap: Schema.NullOr(Schema.BigInt),
  used: Schema.NullOr(Schema.BigInt),
  cap_ends_at: Schema.NullOr(Schema.Date)
})
export type Outcome = typeof OutcomeRow.Type

const decodeOutcomes = decodeRows(OutcomeRow)
const encodeAnswer = Schema.encodeSync(Schema.fromJsonString(StoredAnswer))

const taskItem = (task: NewTask) => ({
  key_id: task.keyId,
  model: task.model,
  listed_protocol: task.listedProtocol,
  summary: task.summary,
  submit_seconds: task.submitSeconds
})

const holdItem = (request: HoldRequest, keySeconds: number) => ({
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
  task: request.task === null ? null : taskItem(request.task),
  key: request.key === null ? null : { ...request.key, ttl_seconds: keySeconds }
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

const closeItem = (request: Capture | Release) => ({
  id: request.holdId,
  by: request.by,
  task: outcomeItem(request.task),
  ...(request.answer === null ? {} : { answer: encodeAnswer(request.answer) })
})

const captureItem = (request: Capture) => ({
  ...closeItem(request),
  charge: request.chargeNano.toString(),
  usage: usageItem(request.holdId, request.usage)
})

const releaseItem = (request: Release) => ({
  ...closeItem(request),
  charge: null,
  orphan: orphanItem(request.orphan),
  ...(request.forgetKey ? { forget_key: true } : {})
})

/** One call, one commit, for movements of one organisation; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  organizationId: string,
  movements: ReadonlyArray<Movement>
) {
  const closes: Array<object> = []
  const holds: Array<object> = []
  const places = movements.map((movement) =>
    movement._tag === "Hold"
      ? `hold ${holds.push(holdItem(movement.request, movement.keySeconds))}`
      : `close ${closes.push(
          movement._tag === "Capture"
            ? captureItem(movement.request)
            : releaseItem(movement.request)
        )}`
  )
  const rows = yield* decodeOutcomes(
    sql`SELECT * FROM ledger_batch(
      ${organizationId}, ${timeZone}, ${sql.json(closes)}, ${sql.json(holds)})`
  )
  const byPlace = new Map(
    rows.map((row) => [`${row.is_hold ? "hold" : "close"} ${row.place}`, row])
  )
  return yield* Effect.forEach(places, (place) => {
    const row = byPlace.get(place)
    return row === undefined
      ? Effect.die(new Error("the ledger left a movement out"))
      : Effect.succeed(row)
  })
})
