/** The state of the form, and the order that it describes. */
import { Schema } from "effect"
import { speechFormats, transcriptFormats } from "../../../../domain/audio/audioFormats.ts"
import type { VendorParameters } from "../../../../domain/catalog/vendorParameters.ts"
import type { ModelEntry } from "../../../../features/catalog/ModelsApi.ts"

const mediumUses = [
  "image",
  "reference_image",
  "first_frame",
  "middle_frame",
  "last_frame",
  "reference_audio",
  "reference_video",
  "edit_video",
  "extend_video"
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

const Recording = Schema.Struct({
  name: Schema.String,
  bytes: Schema.Finite,
  /** The file as a `data:` URL. */
  url: Schema.String,
  /** Its length as the browser measures it; null if the browser cannot play it. */
  seconds: Schema.NullOr(Schema.Finite)
})

/** The APIs in whose form a text is ordered. */
export const textApis = ["chat", "responses"] as const
export type TextApi = (typeof textApis)[number]

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
  /** The seconds for which the order may wait for a place at its channel. */
  maxWait: NumberOrText,
  /** The further parameters that have a value. */
  parameters: Schema.Record(
    Schema.String,
    Schema.Union([Schema.Boolean, Schema.Finite, Schema.String, Schema.Array(Schema.String)])
  ),
  n: NumberOrText,
  size: Schema.String,
  maxTokens: NumberOrText,
  streams: Schema.Boolean,
  textApi: Schema.Literals(textApis),
  /** The documents of a ranking: one for each line. */
  documents: Schema.String,
  topN: NumberOrText,
  voice: Schema.String,
  instructions: Schema.String,
  format: Schema.NullOr(Schema.Literals(speechFormats)),
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
  maxWait: "",
  parameters: {},
  n: 1,
  size: "",
  maxTokens: "",
  streams: true,
  textApi: "chat",
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

/** Whether an order of the model can have the field. */
export const hasField = ({ parameters = {} }: ModelEntry, name: string): boolean =>
  Object.hasOwn(parameters, name)

/** The values that a field of the model can have; null if they are not listed. */
export const choicesOf = (
  { parameters = {} }: ModelEntry,
  name: string
): ReadonlyArray<string> | null => {
  const parameter = parameters[name]
  return parameter?.type === "choice" ? parameter.values : null
}

/** The formats that can be ordered of a model, of those of its modality. */
export const formatsOf = <F extends string>(
  model: ModelEntry,
  formats: ReadonlyArray<F>
): ReadonlyArray<F> => {
  const offered = choicesOf(model, "response_format") ?? []
  return formats.filter((format) => offered.includes(format))
}

/** The fields of speech and of transcriptions, as far as the model has them. */
const adaptAudio = (draft: Draft, model: ModelEntry) => {
  const textOf = (name: string, text: string) => (hasField(model, name) ? text : "")
  const formatOf = <F extends string>(formats: ReadonlyArray<F>, format: F | null) =>
    formatsOf(model, formats).find((one) => one === format) ?? null
  const { voice, instructions, speed, language, guide } = draft
  return {
    voice: choicesOf(model, "voice")?.includes(voice) === false ? "" : voice,
    instructions: textOf("instructions", instructions),
    speed: hasField(model, "speed") ? speed : "",
    format: formatOf(speechFormats, draft.format),
    language: textOf("language", language),
    guide: textOf("prompt", guide),
    transcriptFormat: formatOf(transcriptFormats, draft.transcriptFormat)
  }
}

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
    ...adaptAudio(draft, model),
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

/** The parameters that have fields of their own, and those that change how an answer is read. */
const ownFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  rerank: ["top_n", "return_documents"],
  tts: ["voice", "instructions", "response_format", "speed", "stream_format"],
  asr: ["language", "prompt", "response_format", "stream"]
}

/** The parameters of the model beside those that all models of its modality have. */
export const parametersOf = (model: ModelEntry): VendorParameters => {
  if (kindOfModel(model) === "chat") return textParameters
  const formFields = ownFields[model.modality] ?? []
  return Object.fromEntries(
    Object.entries(model.parameters ?? {}).filter(([name]) => !formFields.includes(name))
  )
}

/** The roles that the gateway refuses for models of which it does not know the inputs. */
const ofKnownModels: ReadonlyArray<MediumUse> = ["middle_frame", "edit_video", "extend_video"]

/** The media that the vendors of the model take together, as far as they are known. */
const inputsTaken = ({ takes = [] }: ModelEntry) => takes.flatMap(({ inputs }) => inputs)

/** The roles of media that an order of the model can have. */
export const mediumUsesOf = (model: ModelEntry): ReadonlyArray<MediumUse> => {
  const { modality, limits } = model
  if (modality === "image") return model.references === null ? [] : ["image"]
  if (modality === "vlm") return ["image"]
  if (modality !== "video") return []
  const inputs = limits?.inputs === undefined ? inputsTaken(model) : [limits.inputs]
  if (inputs.length === 0) return mediumUses.filter((use) => !ofKnownModels.includes(use))
  const isTaken = (use: Exclude<MediumUse, "image">) => inputs.some((one) => (one[use] ?? 0) > 0)
  return mediumUses.filter((use) =>
    use === "image" ? isTaken("first_frame") || isTaken("reference_image") : isTaken(use)
  )
}

/** Whether the order edits a video, whose length its result has. */
export const editsVideo = ({ media }: Pick<Draft, "media">): boolean =>
  media.some(({ use }) => use === "edit_video")

/** The choices of sound that an order of the model can have. */
export const soundsOf = (model: ModelEntry): ReadonlyArray<Draft["sound"]> =>
  sounds.filter(
    (sound) =>
      !(sound === "yes" && model.sound === false) && !(sound === "no" && model.silent === false)
  )

export type OrderedKind = "video" | "image" | "chat" | "embedding" | "rerank" | "tts" | "asr"

/** The kinds of orders: those of the models, and texts that are ordered by the Responses API. */
export type OrderKind = OrderedKind | "response"

/** Whether the orders of this kind are tasks, which are followed by their ids. */
export const isTaskKind = (kind: OrderKind): kind is "video" | "image" =>
  kind === "video" || kind === "image"

/** Whether the orders of this kind are answered by a text, which may be streamed. */
export const isTextKind = (kind: OrderKind): kind is "chat" | "response" =>
  kind === "chat" || kind === "response"

export interface Order {
  readonly kind: OrderKind
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The file in the body of a transcription; null if there is none. */
  readonly recording: Draft["recording"]
  /** The format of the sound of a speech order, which is also the ending of its file's name. */
  readonly soundFormat: string
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
    use === "reference_audio" ? "audio_url" : use.endsWith("_video") ? "video_url" : "image_url"
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
  ...(editsVideo({ media }) ? {} : numberField("duration", draft.duration)),
  ...textField("resolution", draft.resolution),
  ...textField("ratio", draft.ratio),
  ...(draft.sound === "unsaid" ? {} : { generate_audio: draft.sound === "yes" }),
  ...numberField("max_wait", draft.maxWait),
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

/**
 * The same as a request of the Responses API: a leading system message is its instructions, and a
 * message alone is its input.
 */
const responseBody = (draft: Draft, media: ReadonlyArray<Medium>) => {
  const [first, ...others] = draft.messages
  const hasInstructions = first?.role === "system" && others.length > 0
  const messages = hasInstructions ? others : draft.messages
  const [only, ...further] = messages
  const isText = only?.role === "user" && further.length === 0 && media.length === 0
  return {
    ...(hasInstructions ? { instructions: first.text } : {}),
    input: isText
      ? only.text
      : messages.map(({ role, text }, index) => ({
          role,
          content:
            media.length === 0 || index < messages.length - 1
              ? text
              : [
                  { type: "input_text", text },
                  ...media.map(({ url }) => ({ type: "input_image", image_url: url }))
                ]
        })),
    ...numberField("max_output_tokens", draft.maxTokens),
    ...parameterFields(draft),
    ...(draft.streams ? { stream: true } : {})
  }
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line.trim() !== "")

/** The input of an embedding order: one text for each line. */
const embeddingBody = ({ prompt }: Draft) => {
  const lines = linesOf(prompt)
  return { input: lines.length > 1 ? lines : (lines[0] ?? "") }
}

const rerankBody = (draft: Draft) => ({
  query: draft.prompt,
  documents: linesOf(draft.documents),
  ...numberField("top_n", draft.topN),
  ...parameterFields(draft)
})

const speechBody = (draft: Draft) => ({
  input: draft.prompt,
  ...textField("voice", draft.voice),
  ...textField("instructions", draft.instructions),
  ...textField("response_format", draft.format),
  ...numberField("speed", draft.speed),
  ...parameterFields(draft)
})

const transcriptionBody = (draft: Draft) => ({
  ...(draft.recording === null ? {} : { file: draft.recording.url }),
  ...textField("language", draft.language),
  ...textField("prompt", draft.guide),
  ...textField("response_format", draft.transcriptFormat),
  ...parameterFields(draft)
})

/** The format of the transcript that is ordered. */
export const transcriptFormatOf = ({ body }: Order): (typeof transcriptFormats)[number] =>
  transcriptFormats.find((format) => format === body.response_format) ?? "json"

const paths = {
  video: "/v1/videos/generations",
  image: "/v1/images/generations",
  chat: "/v1/chat/completions",
  response: "/v1/responses",
  embedding: "/v1/embeddings",
  rerank: "/v1/rerank",
  tts: "/v1/audio/speech",
  asr: "/v1/audio/transcriptions"
} as const

const bodies = {
  video: videoBody,
  image: imageBody,
  chat: chatBody,
  response: responseBody,
  embedding: embeddingBody,
  rerank: rerankBody,
  tts: speechBody,
  asr: transcriptionBody
} as const

const isOrdered = (modality: string): modality is OrderedKind =>
  modality !== "response" && Object.hasOwn(paths, modality)

/** The kind of order for a model; null for models that cannot be ordered. */
export const kindOfModel = ({ modality, status, prices }: ModelEntry): OrderedKind | null => {
  if (status !== "open" || prices === null) return null
  if (modality === "vlm") return "chat"
  return isOrdered(modality) ? modality : null
}

/** The order of a model; a text is ordered by the API that the form names. */
export const orderOf = (modelKind: OrderedKind, model: ModelEntry, draft: Draft): Order => {
  const kind = modelKind === "chat" && draft.textApi === "responses" ? "response" : modelKind
  return {
    kind,
    path: paths[kind],
    recording: kind === "asr" ? draft.recording : null,
    soundFormat: draft.format ?? choicesOf(model, "response_format")?.[0] ?? "",
    body: {
      model: model.id,
      // Media rows without an address are still being edited.
      ...bodies[kind](
        draft,
        draft.media.filter(({ url }) => url !== "")
      ),
      ...metadataField(draft.notes)
    }
  }
}
