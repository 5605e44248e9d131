/** The orders that test a channel: the smallest order of each form of a model. */
import { Buffer } from "node:buffer"
import { Array as Arr, Effect } from "effect"
import { speechFormats } from "../../domain/audio/audioFormats.ts"
import type { ImageBody } from "../../domain/image/ImageRequest.ts"
import type { RerankBody } from "../../domain/rerank/RerankRequest.ts"
import type { SpeechBody } from "../../domain/speech/SpeechRequest.ts"
import type { TranscriptionBody } from "../../domain/transcription/TranscriptionRequest.ts"
import type { InputRole } from "../../domain/video/families/VideoFamily.ts"
import type { ContentBlock, VideoBody } from "../../domain/video/VideoBody.ts"
import type { ModelEntry } from "../../http/api/models.ts"
import { drawPicture } from "../../simulator/media/picture.ts"
import { makeSound } from "../../simulator/media/sound.ts"

/**
 * Addresses of media that the vendor can read. Images are drawn where no addresses are configured.
 */
export interface TrialMedia {
  readonly images: readonly [string, string]
  readonly video: string | null
  readonly audio: string | null
  /** The voice of spoken texts; null for the first one that the catalog lists, if any. */
  readonly voice: string | null
}

/** An order, with the name of the form that it tests. */
export type TrialOrder =
  | { readonly form: string; readonly kind: "video"; readonly body: VideoBody }
  | { readonly form: string; readonly kind: "image"; readonly body: ImageBody }
  | { readonly form: string; readonly kind: "rerank"; readonly body: RerankBody }
  | { readonly form: string; readonly kind: "tts"; readonly body: SpeechBody }
  | { readonly form: string; readonly kind: "asr"; readonly body: TranscriptionBody }

const triedModalities = ["video", "image", "rerank", "tts", "asr"] as const
type TriedModality = (typeof triedModalities)[number]

/** Whether a channel is tried with orders of the modality. */
export const isTried = (modality: string): modality is TriedModality =>
  triedModalities.some((one) => one === modality)

const PROMPT = "A lighthouse at dusk, the lamp turns slowly"

/**
 * Pixels of each side of the drawn images. Every vendor accepts this size; some vendors refuse
 * sides below 300 pixels.
 */
const PICTURE_SIDE = 512

export const drawnImages: Effect.Effect<TrialMedia["images"]> = Effect.all([
  drawPicture("first", { width: PICTURE_SIDE, height: PICTURE_SIDE }),
  drawPicture("second", { width: PICTURE_SIDE, height: PICTURE_SIDE })
]).pipe(Effect.map(([one, other]) => [asDataUrl(one), asDataUrl(other)] as const))

const asDataUrl = (png: Uint8Array): string =>
  `data:image/png;base64,${Buffer.from(png).toString("base64")}`

const images = (role: "reference_image" | "first_frame" | "last_frame", ...urls: Array<string>) =>
  urls.map((url): ContentBlock => ({ type: "image_url", role, image_url: url }))

/**
 * The tested combinations of roles, each with its media. Combinations without media are left out.
 */
const combinations = ({ images: [one, other], video, audio }: TrialMedia) => {
  const frame = images("first_frame", one)
  const reference = images("reference_image", one)
  const rows: ReadonlyArray<
    readonly [
      form: string,
      roles: ReadonlyArray<InputRole>,
      blocks: ReadonlyArray<ContentBlock> | null
    ]
  > = [
    ["text alone", [], []],
    ["first frame", ["first_frame"], frame],
    [
      "first and last frame",
      ["first_frame", "last_frame"],
      [...frame, ...images("last_frame", other)]
    ],
    ["a reference image", ["reference_image"], reference],
    ["two reference images", ["reference_image"], images("reference_image", one, other)],
    [
      "a reference video",
      ["reference_video"],
      video === null ? null : [{ type: "video_url", video_url: video }]
    ],
    [
      "a reference image and a sound",
      ["reference_image", "reference_audio"],
      audio === null ? null : [...reference, { type: "audio_url", audio_url: audio }]
    ]
  ]
  return rows.flatMap(([form, roles, blocks]) => (blocks === null ? [] : [{ form, roles, blocks }]))
}

type OfferedInputs = NonNullable<ModelEntry["takes"]>[number]

const allowsRoles = ({ inputs }: OfferedInputs, roles: ReadonlyArray<InputRole>): boolean =>
  inputs.some((form) => roles.every((role) => form[role] !== undefined))

/**
 * The minimum duration of an order, in seconds. Some models accept shorter videos for some forms
 * only, so a shorter order of another form would be refused because of its duration.
 */
const SHORTEST_SECONDS = 3

/** The shortest duration that all forms of the model and the gateway accept. */
const leastSeconds = (
  { durations }: ModelEntry,
  offeredInputs: OfferedInputs | undefined
): number | null => {
  if (durations === undefined) return null
  const minSeconds = Math.max(
    SHORTEST_SECONDS,
    durations.min,
    offeredInputs?.durations.min ?? durations.default
  )
  const allowedDurations = durations.only ?? offeredInputs?.durations.only
  return (
    allowedDurations?.find((seconds) => seconds >= minSeconds) ??
    allowedDurations?.at(-1) ??
    minSeconds
  )
}

const leastResolution = (
  { resolutions = [] }: ModelEntry,
  offeredInputs: OfferedInputs | undefined
) =>
  resolutions.find(
    (one) => offeredInputs === undefined || offeredInputs.resolutions.includes(one)
  ) ??
  resolutions[0] ??
  null

/**
 * The trial orders of a video model: one order for each combination of inputs that the model is
 * known to accept (for all combinations where nothing is known), an order with an image without a
 * role, an order without sound where sound can be switched off, and an order with a watermark where
 * the model has that parameter.
 */
const trialVideos = (model: ModelEntry, media: TrialMedia): ReadonlyArray<TrialOrder> => {
  const offeredInputs = model.takes?.[0]
  const base = {
    model: model.id,
    duration: leastSeconds(model, offeredInputs),
    resolution: leastResolution(model, offeredInputs)
  }
  const order = (
    form: string,
    blocks: ReadonlyArray<ContentBlock>,
    extraFields: object = {}
  ): TrialOrder => ({
    form,
    kind: "video",
    body: { ...base, ...extraFields, content: [{ type: "text", text: PROMPT }, ...blocks] }
  })
  const mediaCombinations = combinations(media).filter(
    ({ roles }) => offeredInputs === undefined || allowsRoles(offeredInputs, roles)
  )
  const [first] = Arr.filter(
    mediaCombinations,
    ({ blocks }) => blocks.length === 0 || offeredInputs !== undefined
  )
  const plainOrder = order("a picture without a role", [
    { type: "image_url", image_url: media.images[0] }
  ])
  const takesPicture =
    offeredInputs === undefined ||
    allowsRoles(offeredInputs, ["first_frame"]) ||
    allowsRoles(offeredInputs, ["reference_image"])
  return [
    ...mediaCombinations.map(({ form, blocks }) => order(form, blocks)),
    ...(takesPicture ? [plainOrder] : []),
    ...(first !== undefined && offeredInputs?.sound === "switch"
      ? [order(`${first.form}, silent`, first.blocks, { generate_audio: false })]
      : []),
    ...(first !== undefined && model.parameters?.watermark !== undefined
      ? [order(`${first.form}, marked`, first.blocks, { watermark: true })]
      : [])
  ]
}

/**
 * The trial orders of an image model: one image, two images in one order, and, where the model
 * accepts input images, one image made from another.
 */
const trialImages = (model: ModelEntry, { images: [picture] }: TrialMedia) => {
  const order = (form: string, extraFields: object): TrialOrder => ({
    form,
    kind: "image",
    body: { model: model.id, prompt: PROMPT, ...extraFields }
  })
  return [
    order("text alone", { n: 1 }),
    order("two images", { n: 2 }),
    ...(model.references == null ? [] : [order("from a picture", { n: 1, image: picture })])
  ]
}

/** The trial orders of a ranking model: all results, and the best one alone. */
const trialRankings = ({ id: model }: ModelEntry): ReadonlyArray<TrialOrder> => {
  const body = { model, query: PROMPT, documents: ["A lamp at sea", "Bread and butter"] }
  return [
    { form: "all results", kind: "rerank", body },
    { form: "the best result", kind: "rerank", body: { ...body, top_n: 1 } }
  ]
}

const SPOKEN = "Hello."

/** The values of a field that the model lists. */
const valuesOf = ({ parameters }: ModelEntry, name: string): ReadonlyArray<string> => {
  const parameter = parameters?.[name]
  return parameter?.type === "choice" ? parameter.values : []
}

/**
 * The trial orders of a model that speaks: one in each of its formats, one with instructions, and
 * one at another speed, as far as the model has these fields.
 */
const trialSpeech = (model: ModelEntry, { voice }: TrialMedia): ReadonlyArray<TrialOrder> => {
  const chosen = voice ?? valuesOf(model, "voice")[0]
  const base = {
    model: model.id,
    input: SPOKEN,
    ...(chosen === undefined ? {} : { voice: chosen })
  }
  const order = (form: string, fields: Partial<SpeechBody>): TrialOrder => ({
    form,
    kind: "tts",
    body: { ...base, ...fields }
  })
  const formats = valuesOf(model, "response_format")
  const speed = model.parameters?.speed
  return [
    ...speechFormats
      .filter((format) => formats.includes(format))
      .map((format) => order(format, { response_format: format })),
    ...(model.parameters?.instructions === undefined
      ? []
      : [order("with instructions", { instructions: "Speak slowly." })]),
    ...(speed?.type === "number" ? [order("at its lowest speed", { speed: speed.minimum })] : [])
  ]
}

const SOUND_MILLIS = 1000
/** The formats of a transcript whose answers are JSON, as the client decodes them. */
const jsonFormats = ["json", "verbose_json"] as const

/** The trial orders of a model that transcribes: a second of sound, in each format of JSON. */
const trialTranscriptions = (model: ModelEntry): ReadonlyArray<TrialOrder> => {
  const sound = Buffer.from(makeSound("wav", SOUND_MILLIS)).toString("base64")
  const formats = valuesOf(model, "response_format")
  return jsonFormats
    .filter((format) => formats.includes(format))
    .map((format) => ({
      form: format,
      kind: "asr",
      body: {
        model: model.id,
        file: `data:audio/wav;base64,${sound}`,
        response_format: format
      }
    }))
}

const trialsByModality: Readonly<
  Record<TriedModality, (model: ModelEntry, media: TrialMedia) => ReadonlyArray<TrialOrder>>
> = {
  video: trialVideos,
  image: trialImages,
  rerank: trialRankings,
  tts: trialSpeech,
  asr: trialTranscriptions
}

export const trialOrders = (model: ModelEntry, media: TrialMedia): ReadonlyArray<TrialOrder> =>
  isTried(model.modality) ? trialsByModality[model.modality](model, media) : []
