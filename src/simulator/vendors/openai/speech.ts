/** Spoken texts in the common standard form: the sound as bytes, or in server-sent events. */
import { Effect, Schema } from "effect"
import type { AcceptedEntry } from "../../Book.ts"
import { type MadeSound, makeSound } from "../../media/sound.ts"
import { isOn, withUsageWord } from "../../switches.ts"
import { decodeBody } from "../../Vendor.ts"
import { eventOf, streamEvents, streamParts } from "../partStream.ts"
import { errorEvent, ofFault } from "../standardErrors.ts"
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

const usageFields = ["input_tokens", "output_tokens", "total_tokens"]

/** The events of a sound: its parts in base64, and the end with the usage. */
const eventsOf = (
  { switches }: AcceptedEntry,
  speech: Speech,
  chunks: ReadonlyArray<Uint8Array>
): ReadonlyArray<string> => {
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

/** Streams a sound as bytes, which can only break off. */
export const streamSound = (
  { switches }: AcceptedEntry,
  sound: {
    readonly parts: ReadonlyArray<Uint8Array>
    readonly contentType: string
    readonly headers?: Readonly<Record<string, string>>
  }
) => streamParts(switches, { ...sound, encode: Effect.succeed })

export const speechAnswer = (acceptedEntry: AcceptedEntry, speech: Speech) => {
  const format = speech.response_format ?? "mp3"
  const chunks = chunksOf(makeSound(format, speechMillis(speech)))
  return speech.stream_format === "sse"
    ? streamEvents(acceptedEntry.switches, eventsOf(acceptedEntry, speech, chunks), errorEvent)
    : streamSound(acceptedEntry, { parts: chunks, contentType: contentTypes[format] })
}
