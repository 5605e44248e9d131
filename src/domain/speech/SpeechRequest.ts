/**
 * The request body of spoken texts, in the common standard form. All fields are forwarded; only
 * those that the gateway relies on are checked.
 */
import { Predicate, Result, Schema } from "effect"
import { type SpeechFamily, standardSpeed } from "../audio/AudioProtocol.ts"
import {
  EVENT_STREAM,
  type SpeechFormat,
  speechFormats,
  speechTypes
} from "../audio/audioFormats.ts"
import { parameterFaults } from "../catalog/vendorParameters.ts"
import type { InvalidRequest } from "../Errors.ts"
import { MetadataField } from "../money/metadata.ts"
import type { CharacterCounts } from "../money/unitQuotes.ts"
import {
  anyFields,
  CallbackUrl,
  type FieldFault,
  fieldCheck,
  optional,
  withoutFaults
} from "../requestFields.ts"
import { gatewayFieldsOf, unpricedTextWork } from "../unpricedWork.ts"

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
    description:
      "A voice of the model; the vendor's own when left out, unless its vendor needs one",
    examples: ["alloy"]
  }),
  instructions: optional(Schema.String, "a text").annotate({
    description: "How the text is spoken, where the model takes that"
  }),
  response_format: optional(
    Schema.Literals(speechFormats),
    `one of ${speechFormats.join(", ")}`
  ).annotate({
    description:
      "The format of the sound; when left out mp3, or the first one that the model's vendor makes",
    examples: ["mp3"]
  }),
  speed: optional(
    Schema.Finite.check(Schema.isBetween(standardSpeed)),
    `a number from ${standardSpeed.minimum} to ${standardSpeed.maximum}`
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

/** The speed that holds where an order names none. */
export const USUAL_SPEED = 1

const NO_SUCH_FIELD = "this model has no such field"

const speedFault = (speed: number, bounds: SpeechFamily["speed"]): ReadonlyArray<FieldFault> => {
  const { minimum, maximum } = bounds ?? { minimum: USUAL_SPEED, maximum: USUAL_SPEED }
  if (speed >= minimum && speed <= maximum) return []
  const expected =
    bounds === null
      ? `${USUAL_SPEED} or nothing: ${NO_SUCH_FIELD}`
      : `a number from ${minimum} to ${maximum} for this model`
  return [{ path: "speed", message: `Expected ${expected}` }]
}

/** The name of the ordered voice, or the id of a voice of one's own. */
export const voiceOf = ({ voice }: SpeechBody): string | null =>
  Predicate.isString(voice) ? voice : (voice?.id ?? null)

function* unsupportedFields(
  body: SpeechBody,
  { voiceId, formats, speed: bounds, hasInstructions, hasEvents }: SpeechFamily
): Generator<FieldFault> {
  const { response_format, speed, instructions, stream_format } = body
  if (voiceId !== undefined && !voiceId.test(voiceOf(body) ?? "")) {
    yield { path: "voice", message: "Expected the id of a voice at this model's vendor" }
  }
  if (!formats.includes(response_format ?? formats[0])) {
    yield { path: "response_format", message: `Expected ${formats.join(" or ")} for this model` }
  }
  yield* speedFault(speed ?? USUAL_SPEED, bounds)
  if (!hasInstructions && (instructions ?? "") !== "") {
    yield { path: "instructions", message: `Expected nothing: ${NO_SUCH_FIELD}` }
  }
  if (!hasEvents && stream_format === "sse") {
    yield { path: "stream_format", message: "Expected audio: this model's sound comes in bytes" }
  }
}

/** The format of the ordered sound. */
export const speechFormatOf = (
  { response_format }: SpeechBody,
  { formats }: SpeechFamily
): SpeechFormat => response_format ?? formats[0]

/**
 * The content type of the answer: of the ordered sound, or of server-sent events. Fails where the
 * family lacks a field or a value of the order.
 */
export const speechContentType = (
  body: SpeechBody,
  family: SpeechFamily
): Result.Result<string, InvalidRequest> =>
  Result.map(
    withoutFaults([
      ...parameterFaults({ ...body }, family.parameters),
      ...unsupportedFields(body, family)
    ]),
    () => (body.stream_format === "sse" ? EVENT_STREAM : speechTypes[speechFormatOf(body, family)])
  )

/** Fails where the order names a voice that is none of those that the model is limited to. */
export const checkVoice = (
  body: SpeechBody,
  voices: ReadonlyArray<string> | undefined
): Result.Result<void, InvalidRequest> => {
  const voice = voiceOf(body)
  return withoutFaults(
    voices === undefined || voice === null || voices.includes(voice)
      ? []
      : [{ path: "voice", message: `Expected ${voices.join(" or ")} for this model` }]
  )
}

const hanCharacter = /\p{Script=Han}/gu

/** The characters of a text, counted in both ways in which a price can count them. */
export const countCharacters = (text: string): CharacterCounts => {
  let codePoints = 0
  for (const _ of text) codePoints += 1
  return { codePoints, hanCharacters: text.match(hanCharacter)?.length ?? 0 }
}
