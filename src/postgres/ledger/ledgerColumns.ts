/**
 * The movements of a batch as parameters of `move_funds`: arrays of its types `order_close` and
 * `order_hold`.
 */
import { PgTypes } from "@effect/sql-pg"
import { Schema } from "effect"
import { ChargePart } from "../../domain/money/chargeParts.ts"
import { VendorBill } from "../../domain/money/vendorBill.ts"
import { storable } from "../../domain/plainText.ts"
import { type Doubt, OrderFailure, ReportedUsage } from "../../domain/VendorOutcome.ts"
import type { VideoStills } from "../../domain/video/videoStills.ts"
import { AnsweredCall } from "../../services/CallLog.ts"
import { StoredAnswer } from "../../services/IdempotencyKeys.ts"
import type { Capture, HoldRequest, Release } from "../../services/Ledger.ts"
import type { TaskOutcome } from "../../services/TaskRepo.ts"
import { type Column, columns, compositeArray } from "../client/typedColumns.ts"

export interface NewHold {
  readonly _tag: "Hold"
  readonly request: HoldRequest
  readonly keySeconds: number
}

export type Close =
  | { readonly _tag: "Capture"; readonly request: Capture }
  | { readonly _tag: "Release"; readonly request: Release }

const encodeCall = Schema.encodeSync(AnsweredCall)
const encodeAnswer = Schema.encodeSync(Schema.fromJsonString(StoredAnswer))

const captureOf = (close: Close) => (close._tag === "Capture" ? close.request : undefined)
const usageOf = (close: Close) => captureOf(close)?.usage
const releaseOf = (close: Close) => (close._tag === "Release" ? close.request : undefined)

const storableStills = (stills: VideoStills) =>
  Object.fromEntries(Object.entries(stills).map(([name, url]) => [name, storable(url)]))

const taskEnd = (task: TaskOutcome) => {
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
        stills: task.stills === undefined ? undefined : storableStills(task.stills),
        completion_tokens: task.completionTokens?.toString() ?? null
      }
}

const encodeDetails = Schema.encodeSync(
  Schema.Struct({
    parts: Schema.optionalKey(Schema.Array(ChargePart)),
    vendor_bill: Schema.optionalKey(VendorBill),
    reported_cost: Schema.optionalKey(Schema.BigIntFromString),
    failure: Schema.optionalKey(OrderFailure)
  })
)

/** The text without characters that the database does not store. */
const storableOrNull = (value: string | null) => (value === null ? null : storable(value))

const encodeFailure = (failure: OrderFailure) =>
  encodeDetails({
    failure: {
      ...failure,
      message: storableOrNull(failure.message),
      vendorMessage: storableOrNull(failure.vendorMessage)
    }
  })

/** The columns that most charges leave null; null where all are. */
const chargeDetailsOf = ({
  usage: { parts = [] },
  vendorBill = null,
  reportedCostNano = null
}: Capture) =>
  parts.length === 0 && vendorBill === null && reportedCostNano === null
    ? null
    : encodeDetails({
        ...(parts.length === 0 ? {} : { parts }),
        ...(vendorBill === null ? {} : { vendor_bill: vendorBill }),
        ...(reportedCostNano === null ? {} : { reported_cost: reportedCostNano })
      })

const encodeUsage = Schema.encodeSync(ReportedUsage)

const orphanOf = (orphan: Doubt) => ({
  upstream_id: orphan.upstreamId === null ? null : storable(orphan.upstreamId),
  reason: orphan.reason,
  answer: orphan.answer,
  usage: orphan.usage === undefined ? undefined : encodeUsage(orphan.usage)
})

/** The largest possible charge of the order; null where it does not exceed the hold. */
const exposureAbove = ({ amountNano, exposureNano = amountNano }: HoldRequest): bigint | null =>
  exposureNano > amountNano ? exposureNano : null

/** Applies the function to a value; null and undefined become null. */
const mapNullable = <A, B>(value: A | null | undefined, map: (value: A) => B): B | null =>
  value === null || value === undefined ? null : map(value)

const { text, int8, float8, bool, jsonb } = PgTypes.OID

/** The columns, in the order of the attributes of `order_close`. */
export const closeColumns = {
  organization_id: [text, ({ request }) => request.organizationId],
  order_id: [text, ({ request }) => request.holdId],
  closed_by: [text, ({ request }) => request.by],
  charge: [int8, (close) => captureOf(close)?.chargeNano],
  input: [int8, (close) => usageOf(close)?.input],
  output: [int8, (close) => usageOf(close)?.output],
  unit: [text, (close) => usageOf(close)?.unit],
  unit_price: [int8, (close) => usageOf(close)?.unitPriceNano],
  input_unit_price: [int8, (close) => usageOf(close)?.inputUnitPriceNano],
  basis: [text, (close) => usageOf(close)?.basis],
  cost: [int8, (close) => captureOf(close)?.costNano],
  call: [jsonb, (close) => mapNullable(captureOf(close)?.call, encodeCall)],
  details: [
    jsonb,
    (close) =>
      close._tag === "Capture"
        ? chargeDetailsOf(close.request)
        : mapNullable(close.request.failure, encodeFailure)
  ],
  task_end: [jsonb, ({ request }) => mapNullable(request.task, taskEnd)],
  orphan: [jsonb, ({ request }) => mapNullable(request.orphan, orphanOf)],
  answer: [text, ({ request }) => mapNullable(request.answer, encodeAnswer)],
  frees_key: [bool, (close) => (releaseOf(close)?.forgetKey === true ? true : null)]
} as const satisfies Record<string, Column<Close>>

/** The columns, in the order of the attributes of `order_hold`. */
export const holdColumns = {
  organization_id: [text, ({ request }) => request.organizationId],
  id: [text, ({ request }) => request.id],
  member_id: [text, ({ request }) => request.memberId],
  key_id: [text, ({ request }) => request.keyId],
  model: [text, ({ request }) => request.model],
  modality: [text, ({ request }) => request.modality],
  price_list_id: [text, ({ request }) => request.priceList],
  amount: [int8, ({ request }) => request.amountNano],
  exposure: [int8, ({ request }) => exposureAbove(request)],
  ttl_seconds: [float8, ({ request }) => request.ttlSeconds],
  quote: [jsonb, ({ request }) => request.quote],
  job: [jsonb, ({ request }) => request.job],
  cost_quote: [jsonb, ({ request }) => request.cost],
  metadata: [jsonb, ({ request }) => request.metadata],
  prompt_digest: [text, ({ request }) => request.promptDigest],
  task: [jsonb, ({ request }) => request.task],
  key: [
    jsonb,
    ({ request, keySeconds }) =>
      mapNullable(request.key, (key) => ({ ...key, ttl_seconds: keySeconds }))
  ]
} as const satisfies Record<string, Column<NewHold>>

const FIRST_CLOSE = 3
const FIRST_HOLD = FIRST_CLOSE + Object.keys(closeColumns).length

/** The text of the statement never changes, so that each connection prepares it only once. */
export const moveFunds = `
  SELECT * FROM move_funds(
    p_time_zone => $1, p_organization => $2,
    p_closes => ${compositeArray("order_close", closeColumns, FIRST_CLOSE)},
    p_holds => ${compositeArray("order_hold", holdColumns, FIRST_HOLD)})`

/** The parameters of `moveFunds`. The ids of the holds must be distinct within an organisation. */
export const parametersOf = (
  timeZone: string,
  route: string | null,
  closes: ReadonlyArray<Close>,
  holds: ReadonlyArray<NewHold>
): ReadonlyArray<unknown> => [
  timeZone,
  route,
  ...columns<Close>(closeColumns, closes),
  ...columns<NewHold>(holdColumns, holds)
]
