/** What goes into a ledger batch and what comes back, and the one call that makes it so. */
import { type PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Result, Schema } from "effect"
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

type Close = Exclude<Movement, { readonly _tag: "Hold" }>["request"]
type NewHold = Extract<Movement, { readonly _tag: "Hold" }>

const taskItem = (task: NewTask) => ({
  key_id: task.keyId,
  model: task.model,
  listed_protocol: task.listedProtocol,
  summary: task.summary,
  submit_seconds: task.submitSeconds
})

const jobItem = (job: HoldRequest["job"]) => ({
  channel_id: job.channelId,
  protocol: job.protocol,
  upstream_model: job.upstreamModel
})

const outcomeItem = (task: TaskOutcome) => ({
  from: task.from,
  state: task.state,
  lease: task.state === "succeeded" ? null : (task.lease?.toString() ?? null),
  video_url: task.state === "succeeded" ? storable(task.videoUrl) : null,
  completion_tokens:
    task.state === "succeeded" ? (task.completionTokens?.toString() ?? null) : null,
  error_code: task.state === "succeeded" ? null : storable(task.errorCode),
  error_message: task.state === "succeeded" ? null : storable(task.errorMessage)
})

const orphanItem = (orphan: Orphan) => ({
  upstream_id: orphan.upstreamId === null ? null : storable(orphan.upstreamId),
  reason: orphan.reason
})

/** A column of the items, or null when it is null for each of them. */
const column =
  (elementOid: number) =>
  <Item>(items: ReadonlyArray<Item>, of: (item: Item) => unknown): PgTypes.Parameter => {
    let empty = true
    const values = items.map((item) => {
      const value = of(item) ?? null
      if (value !== null) empty = false
      return value
    })
    return Result.getOrThrow(PgTypes.array(empty ? null : values, elementOid))
  }

const texts = column(PgTypes.OID.text)
const integers = column(PgTypes.OID.int8)
const floats = column(PgTypes.OID.float8)
const flags = column(PgTypes.OID.bool)
const documents = column(PgTypes.OID.jsonb)

const usageOf = (close: Close): UsageEntry | null => ("usage" in close ? close.usage : null)

const closeColumns = (closes: ReadonlyArray<Close>) => [
  texts(closes, ({ holdId }) => holdId),
  integers(closes, (close) => ("usage" in close ? close.chargeNano : null)),
  texts(closes, ({ by }) => by),
  texts(closes, (close) => usageOf(close)?.keyId),
  texts(closes, (close) => usageOf(close)?.taskId),
  texts(closes, (close) => usageOf(close)?.model),
  texts(closes, (close) => usageOf(close)?.modality),
  integers(closes, (close) => usageOf(close)?.input),
  integers(closes, (close) => usageOf(close)?.output),
  texts(closes, (close) => usageOf(close)?.unit),
  integers(closes, (close) => usageOf(close)?.unitPriceNano),
  integers(closes, (close) => usageOf(close)?.inputUnitPriceNano),
  texts(closes, (close) => usageOf(close)?.basis),
  documents(closes, ({ task }) => (task === null ? null : outcomeItem(task))),
  documents(closes, (close) =>
    "usage" in close || close.orphan === null ? null : orphanItem(close.orphan)
  ),
  texts(closes, ({ answer }) => (answer === null ? null : encodeAnswer(answer))),
  flags(closes, (close) => ("usage" in close || !close.forgetKey ? null : true))
]

const holdColumns = (holds: ReadonlyArray<NewHold>) => [
  texts(holds, ({ request }) => request.id),
  texts(holds, ({ request }) => request.memberId),
  integers(holds, ({ request }) => request.amountNano),
  floats(holds, ({ request }) => request.ttlSeconds),
  documents(holds, ({ request }) => request.quote),
  documents(holds, ({ request }) => jobItem(request.job)),
  documents(holds, ({ request }) => (request.task === null ? null : taskItem(request.task))),
  documents(holds, ({ request, keySeconds }) =>
    request.key === null ? null : { ...request.key, ttl_seconds: keySeconds }
  ),
  texts([...new Set(holds.map(({ request }) => request.memberId))], (member) => member)
]

/** One call, one commit, for movements of one organisation; answers in their order. */
export const moveTogether = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  timeZone: string,
  organizationId: string,
  movements: ReadonlyArray<Movement>
) {
  const closes: Array<Close> = []
  const holds: Array<NewHold> = []
  const held = new Map<string, number>()
  const places = movements.map((movement) => {
    if (movement._tag !== "Hold") return closes.push(movement.request) - 1
    const known = held.get(movement.request.id)
    if (known !== undefined) return known
    const place = holds.push(movement) - 1
    held.set(movement.request.id, place)
    return place
  })
  const columns = [...closeColumns(closes), ...holdColumns(holds)]
  const [row] = yield* decodeOutcomes(
    sql`SELECT * FROM move_money(${organizationId}, ${timeZone}, ${sql.csv(
      columns.map((c) => sql`${c}`)
    )})`
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
