import { Effect, type Schema } from "effect"
import { type Headers, HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "../Book.ts"
import { requestId } from "../digest.ts"
import type { MediaLinks } from "../Media.ts"
import { withUsageWord } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import { type BodyFault, type Desk, Refusal } from "../Vendor.ts"

/** The error response of every service of the cloud; its body has no nested object. */
const refusal = (status: number, code: string, message: string) =>
  new Refusal({ status, body: { code, message, request_id: requestId() } })

export const invalid = (message: string) => refusal(400, "InvalidParameter", message)

const emptyParts: Readonly<Record<string, string>> = {
  model: "BadRequest.EmptyModel",
  input: "BadRequest.EmptyInput",
  parameters: "BadRequest.EmptyParameters"
}

export const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") return invalid("The request body is not a JSON object")
  switch (problem) {
    case "missing":
      return refusal(400, emptyParts[path] ?? "InvalidParameter", `Field required: ${path}`)
    case "unexpected":
      return invalid(`Field not supported by the model: ${path}`)
    case "invalid":
      return invalid(`Field not valid: ${path}`)
  }
}

const causes: Readonly<Record<number, readonly [code: string, message: string]>> = {
  401: ["InvalidApiKey", "Invalid API-key provided."],
  402: ["Arrearage", "The account is in arrears."],
  403: ["AccessDenied", "Access denied."],
  404: ["ModelNotFound", "The model or the address does not exist."],
  408: ["RequestTimeOut", "The request timed out."],
  413: ["BadRequest.TooLarge", "The request is too large."],
  429: ["Throttling.RateQuota", "The request rate limit was exceeded."],
  504: ["InternalError.Timeout", "The service timed out inside."]
}
const otherCause = ["InvalidParameter", "The request is not valid."] as const
const ownCause = ["InternalError", "The service met an internal error."] as const

export const refuse = (status: number): Refusal =>
  refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

export const noModel = (model: string) =>
  refusal(404, "ModelNotFound", `The model ${model} does not exist.`)

const inspectionMessage = "may contain inappropriate content."

export const moderatedInput = () =>
  refusal(400, "DataInspectionFailed", `Input data ${inspectionMessage}`)

export const moderatedOutput = () =>
  refusal(400, "DataInspectionFailed", `Output data ${inspectionMessage}`)

const asyncHeader = "X-DashScope-Async"

export const isAsyncRequest = (headers: Headers.Headers): boolean =>
  headers[asyncHeader.toLowerCase()]?.trim() === "enable"

export const notSynchronous = () =>
  refusal(403, "AccessDenied", "current user api does not support synchronous calls.")

export const notAsynchronous = () =>
  refusal(403, "AccessDenied", "current user api does not support asynchronous calls.")

/** A timestamp such as `2026-01-01 12:00:00.100`, without a time zone. */
const stamp = (millis: number): string =>
  new Date(millis).toISOString().replace("T", " ").slice(0, 23)

/** A new task id, in the form of a request id. */
export const newId = requestId

/** The response to an order that becomes a task. */
export const pending = ({ upstream_id }: AcceptedEntry) => ({
  output: { task_id: upstream_id, task_status: "PENDING" },
  request_id: requestId()
})

export const between: Lifecycle["runningStatuses"] = ["PENDING", "RUNNING"]

/** The result of a finished task. */
export interface CloudResult {
  readonly output: Schema.JsonObject
  /** The reported usage; undefined leaves the field out. */
  readonly usage: Schema.JsonObject | undefined
}

/** How the polls of one service's tasks are answered. */
export interface TaskForm {
  readonly lifecycle: Lifecycle
  /** The error message of a task that failed because of its input. */
  readonly unusableMessage: string
  readonly resultOf: (
    acceptedEntry: AcceptedEntry,
    endedEntry: EndedEntry
  ) => Effect.Effect<CloudResult, never, MediaLinks>
  /** The fields of `usage` that `sim:usage` replaces. */
  readonly usageFields: ReadonlyArray<string>
}

const failureOf = ({ reason }: EndedEntry, { unusableMessage }: TaskForm) => {
  switch (reason) {
    case "moderated":
      return { code: "DataInspectionFailed", message: `Output data ${inspectionMessage}` }
    case "unusable":
      return { code: "InvalidParameter", message: unusableMessage }
    default:
      return { code: ownCause[0], message: ownCause[1] }
  }
}

/** Cancels a pending task; a task in any other state is refused. */
export const cancelTask = Effect.fnUntraced(function* (desk: Desk, id: string, form: TaskForm) {
  const tasks = yield* Tasks
  const pollResult = yield* tasks.peek(desk, id, form.lifecycle)
  if (pollResult._tag === "Broken") return yield* desk.refuse(500)
  if (pollResult._tag !== "Between" || pollResult.status !== form.lifecycle.runningStatuses[0]) {
    return yield* refusal(
      400,
      "UnsupportedOperation",
      "Failed to cancel the task, please confirm if the task is in PENDING status."
    )
  }
  yield* tasks.cancel(pollResult.acceptedEntry)
  return HttpServerResponse.jsonUnsafe({ request_id: requestId() })
})

/** Answers one poll of a task; the id may be unknown. */
export const pollTask = Effect.fnUntraced(function* (desk: Desk, id: string, form: TaskForm) {
  const pollResult = yield* (yield* Tasks).poll(desk, id, form.lifecycle)
  if (pollResult._tag === "Broken") return yield* desk.refuse(500)
  const answer = (output: Schema.JsonObject) =>
    HttpServerResponse.jsonUnsafe({ request_id: requestId(), output })
  const unknown = answer({ task_id: id, task_status: "UNKNOWN" })
  if (pollResult._tag === "Forgotten") return unknown

  const { acceptedEntry } = pollResult
  const submit_time = stamp(millisOf(acceptedEntry))
  if (pollResult._tag === "Between") {
    const { status } = pollResult
    const scheduledTime = status === "PENDING" ? {} : { scheduled_time: submit_time }
    return answer({ task_id: id, task_status: status, submit_time, ...scheduledTime })
  }
  const { endedEntry } = pollResult
  const times = {
    submit_time,
    scheduled_time: submit_time,
    end_time: stamp(millisOf(endedEntry))
  }
  switch (endedEntry.event) {
    case "expired":
      return unknown
    case "cancelled":
      return answer({ task_id: id, task_status: "CANCELED", ...times })
    case "failed":
      return answer({
        task_id: id,
        task_status: "FAILED",
        ...failureOf(endedEntry, form),
        ...times
      })
    case "succeeded": {
      const { output, usage } = yield* form.resultOf(acceptedEntry, endedEntry)
      const text = JSON.stringify({
        request_id: requestId(),
        output: { task_id: id, task_status: "SUCCEEDED", ...times, ...output },
        usage
      })
      return HttpServerResponse.text(
        withUsageWord(text, acceptedEntry.switches, form.usageFields),
        {
          contentType: "application/json"
        }
      )
    }
  }
})
