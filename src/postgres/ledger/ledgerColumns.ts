/** Encodes the movements of a batch as the parameters of `move_funds`: a typed array per column. */
import { PgTypes } from "@effect/sql-pg"
import { Schema, Struct } from "effect"
import { storable } from "../../domain/plainText.ts"
import { type Doubt, ReportedUsage } from "../../domain/VendorOutcome.ts"
import { AnsweredCall } from "../../services/CallLog.ts"
import { StoredAnswer } from "../../services/IdempotencyKeys.ts"
import type { Capture, HoldRequest, Release } from "../../services/Ledger.ts"
import type { TaskOutcome } from "../../services/TaskRepo.ts"
import { type Column, columns } from "../client/typedColumns.ts"

export interface NewHold {
  readonly _tag: "Hold"
  readonly request: HoldRequest
  readonly keySeconds: number
}

export type Close =
  | { readonly _tag: "Capture"; readonly request: Capture }
  | { readonly _tag: "Release"; readonly request: Release }

/** With the position of its organisation, counted from 1. */
type Placed<Item> = Item & { readonly place: number }

export interface Movements {
  readonly organizations: ReadonlyArray<string>
  readonly closes: ReadonlyArray<Placed<Close>>
  /** Their ids differ within an organisation. */
  readonly holds: ReadonlyArray<Placed<NewHold>>
}

const encodeCall = Schema.encodeSync(AnsweredCall)
const encodeAnswer = Schema.encodeSync(Schema.fromJsonString(StoredAnswer))

const captureOf = (close: Close) => (close._tag === "Capture" ? close.request : undefined)
const usageOf = (close: Close) => captureOf(close)?.usage
const releaseOf = (close: Close) => (close._tag === "Release" ? close.request : undefined)

const outcomeItem = (task: TaskOutcome) => {
  const { from, state } = task
  if (task.state !== "succeeded") {
    return {
      from,
      state,
      lease: task.lease?.toString() ?? null,
      error_code: storable(task.errorCode),
      error_message: storable(task.errorMessage)
    }
  }
  return task.from === "submitting"
    ? { from, state, result: storable(JSON.stringify(task.result)), files: task.files ?? undefined }
    : {
        from,
        state,
        video_url: storable(task.videoUrl),
        completion_tokens: task.completionTokens?.toString() ?? null
      }
}

const encodeUsage = Schema.encodeSync(ReportedUsage)

const orphanItem = (orphan: Doubt) => ({
  upstream_id: orphan.upstreamId === null ? null : storable(orphan.upstreamId),
  reason: orphan.reason,
  answer: orphan.answer,
  usage: orphan.usage === undefined ? undefined : encodeUsage(orphan.usage)
})

/** Null where the charge cannot exceed the hold. */
const exposureAbove = ({ amountNano, exposureNano = amountNano }: HoldRequest): bigint | null =>
  exposureNano > amountNano ? exposureNano : null

/** Encodes a value that may be absent. */
const mapOrNull = <A, B>(value: A | null | undefined, encode: (value: A) => B): B | null =>
  value === null || value === undefined ? null : encode(value)

const { text, int4, int8, float8, bool, jsonb } = PgTypes.OID

const organizationColumns = {
  p_organizations: [text, (organization: string) => organization]
} as const

const closeColumns = {
  p_close_places: [int4, ({ place }) => place],
  p_closes: [text, ({ request }) => request.holdId],
  p_charges: [int8, (close) => captureOf(close)?.chargeNano],
  p_closers: [text, ({ request }) => request.by],
  p_inputs: [int8, (close) => usageOf(close)?.input],
  p_outputs: [int8, (close) => usageOf(close)?.output],
  p_units: [text, (close) => usageOf(close)?.unit],
  p_unit_prices: [int8, (close) => usageOf(close)?.unitPriceNano],
  p_input_unit_prices: [int8, (close) => usageOf(close)?.inputUnitPriceNano],
  p_bases: [text, (close) => usageOf(close)?.basis],
  p_costs: [int8, (close) => captureOf(close)?.costNano],
  p_calls: [jsonb, (close) => mapOrNull(captureOf(close)?.call, encodeCall)],
  p_task_ends: [jsonb, ({ request }) => mapOrNull(request.task, outcomeItem)],
  p_orphans: [jsonb, ({ request }) => mapOrNull(request.orphan, orphanItem)],
  p_answers: [text, ({ request }) => mapOrNull(request.answer, encodeAnswer)],
  p_forgotten: [bool, (close) => (releaseOf(close)?.forgetKey === true ? true : null)]
} as const satisfies Record<string, Column<Placed<Close>>>

const holdColumns = {
  p_hold_places: [int4, ({ place }) => place],
  p_holds: [text, ({ request }) => request.id],
  p_members: [text, ({ request }) => request.memberId],
  p_api_keys: [text, ({ request }) => request.keyId],
  p_models: [text, ({ request }) => request.model],
  p_modalities: [text, ({ request }) => request.modality],
  p_amounts: [int8, ({ request }) => request.amountNano],
  p_exposures: [int8, ({ request }) => exposureAbove(request)],
  p_seconds: [float8, ({ request }) => request.ttlSeconds],
  p_quotes: [jsonb, ({ request }) => request.quote],
  p_cost_quotes: [jsonb, ({ request }) => request.cost],
  p_jobs: [jsonb, ({ request }) => request.job],
  p_metadatas: [jsonb, ({ request }) => request.metadata],
  p_prompt_digests: [text, ({ request }) => request.promptDigest],
  p_tasks: [jsonb, ({ request }) => request.task],
  p_keys: [
    jsonb,
    ({ request, keySeconds }) =>
      mapOrNull(request.key, (key) => ({ ...key, ttl_seconds: keySeconds }))
  ]
} as const satisfies Record<string, Column<Movements["holds"][number]>>

/** The names of the parameters, in the order of `columnsOf`; `move_funds` skips a parameter that is null. */
export const columnNames: ReadonlyArray<string> = [
  ...Struct.keys(organizationColumns),
  ...Struct.keys(closeColumns),
  ...Struct.keys(holdColumns)
]

export const columnsOf = (moved: Movements): ReadonlyArray<PgTypes.Parameter> => [
  ...columns(organizationColumns, moved.organizations),
  ...columns<Placed<Close>>(closeColumns, moved.closes),
  ...columns<Movements["holds"][number]>(holdColumns, moved.holds)
]
