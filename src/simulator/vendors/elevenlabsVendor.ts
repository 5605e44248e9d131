import { Effect, Schema, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Product } from "../Book.ts"
import { randomText } from "../digest.ts"
import { type MadeSound, makeSound } from "../media/sound.ts"
import { placeOrder } from "../placeOrder.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  decodeBody,
  type KeyProblem,
  plainKeyOf,
  Refusal,
  type Vendor
} from "../Vendor.ts"
import { chunksOf, contentTypes, speechMillis, streamSound } from "./openai/speech.ts"

const Share = Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

const MAX_SEED = 4_294_967_295

const Speech = Schema.Struct({
  text: Schema.NonEmptyString,
  model_id: Schema.optionalKey(Schema.NonEmptyString),
  language_code: Schema.optionalKey(Schema.NonEmptyString),
  voice_settings: Schema.optionalKey(
    Schema.Struct({
      stability: Share,
      similarity_boost: Share,
      style: Share,
      use_speaker_boost: Schema.optionalKey(Schema.Boolean),
      speed: Schema.optionalKey(Schema.Finite)
    })
  ),
  seed: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_SEED }))),
  previous_text: Schema.optionalKey(Schema.String),
  next_text: Schema.optionalKey(Schema.String),
  apply_text_normalization: Schema.optionalKey(Schema.Literals(["auto", "on", "off"]))
})
type Speech = typeof Speech.Type

interface VoiceModel {
  readonly maxCharacters: number
  /** Whether the model takes a `language_code`. */
  readonly hasLanguage: boolean
}

const USUAL_MODEL = "eleven_multilingual_v2"

/** The models that speak texts; the list of models also has one that only changes voices. */
const models = new Map<string, VoiceModel>([
  [USUAL_MODEL, { maxCharacters: 10_000, hasLanguage: false }],
  ["eleven_flash_v2_5", { maxCharacters: 40_000, hasLanguage: true }],
  ["eleven_v3", { maxCharacters: 5000, hasLanguage: true }]
])
const voiceChanger = "eleven_multilingual_sts_v2"

/**
 * Those of the vendor's formats that the simulator makes. All its sounds have 24,000 samples per
 * second, and only the files of MP3 and Opus state their rate themselves, whatever the format says.
 */
const streamFormats = {
  mp3_22050_32: "mp3",
  mp3_24000_48: "mp3",
  mp3_44100_32: "mp3",
  mp3_44100_64: "mp3",
  mp3_44100_96: "mp3",
  mp3_44100_128: "mp3",
  mp3_44100_192: "mp3",
  opus_48000_32: "opus",
  opus_48000_64: "opus",
  opus_48000_96: "opus",
  opus_48000_128: "opus",
  opus_48000_192: "opus",
  pcm_24000: "pcm"
} as const satisfies Record<string, MadeSound>

/** The formats of a sound that is answered whole. */
const wholeFormats = { ...streamFormats, wav_24000: "wav" } as const satisfies Record<
  string,
  MadeSound
>

const USUAL_OUTPUT = "mp3_44100_128"

const MIN_SPEED = 0.7
const MAX_SPEED = 1.2

/** Errors have a code and, for older clients, a status. */
const refusal = (status: number, type: string, code: string, message: string) =>
  new Refusal({
    status,
    body: {
      detail: { type, code, message, status: code, request_id: randomText("0123456789abcdef", 32) }
    }
  })

const invalid = (code: string, message: string) => refusal(400, "validation_error", code, message)

const refuse = (status: number): Refusal => {
  switch (status) {
    case 401:
      return refusal(401, "authentication_error", "invalid_api_key", "Invalid API key")
    case 402:
      return refusal(
        402,
        "payment_required",
        "paid_plan_required",
        "Free users cannot use this voice via the API"
      )
    case 404:
      return refusal(404, "not_found", "not_found", "There is no such address")
    case 429:
      return refusal(
        429,
        "rate_limit_error",
        "too_many_concurrent_requests",
        "Too many requests run at the same time"
      )
    default:
      return status >= 500
        ? refusal(status, "internal_error", "something_went_wrong", "Something went wrong")
        : invalid("invalid_parameters", "The request is not valid")
  }
}

const badKey = (problem: KeyProblem): Refusal =>
  problem === "missing"
    ? refusal(401, "authentication_error", "needs_authorization", "No xi-api-key was received")
    : refuse(401)

/** A body of a wrong shape is refused by the vendor's web framework. */
const ofFault = ({ path, problem }: BodyFault): Refusal =>
  new Refusal({
    status: 422,
    body: {
      detail: [
        {
          loc: ["body", ...(path === "" ? [] : path.split("."))],
          msg: `Field ${problem}`,
          type: problem
        }
      ]
    }
  })

const moderatedInput = () =>
  invalid("content_against_policy", "The text was refused by the safety system")

const decodeSpeech = decodeBody(Speech, { unknownFields: "ignored", refuse: ofFault })

/** A voice's id. Those that begin so are of voices that the account does not have. */
const voiceId = /^(?!missing)[A-Za-z0-9]{20}$/

const checkVoice = (voice: string): Effect.Effect<void, Refusal> =>
  voiceId.test(voice)
    ? Effect.void
    : Effect.fail(
        refusal(
          404,
          "not_found",
          "voice_not_found",
          `A voice with the voice_id ${voice} was not found.`
        )
      )

const checkModel = (
  model: string,
  { text, language_code }: Speech
): Effect.Effect<void, Refusal> => {
  const row = models.get(model)
  if (row === undefined) {
    return Effect.fail(invalid("model_not_found", `A model with model ID ${model} does not exist`))
  }
  if (language_code !== undefined && !row.hasLanguage) {
    return Effect.fail(
      invalid("unsupported_language", `Model ${model} does not support language_code`)
    )
  }
  return [...text].length > row.maxCharacters
    ? Effect.fail(
        invalid(
          "max_character_limit_exceeded",
          `The text exceeds the limit of ${row.maxCharacters} characters`
        )
      )
    : Effect.void
}

const checkSpeed = ({ voice_settings: settings }: Speech): Effect.Effect<void, Refusal> => {
  const { speed = 1 } = settings ?? {}
  return speed >= MIN_SPEED && speed <= MAX_SPEED
    ? Effect.void
    : Effect.fail(
        invalid(
          "invalid_voice_settings",
          `Invalid setting for speed received, expected ${MIN_SPEED} to ${MAX_SPEED}`
        )
      )
}

const lifecycle: Lifecycle = {
  runningStatuses: ["processing"],
  reportsCancellation: false,
  productOf: (): Product => ({ seconds: null, images: null, completion_tokens: null })
}

const desk: Desk = { protocol: "elevenlabs", refuse, moderatedInput }

const speak = (outputs: Readonly<Record<string, MadeSound>>) =>
  Effect.fnUntraced(function* (call: Call) {
    const output = call.query.get("output_format") ?? USUAL_OUTPUT
    const format = outputs[output]
    if (format === undefined) {
      return yield* invalid("invalid_output_format", `output_format ${output} is not supported`)
    }
    const speech = yield* decodeSpeech(call.body)
    const { model_id: model = USUAL_MODEL, text, voice_settings } = speech
    yield* checkVoice(call.params.voice_id ?? "")
    yield* checkModel(model, speech)
    yield* checkSpeed(speech)
    return yield* placeOrder(
      desk,
      call,
      {
        kind: "text",
        model,
        prompt: text,
        order: {
          seconds: null,
          resolution: null,
          ratio: null,
          n: null,
          size: null,
          inputs: { images: 0, videos: 0, audios: 0 },
          generate_audio: null
        },
        clientToken: null,
        echo: {},
        newId: () =>
          randomText("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 20)
      },
      Effect.fnUntraced(function* (acceptedEntry) {
        const tasks = yield* Tasks
        const { reason } = yield* tasks.finish(acceptedEntry, lifecycle)
        if (reason === "moderated") return yield* moderatedInput()
        if (reason !== null) return yield* refuse(500)
        const millis = speechMillis({
          input: text,
          ...Struct.pick(voice_settings ?? {}, ["speed"])
        })
        return yield* streamSound(acceptedEntry, {
          parts: chunksOf(makeSound(format, millis)),
          contentType: contentTypes[format],
          headers: {
            "request-id": acceptedEntry.upstream_id,
            "character-cost": String([...text].length)
          }
        })
      })
    )
  })

const listModels = () =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      [...models.keys(), voiceChanger].map((id) => ({
        model_id: id,
        name: id,
        can_do_text_to_speech: id !== voiceChanger,
        can_do_voice_conversion: id === voiceChanger
      }))
    )
  )

/** Spoken texts in ElevenLabs' own form. */
export const elevenlabs: Vendor = {
  ...desk,
  authenticate: (headers) => plainKeyOf(headers["xi-api-key"], badKey),
  routes: [
    { method: "POST", path: "/v1/text-to-speech/:voice_id/stream", handle: speak(streamFormats) },
    { method: "POST", path: "/v1/text-to-speech/:voice_id", handle: speak(wholeFormats) },
    { method: "GET", path: "/v1/models", handle: listModels }
  ]
}
