/** Spoken texts in the common standard form: the sound as bytes, or in server-sent events. */
import { Effect, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AcceptedEntry } from "../../Book.ts"
import { type MadeSound, makeSound } from "../../media/sound.ts"
import { hangUp } from "../../placeOrder.ts"
import { countOf, isOn, withUsageWord } from "../../switches.ts"
import { decodeBody } from "../../Vendor.ts"
import { ofFault } from "../standardErrors.ts"
import { tokensOf } from "./chats.ts"

const MAX_INPUT = 4096

const Speech = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.NonEmptyString.check(Schema.isMaxLength(MAX_INPUT)),
  voice: Schema.optionalKey(
    Schema.Union([Schema.NonEmptyString, Schema.Struct({ id: Schema.NonEmptyString })])
  ),
  instructions: Schema.optionalKey(Schema.String),
  response_format: Schema.optionalKey(
    Schema.Literals(["mp3", "opus", "aac", "flac", "wav", "pcm"])
  ),
  speed: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0.25, maximum: 4 }))),
  stream_format: Schema.optionalKey(Schema.Literals(["audio", "sse"]))
})
export type Speech = typeof Speech.Type

export const decodeSpeech = decodeBody(Speech, { unknownFields: "ignored", refuse: ofFault })

export const contentTypes: Readonly<Record<MadeSound, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
}

const MILLIS_PER_CHARACTER = 65
const TOKENS_PER_SECOND = 20
const MILLIS = 1000

/** The length of the sound in milliseconds: so much for each character, at the ordered speed. */
export const speechMillis = ({ input, speed = 1 }: Pick<Speech, "input" | "speed">): number =>
  Math.ceil(([...input].length * MILLIS_PER_CHARACTER) / speed)

export const speechTokens = (speech: Speech): number =>
  Math.ceil((speechMillis(speech) * TOKENS_PER_SECOND) / MILLIS)

const CHUNK_BYTES = 4096

export const chunksOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.byteLength / CHUNK_BYTES) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
  )

const eventOf = (data: string): Uint8Array => new TextEncoder().encode(`data: ${data}\n\n`)

const usageFields = ["input_tokens", "output_tokens", "total_tokens"]

/** The events of a sound: its parts in base64, and the end with the usage. */
const eventsOf = (
  { switches }: AcceptedEntry,
  speech: Speech,
  chunks: ReadonlyArray<Uint8Array>
): ReadonlyArray<Uint8Array> => {
  const [input, output] = [tokensOf(speech.input), speechTokens(speech)]
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  const end = {
    type: "speech.audio.done",
    ...(isOn(switches, "nousage") ? {} : { usage })
  }
  return [
    ...chunks.map((chunk) =>
      eventOf(
        JSON.stringify({
          type: "speech.audio.delta",
          audio: Buffer.from(chunk).toString("base64")
        })
      )
    ),
    eventOf(withUsageWord(JSON.stringify(end), switches, usageFields))
  ]
}

const errorEvent = eventOf(
  JSON.stringify({
    type: "error",
    error: { message: "The server had an error", type: "server_error", code: "overloaded" }
  })
)

/** Closes the connection after a delay, so that the parts written before still arrive. */
const brokenConnection = Effect.sleep("50 millis").pipe(
  Effect.andThen(hangUp),
  Effect.andThen(Effect.never)
)

/** The parts of a sound as they are sent, and how it is sent. */
interface SoundStream {
  readonly parts: ReadonlyArray<Uint8Array>
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  /** The last part with `sim:errors`; without it, the sound breaks off. */
  readonly errorPart?: Uint8Array
}

/**
 * Streams a sound. With `sim:breaks=N`, `sim:stalls=N` or `sim:errors=N` it breaks, stalls, or
 * sends an error after N parts.
 */
export const streamSound = Effect.fnUntraced(function* (
  { switches }: AcceptedEntry,
  { parts, errorPart, ...head }: SoundStream
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const after = (name: string) => countOf(switches, name, isOn(switches, name) ? 1 : parts.length)
  const partCount = Math.min(after("breaks"), after("stalls"), after("errors"))
  const pauseMillis = (countOf(switches, "takes", 0) * MILLIS) / parts.length
  const ending = (): Stream.Stream<Uint8Array, never, HttpServerRequest.HttpServerRequest> => {
    if (isOn(switches, "stalls")) return Stream.never
    return errorPart !== undefined && isOn(switches, "errors")
      ? Stream.succeed(errorPart)
      : Stream.fromEffect(brokenConnection)
  }
  const sent = Stream.fromIterable(parts.slice(0, partCount)).pipe(
    Stream.rechunk(1),
    Stream.tap(() => Effect.sleep(pauseMillis))
  )
  return HttpServerResponse.stream(
    (partCount < parts.length ? Stream.concat(sent, ending()) : sent).pipe(
      Stream.provideService(HttpServerRequest.HttpServerRequest, request)
    ),
    head
  )
})

export const speechAnswer = (acceptedEntry: AcceptedEntry, speech: Speech) => {
  const format = speech.response_format ?? "mp3"
  const chunks = chunksOf(makeSound(format, speechMillis(speech)))
  return streamSound(
    acceptedEntry,
    speech.stream_format === "sse"
      ? {
          parts: eventsOf(acceptedEntry, speech, chunks),
          contentType: "text/event-stream",
          errorPart: errorEvent
        }
      : { parts: chunks, contentType: contentTypes[format] }
  )
}
