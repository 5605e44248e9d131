/**
 * The request body of spoken texts, in the common standard form. All fields are forwarded; only
 * those that the gateway relies on are checked.
 */
import { Schema, Struct } from "effect"
import { MetadataField } from "../money/metadata.ts"
import type { CharacterCounts } from "../money/unitQuotes.ts"
import { anyFields, CallbackUrl, fieldCheck, optional } from "../requestFields.ts"
import { gatewayFieldsOf, unpricedTextWork } from "../unpricedWork.ts"

/** The content types of the sounds, by `response_format`. */
const soundTypes = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
} as const
type SoundFormat = keyof typeof soundTypes

const soundFormats = Struct.keys(soundTypes)
const USUAL_FORMAT: SoundFormat = "mp3"

const MIN_SPEED = 0.25
const MAX_SPEED = 4

const Voice = Schema.Union([
  Schema.NonEmptyString,
  Schema.StructWithRest(
    Schema.Struct({
      id: Schema.NonEmptyString.annotate({ description: "The id of a voice of one's own" })
    }),
    anyFields
  )
])

const SpeechFields = Schema.Struct({
  model: Schema.NonEmptyString.annotate({
    description: "Name of the model in the catalog",
    examples: ["voice-1"]
  }),
  input: Schema.NonEmptyString.annotate({
    description:
      "The text that is spoken; its characters are billed where the price is by characters",
    examples: ["The harbour is calm at dawn."]
  }),
  voice: optional(Voice, "the name of a voice, or an object with its id").annotate({
    description: "A voice of the model; the vendor's own when left out",
    examples: ["alloy"]
  }),
  instructions: optional(Schema.String, "a text").annotate({
    description: "How the text is spoken, where the model takes that"
  }),
  response_format: optional(
    Schema.Literals(soundFormats),
    `one of ${soundFormats.join(", ")}`
  ).annotate({
    description: `The format of the sound; ${USUAL_FORMAT} when left out`,
    examples: [USUAL_FORMAT]
  }),
  speed: optional(
    Schema.Finite.check(Schema.isBetween({ minimum: MIN_SPEED, maximum: MAX_SPEED })),
    `a number from ${MIN_SPEED} to ${MAX_SPEED}`
  ).annotate({ description: "How fast the text is spoken; 1 when left out", examples: [1] }),
  stream_format: optional(Schema.Literals(["audio", "sse"]), "audio or sse").annotate({
    description:
      "Whether the sound comes as its bytes (`audio`, when left out) or in server-sent events (`sse`)",
    examples: ["audio"]
  }),
  metadata: MetadataField,
  callback_url: CallbackUrl
})
const speechFields = gatewayFieldsOf(Object.keys(SpeechFields.fields), ["user"])

/** The body of `POST /v1/audio/speech`. Fields that are not listed belong to the vendor. */
export const SpeechBody = Schema.StructWithRest(SpeechFields, anyFields).check(
  fieldCheck((body: Readonly<Record<string, unknown>>) => unpricedTextWork(body, speechFields))
)
export type SpeechBody = typeof SpeechFields.Type

/** The content type of server-sent events. */
export const EVENT_STREAM = "text/event-stream"

/** The content type of the answer: of the ordered sound, or of server-sent events. */
export const speechContentType = ({ response_format, stream_format }: SpeechBody): string =>
  stream_format === "sse" ? EVENT_STREAM : soundTypes[response_format ?? USUAL_FORMAT]

const hanCharacter = /\p{Script=Han}/gu

/** The characters of a text, counted in both ways in which a price can count them. */
export const countCharacters = (text: string): CharacterCounts => {
  let codePoints = 0
  for (const _ of text) codePoints += 1
  return { codePoints, hanCharacters: text.match(hanCharacter)?.length ?? 0 }
}
