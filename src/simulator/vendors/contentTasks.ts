import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "../Book.ts"
import { requestId } from "../digest.ts"
import type { MediaLinks } from "../Media.ts"
import { producedVideo, Ratio } from "../rendering.ts"
import { echoOf, isOn, withUsageWord } from "../switches.ts"
import type { Draft, Lifecycle, PollResult } from "../Tasks.ts"
import { type BodyFault, type Desk, isMissingModel, Refusal } from "../Vendor.ts"
import { Content, contentProblem, countBlocks, taskTypeOf, textOf } from "./contentBlocks.ts"
import { makesSeconds } from "./ModelFamily.ts"
import { familyOf } from "./vp_a/families.ts"

/** The request fields that all protocols with content blocks share. */
export const orderFields = {
  model: Schema.NonEmptyString,
  content: Content,
  duration: Schema.optionalKey(Schema.Int),
  ratio: Schema.optionalKey(Ratio),
  generate_audio: Schema.optionalKey(Schema.Boolean)
}
const ContentOrder = Schema.Struct(orderFields)
type ContentOrder = typeof ContentOrder.Type

/** An error response in the vendor's form. */
export const refusal = (
  status: number,
  code: string,
  message: string,
  type: string,
  param?: string
) =>
  new Refusal({
    status,
    body: {
      error: {
        code,
        message: `${message} Request id: ${requestId()}`,
        ...(param === undefined ? {} : { param }),
        type
      }
    }
  })

export const invalidParameter = (param: string, why = "is not valid.") =>
  refusal(
    400,
    "InvalidParameter",
    `The parameter \`${param}\` specified in the request ${why}`,
    "BadRequest",
    param
  )

export const missingParameter = (param: string) =>
  refusal(
    400,
    "MissingParameter",
    `The request is missing the required parameter \`${param}\`.`,
    "BadRequest",
    param
  )

export const ofFault = ({ path, problem }: BodyFault) =>
  problem === "missing" ? missingParameter(path) : invalidParameter(path === "" ? "body" : path)

export const badKey = () =>
  refusal(
    401,
    "AuthenticationError",
    "The API key in the request is missing or invalid.",
    "Unauthorized"
  )

export const noTask = () =>
  refusal(404, "ResourceNotFound", "The specified resource is not found.", "NotFound")

export const sensitiveInput = () =>
  refusal(
    400,
    "InputTextSensitiveContentDetected",
    "The request failed because the input text may contain sensitive information.",
    "BadRequest"
  )

const ownCause = [
  "InternalServiceError",
  "The service met an internal error.",
  "InternalServerError"
] as const

/** Builds a vendor's `refuse`. Vendors differ in the codes for a rate limit and for overload. */
export const refuseWith =
  (rateCode: string, overloadCode?: string) =>
  (status: number): Refusal => {
    switch (status) {
      case 401:
        return badKey()
      case 402:
      case 403:
        return refusal(
          status,
          "AccountOverdueError",
          "The account has an overdue balance.",
          "Forbidden"
        )
      case 404:
        return noTask()
      case 429:
        return refusal(429, rateCode, "The request limit was exceeded.", "TooManyRequests")
      default:
        if (status === 503 && overloadCode !== undefined) {
          return refusal(status, overloadCode, "The service is overloaded.", "TooManyRequests")
        }
        return status >= 500
          ? refusal(status, ...ownCause)
          : refusal(status, "InvalidParameter", "The request is not valid.", "BadRequest")
    }
  }

/**
 * The fault of an order whose fields are each valid by themselves; undefined where there is none.
 */
export const orderFault = (
  { content, model, duration, ratio }: ContentOrder,
  resolution?: string
): Refusal | undefined => {
  const family = familyOf(model)
  const taskType = taskTypeOf(content)
  if (duration !== undefined && !makesSeconds(family, duration)) return invalidParameter("duration")
  if (resolution !== undefined && !family.resolutions.includes(resolution)) {
    return invalidParameter("resolution")
  }
  if (family.modes[taskType] === undefined) {
    const why = `the specified task_type ${taskType} does not support model ${model}.`
    return invalidParameter("task_type", `is not valid: ${why}`)
  }
  const problem = contentProblem(content, family)
  if (problem !== undefined) return invalidParameter("content", problem)
  if (ratio === "adaptive" && taskType === "t2v" && !family.adaptsToText) {
    return invalidParameter(
      "ratio",
      `is not valid: adaptive is not supported for model ${model} in t2v.`
    )
  }
  return isMissingModel(model)
    ? refusal(
        404,
        "InvalidEndpointOrModel.NotFound",
        `The model or endpoint ${model} does not exist or you have no access to it.`,
        "NotFound"
      )
    : undefined
}

/** The draft of the order for the book; `resolution` is null where the API has no such field. */
export const draftOf = (
  { model, content, duration, ratio, generate_audio }: ContentOrder,
  resolution: string | null
) =>
  ({
    kind: "video",
    model,
    prompt: textOf(content),
    order: {
      seconds: duration ?? 5,
      resolution,
      ratio: ratio ?? "16:9",
      n: null,
      size: null,
      inputs: {
        images: countBlocks(content, "image_url"),
        videos: countBlocks(content, "video_url"),
        audios: countBlocks(content, "audio_url")
      },
      generate_audio: familyOf(model).makesSound && (generate_audio ?? true)
    },
    clientToken: null
  }) satisfies Partial<Draft>

export const lifecycle: Lifecycle = {
  runningStatuses: ["queued", "running"],
  reportsCancellation: true,
  productOf: (acceptedEntry) => producedVideo(acceptedEntry, familyOf(acceptedEntry.model))
}

const failures = {
  moderated: {
    code: "OutputVideoSensitiveContentDetected",
    message: "The request failed because the output video may contain sensitive information."
  },
  internal: { code: ownCause[0], message: ownCause[1] }
} as const

const errorOf = (reason: EndedEntry["reason"]) =>
  reason === "moderated" || reason === "internal"
    ? { ...failures[reason], message: `${failures[reason].message} Request id: ${requestId()}` }
    : null

const usageOf = ({ switches }: AcceptedEntry, { produced }: EndedEntry) => {
  const count = produced.completion_tokens ?? 0
  const tokens = isOn(switches, "textusage") ? String(count) : count
  return isOn(switches, "nousage")
    ? {}
    : { usage: { completion_tokens: tokens, total_tokens: tokens } }
}

const unixSeconds = (millis: number) => Math.floor(millis / 1000)

/** How a protocol represents its tasks; `renderResult` gives the fields of finished tasks. */
interface RecordForm {
  readonly idField: string
  readonly renderResult: (
    acceptedEntry: AcceptedEntry,
    endedEntry: EndedEntry
  ) => Effect.Effect<object, never, MediaLinks>
}

type KnownTask = Extract<PollResult, { readonly _tag: "Between" | "Ended" }>

/** The status word of a task; `sim:cancel=WORD` replaces the word of a cancelled task. */
export const statusOf = (pollResult: KnownTask): string => {
  if (pollResult._tag === "Between") return pollResult.status
  const { acceptedEntry, endedEntry } = pollResult
  return endedEntry.event === "cancelled"
    ? acceptedEntry.switches.cancel || endedEntry.event
    : endedEntry.event
}

/**
 * A task as JSON text. It is not an object, because `JSON.stringify` cannot write some of the words
 * of `sim:usage`.
 */
export const recordText = Effect.fnUntraced(function* (
  desk: Desk,
  pollResult: PollResult,
  form: RecordForm
) {
  if (pollResult._tag === "Broken") return yield* desk.refuse(500)
  if (pollResult._tag === "Forgotten") return yield* noTask()
  const { acceptedEntry } = pollResult
  const common = (status: string, updatedAtMillis: number) => ({
    [form.idField]: acceptedEntry.upstream_id,
    model: acceptedEntry.model,
    status,
    ...echoOf(acceptedEntry.switches),
    created_at: unixSeconds(millisOf(acceptedEntry)),
    updated_at: unixSeconds(updatedAtMillis)
  })
  if (pollResult._tag === "Between") {
    return JSON.stringify({ ...common(pollResult.status, millisOf(acceptedEntry)), error: null })
  }
  const { endedEntry } = pollResult
  const body = {
    ...common(statusOf(pollResult), millisOf(endedEntry)),
    error: errorOf(endedEntry.reason)
  }
  if (endedEntry.event !== "succeeded") return JSON.stringify(body)
  const renderResult = yield* form.renderResult(acceptedEntry, endedEntry)
  const text = JSON.stringify({ ...body, ...renderResult, ...usageOf(acceptedEntry, endedEntry) })
  return withUsageWord(text, acceptedEntry.switches, ["completion_tokens"])
})

/** A response whose body is JSON text already. */
export const jsonText = (text: string) =>
  HttpServerResponse.text(text, { contentType: "application/json" })

/** The response to a poll. */
export const pollAnswer = (desk: Desk, pollResult: PollResult, form: RecordForm) =>
  Effect.map(recordText(desk, pollResult, form), jsonText)
