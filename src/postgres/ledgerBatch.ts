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

const list = <S extends Schema.Top>(item: S) => Schema.NullOr(Schema.Array(item))
const amounts = list(Schema.NullOr(Schema.BigInt))

const Outcomes = Schema.Struct({
  close_outcomes: list(Schema.Literals(["won", "closed", "stale", "unknown"])),
  close_states: list(Schema.NullOr(Schema.Literals(["open", "captured", "released"]))),
  close_captured: amounts,
  close_overage: amounts,
  hold_outcomes: list(
    Schema.Literals([
      "held",
      "known",
      "key_used",
      "stopped",
      "unknown_member",
      "member_cap_exceeded",
      "insufficient_balance"
    ])
  ),
  hold_caps: amounts,
  hold_used: amounts,
  available: Schema.NullOr(Schema.BigInt),
  cap_ends_at: Schema.Date
})

/** What became of one movement; the amounts are those the outcome is about. */
export type Moved =
  | {
      readonly _tag: "Close"
      readonly outcome: "won" | "closed" | "stale" | "unknown"
      readonly state: "open" | "captured" | "released" | null
      readonly captured: bigint
      readonly overage: bigint
    }
  | {
      readonly _tag: "Hold"
      readonly outcome:
        | "held"
        | "known"
        | "key_used"
        | "stopped"
        | "unknown_member"
        | "member_cap_exceeded"
        | "insufficient_balance"
      readonly available: bigint
      readonly cap: bigint
      readonly used: bigint
      readonly capEndsAt: Date
    }

const decodeOutcomes = decodeRows(Outcomes)
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
        lease: task.state === "succeeded" ? null : (task.lease?.toString() ?? null),
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
  input_unit_price: usage.inputUnitPriceNano?.toString() ?? null,
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

/** Where an item stands among those of its kind; an id that comes twice is held once. */
const addOnce = (items: Array<object>, places: Map<string, number>, id: string, item: object) => {
  const known = places.get(id)
  if (known !== undefined) return known
  const place = items.push(item) - 1
  places.set(id, place)
  return place
}

/** One call, one commit, for movements of one organisation; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  organizationId: string,
  movements: ReadonlyArray<Movement>
) {
  const closes: Array<object> = []
  const holds: Array<object> = []
  const held = new Map<string, number>()
  const places = movements.map((movement) => {
    if (movement._tag !== "Hold") {
      const item =
        movement._tag === "Capture" ? captureItem(movement.request) : releaseItem(movement.request)
      return closes.push(item) - 1
    }
    const { request, keySeconds } = movement
    return addOnce(holds, held, request.id, holdItem(request, keySeconds))
  })
  const [row] = yield* decodeOutcomes(
    sql`SELECT * FROM ledger_batch(
      ${organizationId}, ${timeZone}, ${sql.json(closes)}, ${sql.json(holds)})`
  )
  return movements.flatMap((movement, index): ReadonlyArray<Moved> => {
    const place = places[index] ?? -1
    if (movement._tag === "Hold") {
      const outcome = row?.hold_outcomes?.[place]
      return row === undefined || outcome === undefined
        ? []
        : [
            {
              _tag: "Hold",
              outcome,
              available: row.available ?? 0n,
              cap: row.hold_caps?.[place] ?? 0n,
              used: row.hold_used?.[place] ?? 0n,
              capEndsAt: row.cap_ends_at
            }
          ]
    }
    const outcome = row?.close_outcomes?.[place]
    return outcome === undefined
      ? []
      : [
          {
            _tag: "Close",
            outcome,
            state: row?.close_states?.[place] ?? null,
            captured: row?.close_captured?.[place] ?? 0n,
            overage: row?.close_overage?.[place] ?? 0n
          }
        ]
  })
})
