/** The state of the form, and the order that it describes. */
import { Schema } from "effect"
import type { VendorParameters } from "../../../../domain/catalog/vendorParameters.ts"
import type { SpeechBody } from "../../../../domain/speech/SpeechRequest.ts"
import type { TranscriptionBody } from "../../../../domain/transcription/TranscriptionRequest.ts"
import type { ModelEntry } from "../../../../features/catalog/ModelsApi.ts"

const mediumUses = [
  "image",
  "reference_image",
  "first_frame",
  "last_frame",
  "reference_audio",
  "reference_video"
] as const
export type MediumUse = (typeof mediumUses)[number]

const Medium = Schema.Struct({
  id: Schema.String,
  use: Schema.Literals(mediumUses),
  /** An address, or a file as a `data:` URL. */
  url: Schema.String,
  /** The name and size of a file that the reader added; null for an address. */
  file: Schema.NullOr(Schema.Struct({ name: Schema.String, bytes: Schema.Finite }))
})
export type Medium = typeof Medium.Type

export const roles = ["system", "user", "assistant"] as const
const Message = Schema.Struct({
  id: Schema.String,
  role: Schema.Literals(roles),
  text: Schema.String
})
export type Message = typeof Message.Type

const Note = Schema.Struct({ id: Schema.String, name: Schema.String, text: Schema.String })
export type Note = typeof Note.Type

export const soundFormats = [
  "mp3",
  "opus",
  "aac",
  "flac",
  "wav",
  "pcm"
] as const satisfies ReadonlyArray<NonNullable<SpeechBody["response_format"]>>
/** The format of a sound that is ordered without one. */
const USUAL_FORMAT: (typeof soundFormats)[number] = "mp3"

export const transcriptFormats = [
  "json",
  "text",
  "srt",
  "vtt",
  "verbose_json"
] as const satisfies ReadonlyArray<NonNullable<TranscriptionBody["response_format"]>>

const Recording = Schema.Struct({
  name: Schema.String,
  bytes: Schema.Finite,
  /** The file as a `data:` URL. */
  url: Schema.String,
  /** Its length as the browser measures it; null if the browser cannot play it. */
  seconds: Schema.NullOr(Schema.Finite)
})

const sounds = ["unsaid", "yes", "no"] as const
const NumberOrText = Schema.Union([Schema.Finite, Schema.String])

/**
 * The state of the form. Numbers are kept as they were typed, because the gateway reports their
 * faults.
 */
export const Draft = Schema.Struct({
  prompt: Schema.String,
  messages: Schema.Array(Message),
  media: Schema.Array(Medium),
  duration: NumberOrText,
  resolution: Schema.NullOr(Schema.String),
  ratio: Schema.String,
  sound: Schema.Literals(sounds),
  /** The further parameters that have a value. */
  parameters: Schema.Record(
    Schema.String,
    Schema.Union([Schema.Boolean, Schema.Finite, Schema.String])
  ),
  n: NumberOrText,
  size: Schema.String,
  maxTokens: NumberOrText,
  streams: Schema.Boolean,
  /** The documents of a ranking: one for each line. */
  documents: Schema.String,
  topN: NumberOrText,
  voice: Schema.String,
  instructions: Schema.String,
  format: Schema.NullOr(Schema.Literals(soundFormats)),
  speed: NumberOrText,
  /** The sound that is transcribed. */
  recording: Schema.NullOr(Recording),
  language: Schema.String,
  /** The text that guides a transcription. */
  guide: Schema.String,
  transcriptFormat: Schema.NullOr(Schema.Literals(transcriptFormats)),
  notes: Schema.Array(Note)
})
export type Draft = typeof Draft.Type

export const generateId = (): string => crypto.randomUUID()

export const newMessage = (role: Message["role"], text: string): Message => ({
  id: generateId(),
  role,
  text
})

export const emptyDraft = (): Draft => ({
  prompt: "",
  messages: [newMessage("user", "")],
  media: [],
  duration: "",
  resolution: null,
  ratio: "",
  sound: "unsaid",
  parameters: {},
  n: 1,
  size: "",
  maxTokens: "",
  streams: true,
  documents: "",
  topN: "",
  voice: "",
  instructions: "",
  format: null,
  speed: "",
  recording: null,
  language: "",
  guide: "",
  transcriptFormat: null,
  notes: []
})

/** The draft for another model: values that the new model does not support become its defaults. */
export const adaptDraft = (draft: Draft, model: ModelEntry): Draft => {
  const { durations, resolutions = [] } = model
  const { duration, resolution } = draft
  const isOffered =
    durations !== undefined &&
    typeof duration === "number" &&
    ((durations.only?.includes(duration) ??
      (duration >= durations.min && duration <= durations.max)) ||
      (duration === -1 && durations.smart))
  const uses = mediumUsesOf(model)
  const parameters = parametersOf(model)
  const { ratios } = model
  return {
    ...draft,
    duration: isOffered ? duration : (durations?.default ?? ""),
    resolution:
      resolution !== null && resolutions.includes(resolution)
        ? resolution
        : (resolutions.find((candidate) => candidate === "720p") ?? resolutions[0] ?? null),
    ratio: ratios === undefined || ratios.includes(draft.ratio) ? draft.ratio : "",
    sound: soundsOf(model).includes(draft.sound) ? draft.sound : "unsaid",
    media: draft.media.filter(({ use }) => uses.includes(use)),
    parameters: Object.fromEntries(
      Object.entries(draft.parameters).filter(([name]) => Object.hasOwn(parameters, name))
    )
  }
}

/**
 * Parameters of every text model: vendors describe none, and the gateway sends them on unchanged.
 */
const textParameters: VendorParameters = {
  temperature: { type: "number", minimum: 0, maximum: 2, description: "" },
  top_p: { type: "number", minimum: 0, maximum: 1, description: "" }
}

/** The parameters of the model beside those that all models of its modality have. */
export const parametersOf = (model: ModelEntry): VendorParameters =>
  kindOfModel(model) === "chat" ? textParameters : (model.parameters ?? {})

/** The roles of media that an order of the model can have. */
export const mediumUsesOf = (model: ModelEntry): ReadonlyArray<MediumUse> => {
  const { modality, limits } = model
  if (modality === "image") return model.references === null ? [] : ["image"]
  if (modality === "vlm") return ["image"]
  if (modality !== "video") return []
  const inputs = limits?.inputs
  if (inputs === undefined) return mediumUses
  const allowsImage = (inputs.first_frame ?? 0) + (inputs.reference_image ?? 0) > 0
  return mediumUses.filter((use) => (use === "image" ? allowsImage : (inputs[use] ?? 0) > 0))
}

/** The choices of sound that an order of the model can have. */
export const soundsOf = (model: ModelEntry): ReadonlyArray<Draft["sound"]> =>
  sounds.filter(
    (sound) =>
      !(sound === "yes" && model.sound === false) && !(sound === "no" && model.silent === false)
  )

export type OrderedKind = "video" | "image" | "chat" | "embedding" | "rerank" | "tts" | "asr"

/** Whether the orders of this kind are tasks, which are followed by their ids. */
export const isTaskKind = (kind: OrderedKind): kind is "video" | "image" =>
  kind === "video" || kind === "image"

export interface Order {
  readonly kind: OrderedKind
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The file in the body of a transcription; null if there is none. */
  readonly recording: Draft["recording"]
}

const numberField = (name: string, input: number | string) =>
  typeof input === "number" ? { [name]: input } : {}

const textField = (name: string, text: string | null) =>
  text === null || text.trim() === "" ? {} : { [name]: text.trim() }

const parameterFields = ({ parameters }: Draft) =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ""))

const metadataField = (notes: ReadonlyArray<Note>) => {
  const pairs = notes.filter(({ name }) => name !== "").map(({ name, text }) => [name, text])
  return pairs.length === 0 ? {} : { metadata: Object.fromEntries(pairs) }
}

const blockOf = ({ use, url }: Medium) => {
  const type =
    use === "reference_audio" ? "audio_url" : use === "reference_video" ? "video_url" : "image_url"
  return { type, ...(use === "image" ? {} : { role: use }), [type]: { url } }
}

const videoBody = (draft: Draft, media: ReadonlyArray<Medium>) => ({
  ...(media.length === 0
    ? textField("prompt", draft.prompt)
    : {
        content: [
          ...(draft.prompt.trim() === "" ? [] : [{ type: "text", text: draft.prompt }]),
          ...media.map(blockOf)
        ]
      }),
  ...numberField("duration", draft.duration),
  ...textField("resolution", draft.resolution),
  ...textField("ratio", draft.ratio),
  ...(draft.sound === "unsaid" ? {} : { generate_audio: draft.sound === "yes" }),
  ...parameterFields(draft)
})

const imageBody = (draft: Draft, media: ReadonlyArray<Medium>) => ({
  prompt: draft.prompt,
  ...numberField("n", draft.n),
  ...textField("size", draft.size),
  ...parameterFields(draft),
  ...(media.length === 0 ? {} : { image: media.map(({ url }) => url) })
})

/** Images are attached to the last message. */
const chatBody = (draft: Draft, media: ReadonlyArray<Medium>) => ({
  messages: draft.messages.map(({ role, text }, index) => ({
    role,
    content:
      media.length === 0 || index < draft.messages.length - 1
        ? text
        : [
            { type: "text", text },
            ...media.map(({ url }) => ({ type: "image_url", image_url: { url } }))
          ]
  })),
  ...numberField("max_tokens", draft.maxTokens),
  ...parameterFields(draft),
  ...(draft.streams ? { stream: true, stream_options: { include_usage: true } } : {})
})

const linesOf = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line.trim() !== "")

/** The input of an embedding order: one text for each line. */
const embeddingBody = ({ prompt }: Draft) => {
  const lines = linesOf(prompt)
  return { input: lines.length > 1 ? lines : (lines[0] ?? "") }
}

const rerankBody = ({ prompt, documents, topN }: Draft) => ({
  query: prompt,
  documents: linesOf(documents),
  ...numberField("top_n", topN)
})

const speechBody = ({ prompt, voice, instructions, format, speed }: Draft) => ({
  input: prompt,
  ...textField("voice", voice),
  ...textField("instructions", instructions),
  ...textField("response_format", format),
  ...numberField("speed", speed)
})

const transcriptionBody = ({ recording, language, guide, transcriptFormat }: Draft) => ({
  ...(recording === null ? {} : { file: recording.url }),
  ...textField("language", language),
  ...textField("prompt", guide),
  ...textField("response_format", transcriptFormat)
})

/** The format of the sound that is ordered, which is also the ending of its file's name. */
export const soundFormatOf = ({ body }: Order): string =>
  typeof body.response_format === "string" ? body.response_format : USUAL_FORMAT

/** The format of the transcript that is ordered. */
export const transcriptFormatOf = ({ body }: Order): (typeof transcriptFormats)[number] =>
  transcriptFormats.find((format) => format === body.response_format) ?? "json"

const paths = {
  video: "/v1/videos/generations",
  image: "/v1/images/generations",
  chat: "/v1/chat/completions",
  embedding: "/v1/embeddings",
  rerank: "/v1/rerank",
  tts: "/v1/audio/speech",
  asr: "/v1/audio/transcriptions"
} as const

const bodies = {
  video: videoBody,
  image: imageBody,
  chat: chatBody,
  embedding: embeddingBody,
  rerank: rerankBody,
  tts: speechBody,
  asr: transcriptionBody
} as const

const isOrdered = (modality: string): modality is OrderedKind => Object.hasOwn(paths, modality)

/** The kind of order for a model; null for models that cannot be ordered. */
export const kindOfModel = ({ modality, status, prices }: ModelEntry): OrderedKind | null => {
  if (status !== "open" || prices === null) return null
  if (modality === "vlm") return "chat"
  return isOrdered(modality) ? modality : null
}

export const orderOf = (kind: OrderedKind, model: string, draft: Draft): Order => ({
  kind,
  path: paths[kind],
  recording: kind === "asr" ? draft.recording : null,
  body: {
    model,
    // Media rows without an address are still being edited.
    ...bodies[kind](
      draft,
      draft.media.filter(({ url }) => url !== "")
    ),
    ...metadataField(draft.notes)
  }
})
