import { Clock, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { EndedEntry } from "../Book.ts"
import { randomText } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedSeconds } from "../rendering.ts"
import { echoOf } from "../switches.ts"
import { type Lifecycle, type PollResult, Tasks } from "../Tasks.ts"
import {
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  type Refusal,
  refusedField,
  type Vendor
} from "../Vendor.ts"
import {
  authenticate,
  invalidArgument,
  noModel,
  notFound,
  ofFault,
  refuse
} from "./googleErrors.ts"
import { makesSeconds } from "./ModelFamily.ts"
import { familyOf, type Mode } from "./veo/families.ts"

const optional = Schema.optionalKey

/** The vendor takes the bytes of an image, and refuses the form of its other APIs. */
const Image = Schema.Struct({
  bytesBase64Encoded: Schema.NonEmptyString.check(Schema.isPattern(/^[\w+/]+={0,2}$/)),
  mimeType: Schema.Literals(["image/png", "image/jpeg", "image/webp"]),
  inlineData: refusedField,
  fileUri: refusedField
})
const Instance = Schema.Struct({
  prompt: optional(Schema.String),
  image: optional(Image),
  lastFrame: optional(Image),
  video: optional(
    Schema.Struct({ uri: Schema.NonEmptyString, fileUri: refusedField, gcsUri: refusedField })
  ),
  referenceImages: optional(
    Schema.Array(Schema.Struct({ image: Image, referenceType: Schema.Literal("asset") }))
  )
})
const Parameters = Schema.Struct({
  aspectRatio: optional(Schema.Literals(["16:9", "9:16"])),
  durationSeconds: optional(
    Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^\d{1,2}$/))])
  ),
  enhancePrompt: refusedField,
  generateAudio: refusedField,
  negativePrompt: optional(Schema.String),
  personGeneration: optional(Schema.Literals(["dont_allow", "allow_adult", "allow_all"])),
  resolution: optional(Schema.String),
  sampleCount: optional(Schema.Literal(1)),
  seed: optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4294967295 })))
})
const Submit = Schema.Struct({
  instances: Schema.Tuple([Instance]),
  parameters: optional(Parameters)
})
type Submission = typeof Submit.Type
const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const METHOD = "predictLongRunning"
const DEFAULT_SECONDS = 8
const MAX_REFERENCES = 3
const EXTENDED_RESOLUTION = "720p"
/** The seconds that an extension adds, and the longest video that can be extended. */
const ADDED_SECONDS = 7
const MAX_EXTENDED_SECONDS = 141
const KEPT_MILLIS = 2 * 86_400_000

const modeOf = ({
  instances: [{ image, lastFrame, video, referenceImages = [] }]
}: Submission): Mode => {
  if (video !== undefined) return "extension"
  if (referenceImages.length > 0) return "references"
  if (lastFrame !== undefined) return "frames"
  return image === undefined ? "text" : "image"
}

const refuseField = (field: string) =>
  invalidArgument(
    `\`${field}\` isn't supported by this model. Please remove it or refer to the Gemini API documentation for supported usage.`
  )

const fieldOfMode: Record<Mode, string> = {
  text: "prompt",
  image: "image",
  frames: "lastFrame",
  references: "referenceImages",
  extension: "video"
}

const inputFault = (model: string, submission: Submission): Refusal | undefined => {
  const [{ prompt = "", image, lastFrame, video, referenceImages = [] }] = submission.instances
  const mode = modeOf(submission)
  if (familyOf(model).modes[mode] === undefined) return refuseField(fieldOfMode[mode])
  if (video !== undefined && (image ?? lastFrame ?? referenceImages[0]) !== undefined) {
    return invalidArgument("`video` cannot be combined with images.")
  }
  if (mode === "text" && prompt === "") {
    return invalidArgument("The prompt is required when no image is given.")
  }
  if (lastFrame !== undefined && image === undefined) {
    return invalidArgument("`lastFrame` requires `image`.")
  }
  if (referenceImages.length > MAX_REFERENCES) {
    return invalidArgument(`At most ${MAX_REFERENCES} reference images are supported.`)
  }
  return mode === "references" && (image ?? lastFrame) !== undefined
    ? invalidArgument("`referenceImages` cannot be combined with `image` or `lastFrame`.")
    : undefined
}

const secondsOf = ({ parameters }: Submission): number =>
  Number(parameters?.durationSeconds ?? DEFAULT_SECONDS)

const sizeFault = (model: string, submission: Submission): Refusal | undefined => {
  const family = familyOf(model)
  const seconds = secondsOf(submission)
  const resolution = submission.parameters?.resolution ?? "720p"
  if (!makesSeconds(family, seconds)) {
    return invalidArgument(
      `The number value for \`durationSeconds\` is out of bound. Please provide a value that this model supports.`
    )
  }
  if (!family.resolutions.includes(resolution)) return refuseField("resolution")
  const mode = modeOf(submission)
  if (mode === "extension" && resolution !== EXTENDED_RESOLUTION) return refuseField("resolution")
  const needsFullLength = resolution !== "720p" || mode === "references" || mode === "extension"
  return family.onlySeconds !== undefined && needsFullLength && seconds !== DEFAULT_SECONDS
    ? invalidArgument(
        "`durationSeconds` must be 8 with reference images, a video or a resolution above 720p."
      )
    : undefined
}

const lifecycle: Lifecycle = {
  runningStatuses: ["running"],
  reportsCancellation: false,
  productOf: (acceptedEntry) => {
    const { extendedSeconds } = acceptedEntry.echo
    const product = producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
    // The result of an extension is one video, which begins with the extended one.
    return typeof extendedSeconds === "number"
      ? { ...product, seconds: extendedSeconds + ADDED_SECONDS }
      : product
  }
}

/** The numbers of the errors with which an operation ends. */
const errors: Record<
  Exclude<NonNullable<EndedEntry["reason"]>, "moderated">,
  readonly [code: number, message: string]
> = {
  internal: [13, "Video generation failed due to an internal server issue."],
  unusable: [3, "The input image could not be processed."],
  cancelled: [1, "The operation was cancelled."],
  expired: [4, "Deadline expired before operation could complete."]
}

const filterVerdict = {
  raiMediaFilteredCount: 1,
  raiMediaFilteredReasons: [
    "Sorry, we can't create videos with this content. Please remove the reference and try again."
  ]
}

const operationId = (name: string): string => name.split("/").at(-1) ?? name

/** The address of the file of an operation. */
const uriOf = (origin: string, name: string): string =>
  `${origin}/veo/v1beta/files/${operationId(name)}:download?alt=media`

const responseOf = (generateVideoResponse: Schema.Json) => ({
  "@type": "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse",
  generateVideoResponse
})

const pollAnswer = Effect.fnUntraced(function* (pollResult: PollResult) {
  if (pollResult._tag === "Broken") return yield* refuse(500)
  if (pollResult._tag === "Forgotten") return yield* notFound()
  const { upstream_id: name, switches } = pollResult.acceptedEntry
  const operation = { name, ...echoOf(switches) }
  if (pollResult._tag === "Between") return operation
  const { reason } = pollResult.endedEntry
  if (reason === "moderated")
    return { ...operation, done: true, response: responseOf(filterVerdict) }
  if (reason !== null) {
    const [code, message] = errors[reason]
    return { ...operation, done: true, error: { code, message } }
  }
  const { origin } = yield* MediaLinks
  const response = responseOf({ generatedSamples: [{ video: { uri: uriOf(origin, name) } }] })
  return { ...operation, done: true, response }
})

const draftOf = (model: string, submission: Submission, extendedSeconds: number | null) => {
  const [{ prompt = "", image, lastFrame, referenceImages = [] }] = submission.instances
  const { aspectRatio = "16:9", resolution = "720p", seed = null } = submission.parameters ?? {}
  const frames = [image, lastFrame].filter((frame) => frame !== undefined)
  return {
    kind: "video",
    model,
    prompt,
    order: {
      seconds: secondsOf(submission),
      resolution,
      ratio: aspectRatio,
      n: null,
      size: null,
      inputs: {
        images: frames.length + referenceImages.length,
        videos: extendedSeconds === null ? 0 : 1,
        audios: 0
      },
      generate_audio: true
    },
    clientToken: null,
    echo: {
      ...(seed === null ? {} : { seed }),
      ...(extendedSeconds === null ? {} : { extendedSeconds })
    },
    newId: () =>
      `models/${model}/operations/${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 12)}`
  } as const
}

const desk: Desk = {
  protocol: "veo",
  refuse,
  moderatedInput: () =>
    invalidArgument("The prompt could not be submitted. It may violate the usage guidelines.")
}

/** The ended job of the account that made a file; undefined for a file that it did not make. */
const jobOfFile = Effect.fnUntraced(function* (key: string, file: string) {
  const tasks = yield* Tasks
  const id = file.replace(/:download$/, "")
  const name = (yield* tasks.idsOf(desk, key)).find((one) => operationId(one) === id)
  const pollResult = name === undefined ? undefined : yield* tasks.peek(desk, name, lifecycle)
  return pollResult?._tag === "Ended" && pollResult.endedEntry.event === "succeeded"
    ? pollResult
    : undefined
})

/** The length of the video that an order extends; null if it extends none. */
const extendedSecondsOf = Effect.fnUntraced(function* (
  key: string,
  { instances: [{ video }] }: Submission
) {
  if (video === undefined) return null
  const { origin } = yield* MediaLinks
  const job = yield* jobOfFile(key, video.uri.split("/files/")[1]?.split("?")[0] ?? "")
  if (job === undefined || video.uri !== uriOf(origin, job.acceptedEntry.upstream_id)) {
    return yield* invalidArgument("The input video must be a video that was generated by Veo.")
  }
  const { acceptedEntry, endedEntry } = job
  const now = yield* Clock.currentTimeMillis
  if (now - Date.parse(endedEntry.at) > KEPT_MILLIS) {
    return yield* invalidArgument("The input video has expired.")
  }
  if (acceptedEntry.order.resolution !== EXTENDED_RESOLUTION) {
    return yield* invalidArgument("The input video must have a resolution of 720p.")
  }
  const { seconds } = endedEntry.produced
  if (seconds === null || seconds > MAX_EXTENDED_SECONDS) {
    return yield* invalidArgument(
      `The input video must not be longer than ${MAX_EXTENDED_SECONDS} seconds.`
    )
  }
  return seconds
})

const submit = Effect.fnUntraced(function* (call: Call) {
  const [model = "", method] = (call.params.call ?? "").split(":")
  if (method !== METHOD || isMissingModel(model)) return yield* noModel(model, METHOD)
  const submission = yield* decodeSubmit(call.body)
  const fault = inputFault(model, submission) ?? sizeFault(model, submission)
  if (fault !== undefined) return yield* fault
  const draft = draftOf(model, submission, yield* extendedSecondsOf(call.key, submission))
  return yield* placeOrder(desk, call, draft, ({ upstream_id }) =>
    Effect.succeed({ name: upstream_id })
  )
})

const poll = Effect.fnUntraced(function* ({ params: { model = "", id = "" } }: Call) {
  const tasks = yield* Tasks
  const pollResult = yield* tasks.poll(desk, `models/${model}/operations/${id}`, lifecycle)
  return HttpServerResponse.jsonUnsafe(yield* pollAnswer(pollResult))
})

/** Redirects to the bytes of a video, for the account that ordered it alone. */
const download = Effect.fnUntraced(function* ({ key, params: { file = "" } }: Call) {
  const job = yield* jobOfFile(key, file)
  if (job === undefined) return yield* refuse(403)
  const links = yield* MediaLinks
  const id = file.replace(/:download$/, "")
  const address = links.video({ ...job.endedEntry, upstream_id: id })
  return HttpServerResponse.redirect(address, { status: 302 })
})

const listedModels = [
  "veo-3.1-generate-preview",
  "veo-3.1-fast-generate-preview",
  "veo-3.1-lite-generate-preview",
  "veo-3.0-generate-001",
  "veo-3.0-fast-generate-001"
]

/** Google Veo in the Gemini API: a job is a long-running operation. */
export const veo: Vendor = {
  ...desk,
  authenticate,
  routes: [
    { method: "POST", path: "/v1beta/models/:call", handle: submit },
    { method: "GET", path: "/v1beta/models/:model/operations/:id", handle: poll },
    { method: "GET", path: "/v1beta/files/:file", handle: download },
    {
      method: "GET",
      path: "/v1beta/models",
      handle: () =>
        Effect.succeed(
          HttpServerResponse.jsonUnsafe({
            models: [
              ...listedModels.map((id) => ({
                name: `models/${id}`,
                supportedGenerationMethods: [METHOD]
              })),
              {
                name: "models/gemini-2.5-flash",
                supportedGenerationMethods: ["generateContent", "countTokens"]
              }
            ]
          })
        )
    }
  ]
}
