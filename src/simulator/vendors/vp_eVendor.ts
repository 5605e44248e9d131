import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { numberFrom, randomText, requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { clipSize } from "../media/clip.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedSeconds } from "../rendering.ts"
import { echoOf } from "../switches.ts"
import { type Lifecycle, type PollResult, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  Refusal,
  refusedField,
  type Vendor,
  type VendorRoute
} from "../Vendor.ts"
import { longestNewSeconds, makesSeconds } from "./ModelFamily.ts"
import { familyOf, type Mode, modes } from "./vp_e/families.ts"

const maxPayloadCharacters = 1048576

const optional = Schema.optionalKey

const Prompt = Schema.NonEmptyString.check(Schema.isMaxLength(5000))
const seconds = (minimum: number) =>
  optional(Schema.Int.check(Schema.isBetween({ minimum, maximum: longestNewSeconds })))
const aspectRatio = optional(Schema.Literals(["16:9", "9:16", "3:4", "4:3", "1:1"]))
const Images = Schema.Array(Schema.String)

/** Media fields that no mode of these models supports. */
const noField = { audios: refusedField, sounds: refusedField, videos: refusedField }

const baseFields = {
  ...noField,
  model: Schema.NonEmptyString,
  duration: seconds(1),
  resolution: optional(Schema.Literals(["540p", "720p", "768p", "1080p", "2K", "4K"])),
  audio: optional(Schema.Boolean),
  seed: optional(Schema.Int),
  payload: optional(Schema.String.check(Schema.isMaxLength(maxPayloadCharacters))),
  callback_url: optional(Schema.String),
  off_peak: optional(Schema.Boolean),
  watermark: optional(Schema.Boolean),
  wm_position: optional(Schema.Int),
  wm_url: optional(Schema.String),
  // These three fields are accepted for compatibility with the older tiers, and have no effect.
  style: optional(Schema.String),
  movement_amplitude: optional(Schema.String),
  bgm: optional(Schema.Boolean)
}

const TextSubmit = Schema.Struct({
  ...baseFields,
  prompt: Prompt,
  images: refusedField,
  aspect_ratio: aspectRatio
})

const FrameSubmit = Schema.Struct({ ...baseFields, prompt: optional(Prompt), images: Images })

const ReferenceSubmit = Schema.Struct({
  ...baseFields,
  duration: seconds(3),
  prompt: Prompt,
  images: Images,
  aspect_ratio: aspectRatio,
  audio_type: optional(Schema.Literals(["all", "speech_only", "sound_effect_only"]))
})

/** A request of any mode. */
type Submission = typeof FrameSubmit.Type & Partial<typeof ReferenceSubmit.Type>

const refusal = (status: number, reason: string, message: string) =>
  new Refusal({
    status,
    body: { code: status, reason, message, metadata: { trace_id: requestId() } }
  })

const faults = {
  missing: ["FieldLacking", "missing field"],
  unexpected: ["FieldUnwanted", "unwanted field"],
  invalid: ["FieldInvalid", "invalid field"]
} as const

const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") return refusal(400, "BadRequest", "the body is not a JSON object")
  const [reason, faultText] = faults[problem]
  return refusal(400, reason, `${faultText}: ${path}`)
}

const noTask = () => refusal(404, "TaskNotFound", "task not found")

/**
 * The reason and message of the vendor's error for a status. The real vendor reports an empty
 * balance with status 400; `sim:refuse` can request each status in this table.
 */
const causes: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ["Unauthorized", "the api key is missing or not valid"],
  402: ["CreditInsufficient", "the credits are not enough"],
  403: ["Forbidden", "no permission"],
  404: ["NotFound", "not found"],
  409: ["Conflict", "conflict"],
  429: ["TooManyRequests", "too many requests"],
  499: ["Canceled", "canceled by the client"]
}
const otherCause = ["BadRequest", "bad request"] as const
const ownCause = ["InternalServiceFailure", "internal service failure"] as const

const refuse = (status: number): Refusal =>
  refusal(status, ...(causes[status] ?? (status >= 500 ? ownCause : otherCause)))

export const moderatedInput = () =>
  refusal(400, "AuditSubmitIllegal", "the input did not pass the audit")

const lenient = { unknownFields: "ignored", refuse: ofFault } as const
const decodeText = decodeBody(TextSubmit, lenient)
const decodeFrames = decodeBody(FrameSubmit, lenient)
const decodeReference = decodeBody(ReferenceSubmit, lenient)

const readers: Record<Mode, (body: unknown) => Effect.Effect<Submission, Refusal>> = {
  text2video: (body) =>
    Effect.map(decodeText(body), (submission) => ({ ...submission, images: [] })),
  img2video: decodeFrames,
  "start-end2video": decodeFrames,
  reference2video: decodeReference
}

const imageCounts: Record<Mode, readonly [least: number, most: number]> = {
  text2video: [0, 0],
  img2video: [1, 1],
  "start-end2video": [2, 2],
  reference2video: [1, 7]
}

const isWebUrl = (text: string) => /^https?:\/\/\S/.test(text)
const isInlineImage = (text: string) => /^data:image\/(png|jpe?g|webp);base64,./.test(text)

const imagesFault = (mode: Mode, { images }: Submission): Refusal | undefined => {
  const [min, max] = imageCounts[mode]
  if (images.length < min || images.length > max) {
    return refusal(400, "FieldItemCountOutOfRange", "item count out of range: images")
  }
  const index = images.findIndex((image) => !isWebUrl(image) && !isInlineImage(image))
  if (index < 0) return undefined
  return images[index]?.startsWith("data:")
    ? refusal(400, "ImageFormatInvalid", `invalid image format: images[${index}]`)
    : ofFault({ path: `images[${index}]`, problem: "invalid" })
}

const modelFault = (mode: Mode, model: string): Refusal | undefined =>
  isMissingModel(model) || familyOf(model).modes[mode] === undefined
    ? refusal(400, "ModelUnavailable", `model unavailable: ${model}`)
    : undefined

const sizeFault = ({ model, duration, resolution }: Submission): Refusal | undefined => {
  const family = familyOf(model)
  if (duration !== undefined && !makesSeconds(family, duration)) {
    return ofFault({ path: "duration", problem: "invalid" })
  }
  return resolution !== undefined && !family.resolutions.includes(resolution)
    ? ofFault({ path: "resolution", problem: "invalid" })
    : undefined
}

const lifecycle: Lifecycle = {
  runningStatuses: ["created", "queueing", "processing"],
  reportsCancellation: false,
  productOf: (acceptedEntry) => producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
}

const creditsPerSecond: Readonly<Record<string, number>> = { "540p": 2, "720p": 4, "1080p": 5 }

const creditsOf = ({ order }: AcceptedEntry): number =>
  (order.seconds ?? 0) * (creditsPerSecond[order.resolution ?? ""] ?? 0)

/** The vendor's timestamps have nanoseconds. */
const stamp = (acceptedEntry: AcceptedEntry): string => acceptedEntry.at.replace("Z", "002956Z")

const submitAnswer = (acceptedEntry: AcceptedEntry, submission: Submission) => ({
  task_id: acceptedEntry.upstream_id,
  state: "created",
  model: acceptedEntry.model,
  prompt: submission.prompt ?? "",
  images: submission.images,
  duration: acceptedEntry.order.seconds,
  seed: submission.seed || numberFrom(submission.prompt ?? "", 1e6),
  ...(acceptedEntry.order.ratio === null ? {} : { aspect_ratio: acceptedEntry.order.ratio }),
  resolution: acceptedEntry.order.resolution,
  movement_amplitude: submission.movement_amplitude ?? "auto",
  payload: submission.payload ?? "",
  credits: creditsOf(acceptedEntry),
  off_peak: submission.off_peak ?? false,
  created_at: stamp(acceptedEntry)
})

const failures: Record<NonNullable<EndedEntry["reason"]>, string> = {
  moderated: "CreationPolicyViolation",
  internal: ownCause[0],
  unusable: "ImageDownloadFailure",
  cancelled: "UserCancelled",
  expired: "Canceled"
}

const pollAnswer = Effect.fnUntraced(function* (desk: Desk, pollResult: PollResult) {
  if (pollResult._tag === "Broken") return yield* desk.refuse(500)
  if (pollResult._tag === "Forgotten") return yield* noTask()
  const { acceptedEntry } = pollResult
  const { payload = "", bgm = false, off_peak = false, watermark = false } = acceptedEntry.echo
  const row = (state: string, errCode: string, creations: ReadonlyArray<Schema.Json>) => ({
    id: acceptedEntry.upstream_id,
    ...echoOf(acceptedEntry.switches),
    state,
    err_code: errCode,
    credits: state === "failed" ? 0 : creditsOf(acceptedEntry),
    payload,
    bgm,
    off_peak,
    creations
  })
  if (pollResult._tag === "Between") return row(pollResult.status, "", [])
  const { endedEntry } = pollResult
  if (endedEntry.reason !== null) return row("failed", failures[endedEntry.reason], [])
  const links = yield* MediaLinks
  const creation = {
    id: String(numberFrom(acceptedEntry.upstream_id, 1e9)),
    url: links.video(endedEntry),
    cover_url: links.image(acceptedEntry, 0, clipSize),
    watermarked_url: watermark === true ? links.markedVideo(endedEntry) : ""
  }
  return row("success", "", [creation])
})

const newId = (): string => `8${randomText("0123456789", 17)}`

const draftOf = (mode: Mode, submission: Submission) => {
  const acceptsRatio = mode === "text2video" || mode === "reference2video"
  return {
    kind: "video",
    model: submission.model,
    prompt: submission.prompt ?? "",
    order: {
      seconds: submission.duration ?? 5,
      resolution: submission.resolution ?? "720p",
      ratio: acceptsRatio ? (submission.aspect_ratio ?? "16:9") : null,
      n: null,
      size: null,
      inputs: { images: submission.images.length, videos: 0, audios: 0 },
      generate_audio: submission.audio ?? true
    },
    clientToken: submission.payload ?? null,
    echo: {
      payload: submission.payload ?? "",
      bgm: submission.bgm ?? false,
      off_peak: submission.off_peak ?? false,
      watermark: submission.watermark ?? false
    },
    newId
  } as const
}

const submitAt = (desk: Desk, mode: Mode) =>
  Effect.fnUntraced(function* (call: Call) {
    const submission = yield* readers[mode](call.body)
    const fault =
      modelFault(mode, submission.model) ?? sizeFault(submission) ?? imagesFault(mode, submission)
    if (fault !== undefined) return yield* fault
    return yield* placeOrder(desk, call, draftOf(mode, submission), (acceptedEntry) =>
      Effect.succeed(submitAnswer(acceptedEntry, submission))
    )
  })

const pollAt = (desk: Desk) =>
  Effect.fnUntraced(function* (call: Call) {
    const tasks = yield* Tasks
    const pollResult = yield* tasks.poll(desk, call.params.id ?? "", lifecycle)
    return HttpServerResponse.jsonUnsafe(yield* pollAnswer(desk, pollResult))
  })

/** The routes of the protocol at a desk. */
export const routesAt = (desk: Desk): ReadonlyArray<VendorRoute> => [
  ...modes.map((mode) => ({
    method: "POST" as const,
    path: `/ent/v2/${mode}` as const,
    handle: submitAt(desk, mode)
  })),
  { method: "GET", path: "/ent/v2/tasks/:id/creations", handle: pollAt(desk) }
]

const desk: Desk = { protocol: "vp_e", refuse, moderatedInput }

/**
 * The API of the third-generation models: each mode has its own path, and the key is sent with the
 * scheme `Token`.
 */
export const vp_e: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Token", () => refuse(401)),
  routes: routesAt(desk)
}
