import { Effect, Schema } from "effect"
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

const modeOf = ({ instances: [{ image, lastFrame, referenceImages = [] }] }: Submission): Mode => {
  if (referenceImages.length > 0) return "references"
  if (lastFrame !== undefined) return "frames"
  return image === undefined ? "text" : "image"
}

const refuseField = (field: string) =>
  invalidArgument(
    `\`${field}\` isn't supported by this model. Please remove it or refer to the Gemini API documentation for supported usage.`
  )

const inputFault = (model: string, submission: Submission): Refusal | undefined => {
  const [{ prompt = "", image, lastFrame, referenceImages = [] }] = submission.instances
  const mode = modeOf(submission)
  if (familyOf(model).modes[mode] === undefined) {
    return refuseField(mode === "references" ? "referenceImages" : "lastFrame")
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
  const needsFullLength = resolution !== "720p" || modeOf(submission) === "references"
  return family.onlySeconds !== undefined && needsFullLength && seconds !== DEFAULT_SECONDS
    ? invalidArgument(
        "`durationSeconds` must be 8 with reference images or a resolution above 720p."
      )
    : undefined
}

const lifecycle: Lifecycle = {
  runningStatuses: ["running"],
  reportsCancellation: false,
  productOf: (acceptedEntry) => producedSeconds(acceptedEntry, familyOf(acceptedEntry.model))
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
  const uri = `${origin}/veo/v1beta/files/${operationId(name)}:download?alt=media`
  const response = responseOf({ generatedSamples: [{ video: { uri } }] })
  return { ...operation, done: true, response }
})

const draftOf = (model: string, submission: Submission) => {
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
      inputs: { images: frames.length + referenceImages.length, videos: 0, audios: 0 },
      generate_audio: true
    },
    clientToken: null,
    echo: seed === null ? {} : { seed },
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

const submit = Effect.fnUntraced(function* (call: Call) {
  const [model = "", method] = (call.params.call ?? "").split(":")
  if (method !== METHOD || isMissingModel(model)) return yield* noModel(model, METHOD)
  const submission = yield* decodeSubmit(call.body)
  const fault = inputFault(model, submission) ?? sizeFault(model, submission)
  if (fault !== undefined) return yield* fault
  return yield* placeOrder(desk, call, draftOf(model, submission), ({ upstream_id }) =>
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
  const tasks = yield* Tasks
  const id = file.replace(/:download$/, "")
  const name = (yield* tasks.idsOf(desk, key)).find((one) => operationId(one) === id)
  const pollResult = name === undefined ? undefined : yield* tasks.peek(desk, name, lifecycle)
  if (pollResult?._tag !== "Ended" || pollResult.endedEntry.event !== "succeeded") {
    return yield* refuse(403)
  }
  const links = yield* MediaLinks
  const address = links.video({ ...pollResult.endedEntry, upstream_id: id })
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
