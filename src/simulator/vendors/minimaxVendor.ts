import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "../Book.ts"
import { randomText, requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import {
  assumedInputSeconds,
  producedSeconds,
  Ratio,
  renderedRatio,
  renderedResolution
} from "../rendering.ts"
import { echoOf, isOn } from "../switches.ts"
import { type Lifecycle, type PollResult, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  Refusal,
  type Vendor
} from "../Vendor.ts"
import { Content, countBlocks, textOf } from "./contentBlocks.ts"
import type { MediaRole } from "./ModelFamily.ts"
import { makesSeconds } from "./ModelFamily.ts"
import { familyOf, type Mode } from "./minimax/families.ts"

const MAX_PROMPT = 7000

const Submit = Schema.Struct({
  model: Schema.NonEmptyString,
  content: Content,
  duration: Schema.Int,
  resolution: Schema.NonEmptyString,
  ratio: Schema.optionalKey(Ratio),
  aigc_watermark: Schema.optionalKey(Schema.Boolean),
  callback_url: Schema.optionalKey(Schema.String)
})
type Submission = typeof Submit.Type

const refusal = (status: number, type: string, message: string) =>
  new Refusal({
    status,
    body: {
      type: "error",
      error: { type, message, http_code: String(status) },
      request_id: requestId()
    }
  })

const invalidParams = (reason: string) =>
  refusal(400, "bad_request_error", `invalid params, ${reason} (2013)`)

const ofFault = ({ path, problem }: BodyFault) =>
  invalidParams(
    `${path === "" ? "body" : path} is ${problem === "missing" ? "missing" : "invalid"}`
  )

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const badKey = () =>
  refusal(
    401,
    "authentication_error",
    "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)"
  )

const noTask = () => invalidParams("invalid task_id")

/** The vendor's type and message of the error for a status. */
const causes: Readonly<Record<number, readonly [type: string, message: string]>> = {
  402: ["insufficient_balance_error", "insufficient balance (1008)"],
  403: ["permission_error", "no access to the model (2042)"],
  429: ["rate_limit_error", "rate limit (1002)"],
  503: ["overloaded_error", "the service is overloaded"]
}

const refuse = (status: number): Refusal => {
  if (status === 401) return badKey()
  const cause = causes[status]
  if (cause !== undefined) return refusal(status, ...cause)
  return status >= 500
    ? refusal(status, "api_error", "internal error (1033)")
    : refusal(status, "bad_request_error", "invalid params (2013)")
}

type MediaBlock = Exclude<Content[number], { readonly type: "text" | "draft_task" }>

/** The roles of the media; an image without a role is the first frame. */
const rolesOf = (content: Content): ReadonlyArray<MediaRole> =>
  content
    .filter((block): block is MediaBlock => block.type !== "text" && block.type !== "draft_task")
    .map(({ role }) => role ?? "first_frame")

const frames: ReadonlySet<MediaRole> = new Set(["first_frame", "last_frame"])

const modeOf = (roles: ReadonlyArray<MediaRole>): Mode => {
  if (roles.length === 0) return "text"
  return roles.some((role) => frames.has(role)) ? "frames" : "references"
}

const contentFault = ({ model, content, ratio }: Submission): Refusal | undefined => {
  const texts = countBlocks(content, "text")
  if (texts !== 1) return invalidParams("content must have exactly one text item")
  if (textOf(content).length > MAX_PROMPT) return invalidParams("text is too long")
  const roles = rolesOf(content)
  const mode = modeOf(roles)
  const limits = familyOf(model).modes[mode]
  if (limits === undefined || roles.some((role) => limits[role] === undefined)) {
    return invalidParams("content mixes first_frame or last_frame with reference media")
  }
  const isOver = (role: MediaRole) =>
    roles.filter((one) => one === role).length > (limits[role] ?? 0)
  if (roles.some(isOver)) return invalidParams("content has too many items of a role")
  if (roles.length > 0 && roles.every((role) => role === "reference_audio")) {
    return invalidParams("reference_audio needs an image or a video")
  }
  return mode === "text" && (ratio ?? "adaptive") === "adaptive"
    ? invalidParams("ratio must be given for text to video, and must not be adaptive")
    : undefined
}

const orderFault = (submission: Submission): Refusal | undefined => {
  const { model, duration, resolution } = submission
  if (isMissingModel(model)) return invalidParams(`unknown model ${model}`)
  const family = familyOf(model)
  if (!makesSeconds(family, duration)) return invalidParams("duration is invalid")
  if (!family.resolutions.includes(resolution)) return invalidParams("resolution is invalid")
  return contentFault(submission)
}

const lifecycle: Lifecycle = {
  runningStatuses: ["queued", "running"],
  reportsCancellation: true,
  productOf: (acceptedEntry) => producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
}

const failures: Readonly<
  Partial<Record<NonNullable<EndedEntry["reason"]>, readonly [code: string, message: string]>>
> = {
  moderated: ["1027", "output new_sensitive"],
  internal: ["1033", "internal error"],
  unusable: ["2013", "invalid params, the media cannot be loaded"]
}

const usageOf = ({ order, switches }: AcceptedEntry, outputSeconds: number) => {
  if (isOn(switches, "nousage")) return {}
  const inputSeconds = order.inputs.videos * assumedInputSeconds
  return {
    usage: {
      total_seconds: inputSeconds + outputSeconds,
      input_seconds: inputSeconds,
      output_seconds: outputSeconds,
      input_images: order.inputs.images
    }
  }
}

const unixSeconds = (entry: AcceptedEntry | EndedEntry) => Math.floor(millisOf(entry) / 1000)

const taskOf = Effect.fnUntraced(function* (
  pollResult: Extract<PollResult, { readonly _tag: "Between" | "Ended" }>
) {
  const { acceptedEntry } = pollResult
  const task = {
    id: acceptedEntry.upstream_id,
    model: acceptedEntry.model,
    ...echoOf(acceptedEntry.switches),
    task_type: "generation",
    modality: "video",
    created_at: unixSeconds(acceptedEntry)
  }
  if (pollResult._tag === "Between") {
    return { ...task, status: pollResult.status, updated_at: unixSeconds(acceptedEntry) }
  }
  const { endedEntry } = pollResult
  const endedTask = { ...task, status: endedEntry.event, updated_at: unixSeconds(endedEntry) }
  if (endedEntry.event !== "succeeded") {
    const failure = endedEntry.reason === null ? undefined : failures[endedEntry.reason]
    return failure === undefined
      ? endedTask
      : { ...endedTask, error: { code: failure[0], message: failure[1] } }
  }
  const links = yield* MediaLinks
  const seconds = endedEntry.produced.seconds ?? 0
  const isMarked = acceptedEntry.echo.aigc_watermark === true
  return {
    ...endedTask,
    content: { url: isMarked ? links.markedVideo(endedEntry) : links.video(endedEntry) },
    resolution: renderedResolution(acceptedEntry),
    duration: seconds,
    ratio: renderedRatio(acceptedEntry),
    ...usageOf(acceptedEntry, seconds)
  }
})

const newId = (): string => `4${randomText("0123456789", 14)}`

const draftOf = ({ model, content, duration, resolution, ratio, aigc_watermark }: Submission) =>
  ({
    kind: "video",
    model,
    prompt: textOf(content),
    order: {
      seconds: duration,
      resolution,
      ratio: ratio ?? null,
      n: null,
      size: null,
      inputs: {
        images: countBlocks(content, "image_url"),
        videos: countBlocks(content, "video_url"),
        audios: countBlocks(content, "audio_url")
      },
      generate_audio: true
    },
    clientToken: null,
    echo: { aigc_watermark: aigc_watermark ?? false },
    newId
  }) as const

const desk: Desk = {
  protocol: "minimax",
  refuse,
  moderatedInput: () => refusal(400, "bad_request_error", "input new_sensitive (1026)")
}

const submit = Effect.fnUntraced(function* (call: Call) {
  const submission = yield* decodeSubmit(call.body)
  const fault = orderFault(submission)
  if (fault !== undefined) return yield* fault
  return yield* placeOrder(desk, call, draftOf(submission), ({ upstream_id }) =>
    Effect.succeed({ task_id: upstream_id })
  )
})

const poll = Effect.fnUntraced(function* ({ params }: Call) {
  const tasks = yield* Tasks
  const pollResult = yield* tasks.poll(desk, params.id ?? "", lifecycle)
  if (pollResult._tag === "Broken") return yield* refuse(500)
  if (pollResult._tag === "Forgotten") return yield* noTask()
  return HttpServerResponse.jsonUnsafe({ task: yield* taskOf(pollResult) })
})

/** Cancels a queued task, and deletes the record of one that has ended. */
const removeTask = Effect.fnUntraced(function* ({ params: { id = "" } }: Call) {
  const tasks = yield* Tasks
  const pollResult = yield* tasks.peek(desk, id, lifecycle)
  switch (pollResult._tag) {
    case "Forgotten":
      return yield* noTask()
    case "Broken":
      return yield* refuse(500)
    case "Ended":
      yield* tasks.remove(id)
      return HttpServerResponse.jsonUnsafe({})
    case "Between":
      if (pollResult.status !== lifecycle.runningStatuses[0]) {
        return yield* invalidParams("a running task cannot be cancelled")
      }
      yield* tasks.cancel(pollResult.acceptedEntry)
      return HttpServerResponse.jsonUnsafe({})
  }
})

/** MiniMax H3: a task API with content blocks, billed by the seconds of the videos. */
export const minimax: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: [
    { method: "POST", path: "/v2/video_generation", handle: submit },
    { method: "DELETE", path: "/v2/video_generation/:id", handle: removeTask },
    { method: "GET", path: "/v2/query/video_generation/:id", handle: poll }
  ]
}
