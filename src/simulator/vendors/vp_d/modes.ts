/** The request of each mode, and its checks. */
import { Effect, Schema } from "effect"
import { requestId } from "../../digest.ts"
import { type BodyFault, decodeBody, Refusal, refusedField } from "../../Vendor.ts"
import { makesSeconds } from "../ModelFamily.ts"
import { type ClipFamily, familyOf, type Mode } from "./families.ts"

const maxPromptCharacters = 3072
const maxTurboImagePromptCharacters = 2500

const Prompt = Schema.NonEmptyString.check(Schema.isMaxLength(maxPromptCharacters))
const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))

const baseSettings = {
  resolution: Schema.optionalKey(Schema.Literals(["720p", "768p", "1080p", "2k", "4k"])),
  duration: Schema.optionalKey(Schema.Int),
  audio: Schema.optionalKey(Schema.Literals(["native", "off"])),
  multi_shot: Schema.optionalKey(Schema.Boolean)
}
const aspectRatio = Schema.optionalKey(
  Schema.Literals(["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"])
)

const options = Schema.Struct({
  callback_url: Schema.optionalKey(Schema.String),
  external_task_id: Schema.optionalKey(Schema.NonEmptyString),
  watermark_info: Schema.optionalKey(Schema.Struct({ enabled: Schema.Boolean }))
}).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))

const PromptItem = Schema.Struct({ type: Schema.Literal("prompt"), text: Prompt })
const mediaItem = <const T extends ReadonlyArray<string>>(...types: T) =>
  Schema.Struct({ type: Schema.Literals(types), url: Url })
const Frame = mediaItem("first_frame", "middle_frame", "last_frame")
const Reference = mediaItem("refer_image", "feature_video", "base_video")

const TextSubmit = Schema.Struct({
  prompt: Prompt,
  settings: Schema.Struct({ ...baseSettings, aspect_ratio: aspectRatio }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  ),
  options
})

const ImageSubmit = Schema.Struct({
  contents: Schema.Array(Schema.Union([PromptItem, Frame])),
  // The field is refused, because the video has the ratio of the picture.
  settings: Schema.Struct({ ...baseSettings, aspect_ratio: refusedField }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  ),
  options
})

const OmniSubmit = Schema.Struct({
  contents: Schema.Array(Schema.Union([PromptItem, Frame, Reference])),
  settings: Schema.Struct({
    ...baseSettings,
    audio: Schema.optionalKey(Schema.Literals(["native", "off", "original"])),
    aspect_ratio: aspectRatio
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  options
})

/** A request of any mode. */
export type Submission = typeof OmniSubmit.Type

/** An error response in the vendor's form. */
export const refusal = (status: number, code: number, message: string) =>
  new Refusal({ status, body: { code, message, request_id: requestId() } })

const invalid = (value: string) => refusal(400, 1201, `Invalid value: ${value}`)

export const ofFault = ({ path, problem }: BodyFault) => {
  if (path === "") return refusal(400, 1200, "Invalid request parameters: not a JSON object")
  return problem === "missing"
    ? refusal(400, 1200, `Invalid request parameters: ${path} is required`)
    : invalid(problem === "unexpected" ? `${path} is not supported here` : path)
}

const lenient = { unknownFields: "ignored", refuse: ofFault } as const
const decodeText = decodeBody(TextSubmit, lenient)
const decodeImage = decodeBody(ImageSubmit, lenient)
const decodeOmni = decodeBody(OmniSubmit, lenient)

export const countOf = (submission: Submission, ...types: ReadonlyArray<string>) =>
  submission.contents.filter(({ type }) => types.includes(type)).length

const contentsFault = (
  mode: Mode,
  { modes }: ClipFamily,
  submission: Submission
): Refusal | undefined => {
  if (countOf(submission, "prompt") !== 1)
    return refusal(400, 1200, "Exactly one prompt is required")
  for (const type of ["first_frame", "last_frame", "feature_video", "base_video"]) {
    if (countOf(submission, type) > 1) return invalid(`contents has more than one ${type}`)
  }
  if (countOf(submission, "last_frame") > 0 && modes[mode]?.last_frame === undefined) {
    return invalid("last_frame is not supported here")
  }
  if (countOf(submission, "middle_frame") > (modes[mode]?.middle_frame ?? 0)) {
    return invalid("middle_frame is not supported here, or there are too many")
  }
  if (mode === "image-to-video" && countOf(submission, "first_frame") === 0) {
    return refusal(400, 1200, "Invalid request parameters: first_frame is required")
  }
  return countOf(submission, "last_frame") > countOf(submission, "first_frame")
    ? invalid("last_frame needs a first_frame")
    : undefined
}

const settingsFault = (family: ClipFamily, submission: Submission): Refusal | undefined => {
  const { resolution, duration, audio, multi_shot, aspect_ratio } = submission.settings
  if (duration !== undefined && !makesSeconds(family, duration)) return invalid("settings.duration")
  if (resolution !== undefined && !family.resolutions.includes(resolution)) {
    return invalid(`settings.resolution ${resolution} on this model`)
  }
  if (aspect_ratio !== undefined && !family.ratios.includes(aspect_ratio)) {
    return invalid("settings.aspect_ratio")
  }
  if (audio !== undefined && !family.switchesSound) {
    return invalid("settings.audio is not supported here")
  }
  if (multi_shot !== undefined && family.multiShot === "none") {
    return invalid("settings.multi_shot is not supported here")
  }
  return undefined
}

/** Checks settings that the model supports but refuses in combination with these contents. */
const combinationFault = (family: ClipFamily, submission: Submission): Refusal | undefined => {
  const { audio, multi_shot, aspect_ratio } = submission.settings
  const videos = countOf(submission, "feature_video", "base_video")
  if (videos > 0 && audio === "native") return invalid("settings.audio native with a video")
  const hasBase = countOf(submission, "base_video") > 0
  // Where the setting exists, it is on by default.
  if (hasBase && family.multiShot !== "none" && multi_shot !== false) {
    return invalid("settings.multi_shot must be false with base_video")
  }
  if (hasBase && countOf(submission, "first_frame", "last_frame", "feature_video") > 0) {
    return invalid("contents has a frame or a reference video beside base_video")
  }
  const isAlone = family.multiShot === "only with a reference video" && videos === 0
  if (multi_shot === true && isAlone) {
    return invalid("settings.multi_shot true without a reference video")
  }
  const hasFrame = videos + countOf(submission, "first_frame") > 0
  if (aspect_ratio !== undefined && hasFrame) {
    return invalid("settings.aspect_ratio with a frame or a video")
  }
  return aspect_ratio === undefined && !hasFrame && family.needsRatio
    ? refusal(400, 1200, "Invalid request parameters: settings.aspect_ratio is required")
    : undefined
}

/** The turbo models accept a shorter prompt where there is an image. */
const promptFault = (mode: Mode, model: string, submission: Submission): Refusal | undefined =>
  mode === "image-to-video" &&
  model.includes("turbo") &&
  promptOf(submission).length > maxTurboImagePromptCharacters
    ? invalid("prompt is too long")
    : undefined

export const promptOf = (submission: Submission): string =>
  submission.contents.flatMap((item) => (item.type === "prompt" ? [item.text] : [])).join("\n")

const readers: Record<Mode, (body: unknown) => Effect.Effect<Submission, Refusal>> = {
  "text-to-video": (body) =>
    Effect.map(decodeText(body), ({ prompt, ...fields }) => ({
      contents: [{ type: "prompt", text: prompt }],
      ...fields
    })),
  "image-to-video": decodeImage,
  "omni-video": decodeOmni
}

/** Reads the order from a request, or fails with its fault. */
export const readSubmission = Effect.fnUntraced(function* (
  mode: Mode,
  model: string,
  body: unknown
) {
  const submission = yield* readers[mode](body)
  const family = familyOf(model)
  const fault =
    contentsFault(mode, family, submission) ??
    settingsFault(family, submission) ??
    combinationFault(family, submission) ??
    promptFault(mode, model, submission)
  return fault === undefined ? submission : yield* fault
})
