import { Effect, Schema } from "effect"
import { type Headers, HttpServerResponse } from "effect/http"
import { type AcceptedEntry, millisOf, type Product } from "../Book.ts"
import { requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { makeSound } from "../media/sound.ts"
import { placeOrder } from "../placeOrder.ts"
import { countOf, isOn, withUsageWord } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type Bench,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  Refusal,
  type Vendor
} from "../Vendor.ts"
import {
  between,
  invalid,
  moderatedInput,
  moderatedOutput,
  newId,
  noModel,
  ofFault,
  refuse
} from "./cloud.ts"
import { pollRouteAt } from "./ip_bVendor.ts"
import { tokensOf } from "./openai/chats.ts"
import { SPOKEN, wavSeconds } from "./openai/transcription.ts"
import { streamEvents } from "./partStream.ts"

const optional = Schema.optionalKey

const MAX_CHARACTERS = 600

const Speech = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Struct({
    text: Schema.NonEmptyString,
    voice: Schema.NonEmptyString,
    language_type: optional(
      Schema.Literals([
        "Auto",
        "Chinese",
        "English",
        "German",
        "Italian",
        "Portuguese",
        "Spanish",
        "Japanese",
        "Korean",
        "French",
        "Russian"
      ])
    )
  }),
  parameters: Schema.Struct({
    instructions: optional(Schema.NonEmptyString),
    optimize_instructions: optional(Schema.Boolean)
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})
type Speech = typeof Speech.Type

const Transcription = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Struct({
    messages: Schema.Array(
      Schema.Union([
        Schema.Struct({
          role: Schema.Literal("system"),
          content: Schema.Array(Schema.Struct({ text: Schema.String }))
        }),
        Schema.Struct({
          role: Schema.Literal("user"),
          content: Schema.Array(Schema.Struct({ audio: Schema.String }))
        })
      ])
    )
  }),
  parameters: Schema.Struct({
    asr_options: optional(
      Schema.Struct({
        language: optional(Schema.String.check(Schema.isPattern(/^[a-z]{2,3}$/))),
        enable_itn: optional(Schema.Boolean)
      })
    ),
    incremental_output: optional(Schema.Boolean)
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})
type Transcription = typeof Transcription.Type

const Named = Schema.Struct({ model: Schema.NonEmptyString })

const decodeName = decodeBody(Named, { unknownFields: "ignored", refuse: ofFault })
const decodeSpeech = decodeBody(Speech, { unknownFields: "refused", refuse: ofFault })
const decodeTranscription = decodeBody(Transcription, { unknownFields: "refused", refuse: ofFault })

/** Models of these names speak, and all others transcribe. */
const speaks = (model: string): boolean => /tts|voice/.test(model)

const takesInstructions = (model: string): boolean => model.includes("instruct")

/** Models of this name count tokens; others count characters or seconds. */
const countsTokens = (model: string): boolean => model.includes("tokens")

const isStreamed = (headers: Headers.Headers): boolean => headers["x-dashscope-sse"] === "enable"

const speechFault = ({ model, input, parameters }: Speech): Refusal | undefined => {
  if ([...input.text].length > MAX_CHARACTERS) {
    return invalid(`Range of input length should be [1, ${MAX_CHARACTERS}]`)
  }
  const [name] = Object.keys(parameters)
  return name === undefined || takesInstructions(model)
    ? undefined
    : ofFault({ path: `parameters.${name}`, problem: "unexpected" })
}

const soundsIn = ({ input }: Transcription): ReadonlyArray<string> =>
  input.messages.flatMap((message) =>
    message.role === "user" ? message.content.map(({ audio }) => audio) : []
  )

const contextOf = ({ input }: Transcription): string =>
  input.messages
    .flatMap((message) =>
      message.role === "system" ? message.content.map(({ text }) => text) : []
    )
    .join("\n")

const dataUrl = /^data:audio\/[\w.+-]+;base64,(?=.)/
const MAX_SOUND_BYTES = 10 * 1024 * 1024
const MAX_SOUND_SECONDS = 300

/** A sound that passed the checks, with its length; null where it is not of a WAV file. */
interface HeardSound {
  readonly seconds: number | null
}

const hearSound = (transcription: Transcription): HeardSound | Refusal => {
  const [sound, ...others] = soundsIn(transcription)
  if (sound === undefined || others.length > 0) return invalid("There is not exactly one audio")
  const head = dataUrl.exec(sound)?.[0]
  if (head === undefined) return invalid("The provided URL does not appear to be valid.")
  const bytes = Buffer.from(sound.slice(head.length), "base64")
  if (bytes.byteLength > MAX_SOUND_BYTES) return invalid("Multimodal file size is too large")
  const seconds = wavSeconds(bytes)
  return seconds !== null && seconds > MAX_SOUND_SECONDS
    ? invalid("The audio is too long")
    : { seconds }
}

/** The response contains the whole result, so an order is never polled. */
const lifecycleOf = (completionTokens: number): Lifecycle => ({
  runningStatuses: between,
  reportsCancellation: false,
  productOf: (): Product => ({ seconds: null, images: null, completion_tokens: completionTokens })
})

const end = Effect.fnUntraced(function* (acceptedEntry: AcceptedEntry, tokens: number) {
  const tasks = yield* Tasks
  const { reason } = yield* tasks.finish(acceptedEntry, lifecycleOf(tokens))
  if (reason === "moderated") return yield* moderatedOutput()
  if (reason !== null) return yield* refuse(500)
})

const MILLIS_PER_CHARACTER = 65
const TOKENS_PER_SOUND_SECOND = 50
const TOKENS_PER_HEARD_SECOND = 25
const MILLIS = 1000

const speechMillis = ({ input }: Speech): number => [...input.text].length * MILLIS_PER_CHARACTER

const speechTokens = (speech: Speech): number =>
  Math.max(
    TOKENS_PER_SOUND_SECOND,
    Math.ceil((speechMillis(speech) * TOKENS_PER_SOUND_SECOND) / MILLIS)
  )

const usageFields = ["input_tokens", "output_tokens", "total_tokens", "characters", "seconds"]

/** The answer as JSON, in which `sim:nousage` and `sim:usage` change the usage. */
const jsonOf = ({ switches }: AcceptedEntry, output: object, usage: object): string =>
  withUsageWord(
    JSON.stringify({
      output,
      ...(isOn(switches, "nousage") ? {} : { usage }),
      request_id: requestId()
    }),
    switches,
    usageFields
  )

const frameOf = (event: "result" | "error", status: number, number: number, data: string) =>
  `id:${number}\nevent:${event}\n:HTTP_STATUS/${status}\ndata:${data}\n\n`

const errorFrame = ({ status, body }: Refusal, number: number): string =>
  frameOf("error", status, number, JSON.stringify(body))

/** A vendor that fails after the beginning of its answer. */
const streamError = errorFrame(refuse(500), 0)

const streamAnswer = ({ switches }: AcceptedEntry, answers: ReadonlyArray<string>) =>
  streamEvents(
    switches,
    answers.map((data, index) => frameOf("result", 200, index + 1, data)),
    streamError
  )

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

const speechUsage = (speech: Speech) => {
  if (!countsTokens(speech.model)) return { characters: [...speech.input.text].length }
  const [input, output] = [tokensOf(speech.input.text), speechTokens(speech)]
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input },
    output_tokens_details: { audio_tokens: output, text_tokens: 0 }
  }
}

const CHUNK_BYTES = 6000
const EXPIRY_SECONDS = 24 * 60 * 60

/** The sound: the address of a WAV file, or, in events, its parts as raw samples and the address. */
const speechAnswer = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  speech: Speech,
  isInEvents: boolean
) {
  const links = yield* MediaLinks
  const millis = speechMillis(speech)
  const usage = speechUsage(speech)
  const file = {
    id: `audio_${acceptedEntry.upstream_id}`,
    expires_at: Math.floor(millisOf(acceptedEntry) / MILLIS) + EXPIRY_SECONDS
  }
  const finalOutput = {
    finish_reason: "stop",
    audio: { ...file, data: "", url: links.sound(acceptedEntry, millis) }
  }
  const last = jsonOf(acceptedEntry, finalOutput, usage)
  if (!isInEvents) return json(last)
  const sound = Buffer.from(makeSound("pcm", millis))
  const parts = Array.from({ length: Math.ceil(sound.byteLength / CHUNK_BYTES) }, (_, index) => {
    const part = sound.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
    const audio = { ...file, data: part.toString("base64") }
    return jsonOf(acceptedEntry, { finish_reason: "null", audio }, usage)
  })
  return yield* streamAnswer(acceptedEntry, [...parts, last])
})

const heardUsage = (transcription: Transcription, seconds: number | null) => {
  const details = { output_tokens_details: { text_tokens: tokensOf(SPOKEN) } }
  const text = tokensOf(contextOf(transcription))
  if (!countsTokens(transcription.model)) {
    return {
      input_tokens_details: { text_tokens: text },
      ...details,
      ...(seconds === null ? {} : { seconds: Math.ceil(seconds) })
    }
  }
  const audio = Math.ceil((seconds ?? 1) * TOKENS_PER_HEARD_SECOND)
  return {
    input_tokens: audio + text,
    output_tokens: tokensOf(SPOKEN),
    input_tokens_details: { audio_tokens: audio, text_tokens: text },
    ...details
  }
}

const textOutput = ({ parameters }: Transcription, text: string, finish_reason: string) => ({
  choices: [
    {
      finish_reason,
      message: {
        role: "assistant",
        annotations: [
          {
            type: "audio_info",
            language: parameters.asr_options?.language ?? "en",
            emotion: "neutral"
          }
        ],
        content: text === "" ? [] : [{ text }]
      }
    }
  ]
})

/** The text, in events word by word: each with what it adds, or with all words so far. */
const textAnswer = Effect.fnUntraced(function* (
  acceptedEntry: AcceptedEntry,
  transcription: Transcription,
  { seconds }: HeardSound,
  isInEvents: boolean
) {
  const { switches } = acceptedEntry
  const counted = isOn(switches, "seconds") ? countOf(switches, "seconds", 1) : seconds
  const usage = heardUsage(transcription, counted)
  const answerOf = (text: string, finishReason: string) =>
    jsonOf(acceptedEntry, textOutput(transcription, text, finishReason), usage)
  if (!isInEvents) {
    const text = answerOf(SPOKEN, "stop")
    return json(isOn(switches, "truncated") ? text.slice(0, Math.floor(text.length / 2)) : text)
  }
  const words = SPOKEN.match(/\S+\s*/g) ?? []
  const isIncremental = transcription.parameters.incremental_output === true
  const parts = words.map((word, index) =>
    answerOf(isIncremental ? word : words.slice(0, index + 1).join(""), "null")
  )
  return yield* streamAnswer(acceptedEntry, [
    ...parts,
    answerOf(isIncremental ? "" : SPOKEN, "stop")
  ])
})

const desk: Desk = { protocol: "dashscope", refuse, moderatedInput }

const draftOf = (model: string, prompt: string, audios: number) =>
  ({
    kind: "text",
    model,
    prompt,
    order: {
      seconds: null,
      resolution: null,
      ratio: null,
      n: null,
      size: null,
      inputs: { images: 0, videos: 0, audios },
      generate_audio: null
    },
    clientToken: null,
    echo: {},
    newId
  }) as const

const speak = Effect.fnUntraced(function* (call: Call) {
  const speech = yield* decodeSpeech(call.body)
  const fault = speechFault(speech)
  if (fault !== undefined) return yield* fault
  return yield* placeOrder(
    desk,
    call,
    draftOf(speech.model, speech.input.text, 0),
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(acceptedEntry, speechTokens(speech))
      return yield* speechAnswer(acceptedEntry, speech, isStreamed(call.headers))
    })
  )
})

const transcribe = Effect.fnUntraced(function* (call: Call) {
  const transcription = yield* decodeTranscription(call.body)
  const sound = hearSound(transcription)
  if (sound instanceof Refusal) return yield* sound
  return yield* placeOrder(
    desk,
    call,
    draftOf(transcription.model, contextOf(transcription), 1),
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(acceptedEntry, 0)
      return yield* textAnswer(acceptedEntry, transcription, sound, isStreamed(call.headers))
    })
  )
})

/** A refusal of a request for events is an event too, whatever its content type says. */
const asEvent = (refusal: Refusal) => {
  const { status, headers = {} } = refusal
  return HttpServerResponse.text(errorFrame(refusal, 1), {
    status,
    headers,
    contentType: "application/json"
  })
}

const generate = Effect.fnUntraced(
  function* (call: Call): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Refusal, Bench> {
    const { model } = yield* decodeName(call.body)
    if (isMissingModel(model)) return yield* noModel(model)
    return yield* speaks(model) ? speak(call) : transcribe(call)
  },
  (answer, call) =>
    isStreamed(call.headers)
      ? Effect.catchTag(answer, "Refusal", (refusal) => Effect.succeed(asEvent(refusal)))
      : answer
)

/** Speech over the cloud's own message interface: spoken texts and transcriptions. */
export const dashscope: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: [
    {
      method: "POST",
      path: "/api/v1/services/aigc/multimodal-generation/generation",
      handle: generate
    },
    pollRouteAt(desk, "/api/v1/tasks")
  ]
}
