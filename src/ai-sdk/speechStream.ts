/** Spoken texts as their events arrive, for `experimental_streamSpeech`. */
import {
  type SharedV4AudioFormat,
  type SharedV4Warning,
  type Experimental_SpeechModelV4StreamOptions as StreamOptions,
  type Experimental_SpeechModelV4StreamPart as StreamPart,
  type Experimental_SpeechModelV4StreamResult as StreamResult,
  type Experimental_SpeechModelV4StreamTextPart as TextPart,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import {
  combineHeaders,
  createEventSourceResponseHandler,
  type ParseResult,
  postJsonToApi
} from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import type { Connection } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"
import { orderFields, unsupportedWarning } from "./modelParameters.ts"
import { reservedParameters, speechWarnings } from "./speechOptions.ts"

/** The media types of the sounds by their `response_format`. */
const mediaTypes = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
} as const

/** The samples of raw sound per second. */
const PCM_RATE = 24_000

/** The order's `response_format` for a format of the AI SDK, which the gateway checks. */
const responseFormatOf = ({ type }: SharedV4AudioFormat): string =>
  Object.entries(mediaTypes).find(([, mediaType]) => mediaType === type)?.[0] ??
  type.replace(/^audio\//, "")

const audioFormatOf = (ordered: SharedV4AudioFormat | undefined): SharedV4AudioFormat => {
  const { type } = ordered ?? { type: mediaTypes.mp3 }
  return type === mediaTypes.pcm ? { type, rate: PCM_RATE } : { type }
}

const eventSchema = z.looseObject({
  type: z.string().nullish(),
  audio: z.string().nullish(),
  usage: z
    .looseObject({ input_tokens: z.number().nullish(), output_tokens: z.number().nullish() })
    .nullish(),
  error: z.looseObject({ message: z.string() }).nullish()
})
type SpeechEvent = z.infer<typeof eventSchema>

/** The whole text, as an order has one text and one voice. */
const readText = async (text: ReadableStream<TextPart>, voice: string | undefined) => {
  let fullText = ""
  for await (const part of text) {
    if (part.voice !== undefined && part.voice !== voice) {
      throw new UnsupportedFunctionalityError({ functionality: "several voices in one order" })
    }
    fullText += part.text
  }
  return fullText
}

const usageOf = ({ usage }: SpeechEvent, text: string) => ({
  inputCharacters: [...text].length,
  ...(usage?.input_tokens == null ? {} : { inputTokens: usage.input_tokens }),
  ...(usage?.output_tokens == null ? {} : { outputTokens: usage.output_tokens })
})

const warningsOf = (options: StreamOptions): Array<SharedV4Warning> => {
  const { outputFormat } = options
  const isOtherRate = outputFormat?.rate !== undefined && outputFormat.rate !== PCM_RATE
  return [
    ...speechWarnings(options),
    ...(isOtherRate
      ? [unsupportedWarning("outputFormat", `Raw sound has ${PCM_RATE} samples per second.`)]
      : [])
  ]
}

/** Converts the gateway's events. Each part of a sound stands for itself in base64. */
const makeParts = (
  options: StreamOptions,
  text: string
): TransformStream<ParseResult<SpeechEvent>, StreamPart> => {
  const audioFormat = audioFormatOf(options.outputFormat)
  let isEnded = false
  return new TransformStream({
    start: (parts) => parts.enqueue({ type: "stream-start", warnings: warningsOf(options) }),
    transform: (event, parts) => {
      if (options.includeRawChunks === true) {
        parts.enqueue({ type: "raw", rawValue: event.rawValue })
      }
      if (!event.success) return parts.enqueue({ type: "error", error: event.error })
      const { type, audio, error } = event.value
      if (error != null) return parts.error(new Error(error.message))
      if (audio != null) return parts.enqueue({ type: "audio", audio, audioFormat })
      if (type !== "speech.audio.done") return
      isEnded = true
      parts.enqueue({ type: "finish", usage: usageOf(event.value, text) })
    },
    flush: (parts) => {
      if (!isEnded) parts.error(new Error("The sound broke off before its end"))
    }
  })
}

/** Orders the sound of the whole text, and passes its parts on as they arrive. */
export const streamSpeech = async (
  connection: Connection,
  modelId: string,
  options: StreamOptions
): Promise<StreamResult> => {
  const { voice, outputFormat, instructions, speed, providerOptions } = options
  const text = await readText(options.text, voice)
  const timestamp = new Date()
  const body = {
    input: text,
    voice,
    response_format: outputFormat === undefined ? undefined : responseFormatOf(outputFormat),
    instructions,
    speed,
    ...orderFields(providerOptions, reservedParameters, "the sound is read in events"),
    stream_format: "sse",
    model: modelId
  }
  const { value, responseHeaders: headers } = await postJsonToApi({
    url: connection.url("/audio/speech"),
    headers: combineHeaders(connection.headers(), options.headers),
    fetch: connection.fetch,
    body,
    failedResponseHandler,
    successfulResponseHandler: createEventSourceResponseHandler(eventSchema),
    ...(options.abortSignal === undefined ? {} : { abortSignal: options.abortSignal })
  })
  return {
    stream: value.pipeThrough(makeParts(options, text)),
    request: { body },
    response: { timestamp, modelId, ...(headers === undefined ? {} : { headers }) }
  }
}
