/**
 * The request body of a transcription in the common standard form, which clients send as a form or,
 * with the id of a file, as JSON. All fields are forwarded; only those that the gateway relies on
 * are checked.
 */
import { Predicate, Result, Schema, Struct } from "effect"
import type { TranscriptionFamily } from "../audio/AudioProtocol.ts"
import {
  EVENT_STREAM,
  granularities,
  transcriptFormats,
  transcriptTypes
} from "../audio/audioFormats.ts"
import { parameterFaults } from "../catalog/vendorParameters.ts"
import type { InvalidRequest } from "../Errors.ts"
import { isFileId } from "../mediaUrls.ts"
import { MetadataField } from "../money/metadata.ts"
import {
  anyFields,
  type FieldFault,
  fieldCheck,
  optional,
  optionalBoolean,
  withoutFaults
} from "../requestFields.ts"
import { gatewayFieldsOf, unpricedTextWork } from "../unpricedWork.ts"

export const MAX_TEMPERATURE = 2

/** The form in which a file is part of JSON: base64 in a data URL. */
const isInline = (text: string): boolean => /^data:[^,]{0,200};base64,/i.test(text)

const FILE = "a file of the form, the id of a file, or a data URL in base64"
const SoundFile = Schema.Union([
  Schema.String.check(
    Schema.makeFilter((text: string) => isFileId(text) || isInline(text), {
      expected: FILE,
      toJsonSchema: () => [{}, true]
    })
  ),
  Schema.Struct({
    file_id: Schema.String.check(
      Schema.makeFilter(isFileId, {
        expected: "the id of a file",
        toJsonSchema: () => [{}, true]
      })
    ).annotate({ description: "Id of a file that POST /v1/files took" })
  })
]).annotate({ expected: FILE })

const TranscriptionFields = Schema.Struct({
  model: Schema.NonEmptyString.annotate({
    description: "Name of the model in the catalog",
    examples: ["listen-1"]
  }),
  file: SoundFile.annotate({
    description:
      "The sound (wav, mp3, m4a, ogg, flac or webm): a file of the form, the id of an uploaded file, or a data URL in base64",
    examples: ["file_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"]
  }),
  language: optional(Schema.String, "a language").annotate({
    description: "The language of the sound, such as `en`"
  }),
  prompt: optional(Schema.String, "a text").annotate({
    description: "A text that guides the spelling, or continues an earlier part"
  }),
  response_format: optional(
    Schema.Literals(transcriptFormats),
    `one of ${transcriptFormats.join(", ")}`
  ).annotate({ description: "The form of the answer; json when left out", examples: ["json"] }),
  temperature: optional(
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: MAX_TEMPERATURE })),
    `a number from 0 to ${MAX_TEMPERATURE}`
  ).annotate({ description: "How freely the model chooses words" }),
  timestamp_granularities: optional(
    Schema.Array(Schema.Literals(granularities)),
    `a list of ${granularities.join(" and ")}`
  ).annotate({ description: "Which times verbose_json has", examples: [["segment"]] }),
  stream: optionalBoolean.annotate({
    description: "Whether the text comes in server-sent events",
    examples: [false]
  }),
  metadata: MetadataField
})
const transcriptionFields = gatewayFieldsOf(Object.keys(TranscriptionFields.fields), ["user"])

const isScalar = (value: unknown): boolean => !Predicate.isObjectOrArray(value)

/** The vendor gets a form, whose further fields can only be texts, numbers and lists of them. */
const nestedFaults = (body: object): ReadonlyArray<FieldFault> =>
  Object.entries(body).flatMap(([path, value]) =>
    transcriptionFields.names.has(path) || [value].flat().every(isScalar)
      ? []
      : [{ path, message: "Expected a text, a number or a list of them, as it is sent in a form" }]
  )

/**
 * The body of `POST /v1/audio/transcriptions` and `/translations`. Fields that are not listed belong
 * to the vendor.
 */
export const TranscriptionBody = Schema.StructWithRest(TranscriptionFields, anyFields).check(
  fieldCheck((body: Readonly<Record<string, unknown>>) =>
    unpricedTextWork(body, transcriptionFields)
  ),
  fieldCheck(nestedFaults)
)
export type TranscriptionBody = typeof TranscriptionFields.Type

const MAX_SECONDS = 24 * 3600

/** The body of a quote that names the length of the sound in place of its file. */
export const TranscriptionLength = Schema.StructWithRest(
  Schema.Struct({
    ...Struct.omit(TranscriptionFields.fields, ["file"]),
    seconds: Schema.Finite.check(
      Schema.isBetween(
        { minimum: 0.001, maximum: MAX_SECONDS },
        { expected: `a number of seconds up to ${MAX_SECONDS}` }
      )
    )
  }),
  anyFields
)
export type TranscriptionLength = typeof TranscriptionLength.Type

/** The fields of a transcription beside its sound. */
export type TranscriptionSettings = Omit<TranscriptionBody, "file">

/** The data URL of the sound, or the id of its file. */
export const soundOf = ({ file }: TranscriptionBody): string =>
  Predicate.isString(file) ? file : file.file_id

/** The content type of an answer that is not streamed. */
export const transcriptType = ({ response_format }: TranscriptionSettings): string =>
  transcriptTypes[response_format ?? "json"]

/** Whether the answer is JSON, and tells its usage. */
export const isJsonTranscript = (body: TranscriptionSettings): boolean =>
  transcriptType(body) === transcriptTypes.json

/** The values of a field that a family takes, as an error names them. */
const listOf = (values: ReadonlyArray<string>): string =>
  values.length === 0 ? "nothing" : values.join(" or ")

/** The optional fields of the standard form that a family may lack. */
const textFields = {
  language: "hasLanguage",
  prompt: "hasPrompt",
  temperature: "hasTemperature"
} as const

function* unsupportedFields(
  body: TranscriptionSettings,
  family: TranscriptionFamily,
  isTranslation: boolean
): Generator<FieldFault> {
  if (isTranslation && !family.translates) {
    yield { path: "model", message: "This model transcribes sounds and translates none" }
  }
  if (!family.formats.includes(body.response_format ?? "json")) {
    yield { path: "response_format", message: `Expected ${listOf(family.formats)} for this model` }
  }
  const times = body.timestamp_granularities ?? []
  if (!times.every((one) => family.granularities.includes(one))) {
    const expected = listOf(family.granularities)
    yield { path: "timestamp_granularities", message: `Expected ${expected} for this model` }
  }
  for (const name of Struct.keys(textFields)) {
    if (family[textFields[name]] || (body[name] ?? "") === "") continue
    yield { path: name, message: "Expected nothing: this model has no such field" }
  }
  if (!family.hasEvents && body.stream === true) {
    yield { path: "stream", message: "Expected false: this model's texts are answered whole" }
  }
}

/**
 * The content type of the answer: of the transcript, or of server-sent events. Fails where the
 * family lacks a field or a value of the order.
 */
export const transcriptionContentType = (
  body: TranscriptionSettings,
  family: TranscriptionFamily,
  isTranslation: boolean
): Result.Result<string, InvalidRequest> =>
  Result.map(
    withoutFaults([
      ...parameterFaults({ ...body }, family.parameters),
      ...unsupportedFields(body, family, isTranslation)
    ]),
    () => (body.stream === true ? EVENT_STREAM : transcriptType(body))
  )
