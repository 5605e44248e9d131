/** The form field that an error is about, and the values that would correct it. */
import { Schema } from "effect"
import type { ModelEntry } from "../../../../features/catalog/ModelsApi.ts"
import { decodeDetails, failureOf } from "../../../gateway/failures.ts"
import { type Draft, kindOfModel, parametersOf } from "./draft.ts"

const fields = [
  "prompt",
  "documents",
  "messages",
  "media",
  "file",
  "duration",
  "resolution",
  "ratio",
  "generate_audio",
  "max_wait",
  "n",
  "size",
  "max_tokens",
  "top_n",
  "voice",
  "instructions",
  "response_format",
  "speed",
  "language",
  "metadata",
  "parameters",
  "model"
] as const
export type Field = (typeof fields)[number]

/** The properties of each part of the form. */
export interface FormProps {
  readonly model: ModelEntry
  readonly draft: Draft
  readonly change: (patch: Partial<Draft>) => void
  /**
   * The fault of a field: a message, or true where the note below the form already contains the
   * message.
   */
  readonly errorOf: (field: Field) => string | boolean
}

/** The fields above the options; all others are folded. */
const promptFields: ReadonlyArray<Field> = [
  ...(["prompt", "documents", "messages"] as const),
  ...(["media", "file", "model"] as const)
]
export const isFolded = (field: Field): boolean => !promptFields.includes(field)

/** An attribute by which the field of an error is found in the page. */
export const fieldAttribute = (field: Field) => ({ "data-field": field })

/** Names of API fields that belong to a form field of another name. */
const formFields: Readonly<Record<string, Field>> = {
  input: "prompt",
  query: "prompt",
  content: "media",
  image: "media",
  images: "media",
  image_url: "media",
  video: "media",
  seed: "parameters",
  negative_prompt: "parameters",
  camera_fixed: "parameters",
  watermark: "parameters",
  prompt_extend: "parameters",
  multi_shot: "parameters",
  shot_type: "parameters",
  quality: "parameters",
  background: "parameters",
  output_format: "parameters",
  output_compression: "parameters",
  moderation: "parameters",
  input_fidelity: "parameters",
  temperature: "parameters",
  top_p: "parameters",
  timestamp_granularities: "parameters"
}

/** Names of fields of the Responses API that belong to a form field of a text. */
const textFields: Readonly<Record<string, Field>> = {
  input: "messages",
  instructions: "messages",
  max_output_tokens: "max_tokens"
}

const isField = (name: string): name is Field => fields.some((field) => field === name)

/** The field of the form for an API field; the vendor's own fields of the model go first. */
const fieldOf = (path: string, model: ModelEntry | null): Field | null => {
  const name = path.split(/[.[]/)[0] ?? ""
  if (model !== null && Object.hasOwn(parametersOf(model), name)) return "parameters"
  const textField = textFields[name]
  if (model !== null && kindOfModel(model) === "chat" && textField !== undefined) return textField
  return isField(name) ? name : (formFields[name] ?? null)
}

const Faults = Schema.Struct({
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
})
const Nearest = Schema.Struct({ nearest: Schema.Union([Schema.Int, Schema.String]) })
const PricedValues = Schema.Struct({ priced: Schema.Array(Schema.String) })

export interface Fault {
  readonly field: Field
  readonly message: string
}

/** The faults that belong to a field of the form. */
export const formFaultsOf = (error: unknown, model: ModelEntry | null): ReadonlyArray<Fault> => {
  const failure = failureOf(error)
  const { param, message } = failure
  const faults =
    decodeDetails(failure, Faults)?.faults ?? (param === null ? [] : [{ path: param, message }])
  return faults.flatMap(({ path, message }) => {
    const field = fieldOf(path, model)
    return field === null ? [] : [{ field, message }]
  })
}

export interface Correction {
  readonly value: string
  readonly patch: Partial<Draft>
}

/**
 * Replacement values that the gateway's error names: the nearest allowed duration or resolution, or
 * all that are priced; empty if the error names none.
 */
export const correctionsOf = (error: unknown): ReadonlyArray<Correction> => {
  const failure = failureOf(error)
  const nearest = decodeDetails(failure, Nearest)?.nearest
  const priced = decodeDetails(failure, PricedValues)?.priced ?? []
  if (nearest === undefined) {
    return failure.param === "size"
      ? priced.flatMap((size) => (size === "*" ? [] : [{ value: size, patch: { size } }]))
      : failure.param === "resolution"
        ? priced.map((resolution) => ({ value: resolution, patch: { resolution } }))
        : []
  }
  const value = String(nearest)
  return failure.param === "resolution"
    ? [{ value, patch: { resolution: value } }]
    : [{ value, patch: { duration: Number(nearest) } }]
}
