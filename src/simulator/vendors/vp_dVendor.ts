import { Effect, Option, type Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, millisOf } from "../Book.ts"
import { randomText, requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedSeconds } from "../rendering.ts"
import { echoOf } from "../switches.ts"
import { type Lifecycle, type PollResult, Tasks } from "../Tasks.ts"
import {
  type Call,
  type Desk,
  isMissingModel,
  type KeyProblem,
  keyOf,
  type Refusal,
  type Vendor
} from "../Vendor.ts"
import { familyOf, type Mode, modes } from "./vp_d/families.ts"
import { countOf, promptOf, readSubmission, refusal } from "./vp_d/modes.ts"

const keyFaults = {
  missing: [1001, "Authorization is empty"],
  scheme: [1002, "Authorization is invalid"],
  unknown: [1000, "Authentication failed"]
} as const

const keyRefusal = (problem: KeyProblem) => {
  const [code, message] = keyFaults[problem]
  return refusal(401, code, message)
}

export const noModel = (model: string) =>
  refusal(404, 1203, `The requested model does not exist: ${model}`)

const causes: Readonly<Record<number, readonly [code: number, message: string]>> = {
  401: keyFaults.unknown,
  402: [1101, "The account is in arrears"],
  403: [1103, "Not authorised to use this resource"],
  404: [1202, "The requested method does not exist"],
  405: [1202, "The requested method does not exist"],
  408: [5002, "The server timed out inside"],
  429: [1302, "Too many requests, the rate limit was exceeded"],
  503: [5001, "The server is temporarily unavailable for maintenance"],
  504: [5002, "The server timed out inside"]
}
const otherCause = [1200, "Invalid request parameters"] as const
const ownCause = [5000, "Internal server error"] as const

const refuse = (status: number): Refusal =>
  refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

export const moderatedInput = () =>
  refusal(400, 1301, "The prompt did not pass the content safety check")

export const lifecycle: Lifecycle = {
  runningStatuses: ["submitted", "processing"],
  reportsCancellation: false,
  productOf: (acceptedEntry) => producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
}

/**
 * The billed amount in the vendor's unit, with one decimal: 0.9 units per second with sound or an
 * input video, otherwise 0.6.
 */
export const receipt = ({ order }: AcceptedEntry): string => {
  const isExpensive = order.generate_audio === true || order.inputs.videos > 0
  return String(((order.seconds ?? 0) * (isExpensive ? 9 : 6)) / 10)
}

/** The body of every response that is not an error. */
export const success = (data: Schema.Json) => ({
  code: 0,
  message: "SUCCEED",
  request_id: requestId(),
  data
})

const row = (
  acceptedEntry: AcceptedEntry,
  status: string,
  message: string,
  updatedAtMillis: number
) => ({
  id: acceptedEntry.upstream_id,
  status,
  message,
  ...(acceptedEntry.client_token === null ? {} : { external_id: acceptedEntry.client_token }),
  create_time: millisOf(acceptedEntry),
  update_time: updatedAtMillis,
  ...echoOf(acceptedEntry.switches)
})

/** The error messages of failed tasks, by reason. */
export const failures = {
  moderated: "risk control",
  internal: "internal error",
  unusable: "invalid parameters",
  cancelled: "the task was cancelled",
  expired: "the task took too long"
} as const

const pollRow = Effect.fnUntraced(function* (
  pollResult: PollResult
): Effect.fn.Return<Option.Option<Schema.Json>, Refusal, MediaLinks> {
  switch (pollResult._tag) {
    case "Broken":
      return yield* refuse(500)
    case "Forgotten":
      return Option.none()
    case "Between": {
      const { acceptedEntry, status } = pollResult
      return Option.some({
        ...row(acceptedEntry, status, "", millisOf(acceptedEntry)),
        billing: []
      })
    }
    case "Ended": {
      const { acceptedEntry, endedEntry } = pollResult
      if (endedEntry.reason !== null) {
        const failedRow = row(
          acceptedEntry,
          "failed",
          failures[endedEntry.reason],
          millisOf(endedEntry)
        )
        return Option.some({ ...failedRow, billing: [{ amount: "0" }] })
      }
      const links = yield* MediaLinks
      const duration = `${endedEntry.produced.seconds}.041`
      const output = { type: "video", url: links.video(endedEntry), duration }
      const markedOutput = { ...output, watermark_url: links.markedVideo(endedEntry) }
      return Option.some({
        ...row(acceptedEntry, "succeeded", "", millisOf(endedEntry)),
        outputs: [acceptedEntry.echo.watermark === true ? markedOutput : output],
        billing: [{ charge_type: "unit", amount: receipt(acceptedEntry), package_type: "video" }]
      })
    }
  }
})

const newId = (): string => `9${randomText("0123456789", 17)}`

const submit = (mode: Mode) =>
  Effect.fnUntraced(function* (call: Call) {
    const model = call.params.model ?? ""
    if (isMissingModel(model) || familyOf(model).modes[mode] === undefined) {
      return yield* noModel(model)
    }
    const submission = yield* readSubmission(mode, model, call.body)
    const { settings, options } = submission
    const hasFrame = countOf(submission, "first_frame", "feature_video", "base_video") > 0
    return yield* placeOrder(
      desk,
      call,
      {
        kind: "video",
        model,
        prompt: promptOf(submission),
        order: {
          seconds: settings.duration ?? 5,
          resolution: settings.resolution ?? "720p",
          ratio: hasFrame ? null : (settings.aspect_ratio ?? "16:9"),
          n: null,
          size: null,
          inputs: {
            images: countOf(submission, "first_frame", "middle_frame", "last_frame", "refer_image"),
            videos: countOf(submission, "feature_video", "base_video"),
            audios: 0
          },
          generate_audio: settings.audio === "native" || familyOf(model).hasAlwaysSound === true
        },
        clientToken: options.external_task_id ?? null,
        echo: { watermark: options.watermark_info?.enabled ?? false },
        newId
      },
      (acceptedEntry) =>
        Effect.succeed(success(row(acceptedEntry, "submitted", "", millisOf(acceptedEntry))))
    )
  })

const idsIn = (text: string | null): ReadonlyArray<string> =>
  (text ?? "").split(",").filter((one) => one !== "")

const poll = Effect.fnUntraced(function* (call: Call) {
  const tasks = yield* Tasks
  const tokens = idsIn(call.query.get("external_task_ids"))
  const idsByToken = yield* Effect.forEach(tokens, (token) => tasks.idsOfToken("vp_d", token))
  const ids = new Set([...idsIn(call.query.get("task_ids")), ...idsByToken.flat()])
  if (ids.size === 0 && tokens.length === 0) {
    return yield* refusal(400, 1200, "Invalid request parameters: task_ids is required")
  }
  const rows = yield* Effect.forEach(ids, (id) =>
    Effect.flatMap(tasks.poll(desk, id, lifecycle), pollRow)
  )
  return HttpServerResponse.jsonUnsafe(success(rows.flatMap(Option.toArray)))
})

const desk: Desk = { protocol: "vp_d", refuse, moderatedInput }

/** The unified task API: the model is in the path, and errors have codes. */
export const vp_d: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", keyRefusal),
  routes: [
    ...modes.map((mode) => ({
      method: "POST" as const,
      path: `/${mode}/:model` as const,
      handle: submit(mode)
    })),
    { method: "GET", path: "/tasks", handle: poll }
  ]
}
