/** Which field of the form an error is about, and what would mend it. */
import { Schema } from "effect"
import type { ModelEntry } from "../../../../features/catalog/ModelsApi.ts"
import { failureOf, told } from "../../../gateway/failures.ts"
import type { Draft } from "./draft.ts"

const fields = [
  "prompt",
  "messages",
  "media",
  "duration",
  "resolution",
  "ratio",
  "generate_audio",
  "n",
  "size",
  "max_tokens",
  "metadata",
  "parameters",
  "model"
] as const
export type Field = (typeof fields)[number]

/** What each part of the form needs. */
export interface FormProps {
  readonly model: ModelEntry
  readonly draft: Draft
  readonly change: (patch: Partial<Draft>) => void
  /** What is wrong with a field; true where the note of the error says it alone. */
  readonly errorOf: (field: Field) => string | boolean
}

/** By it a field is found that an error is about. */
export const marked = (field: Field) => ({ "data-field": field })

/** Other names of the interface for what one field of the form is. */
const meant: Readonly<Record<string, Field>> = {
  input: "prompt",
  content: "media",
  image: "media",
  images: "media",
  image_url: "media",
  seed: "parameters",
  negative_prompt: "parameters",
  camera_fixed: "parameters",
  watermark: "parameters",
  prompt_extend: "parameters",
  multi_shot: "parameters",
  shot_type: "parameters"
}

const isField = (name: string): name is Field => fields.some((field) => field === name)

const fieldOf = (path: string): Field | null => {
  const name = path.split(/[.[]/)[0] ?? ""
  return isField(name) ? name : (meant[name] ?? null)
}

const Faults = Schema.Struct({
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
})
const Nearest = Schema.Struct({ nearest: Schema.Union([Schema.Int, Schema.String]) })
const Priced = Schema.Struct({ priced: Schema.Array(Schema.String) })

export interface Fault {
  readonly field: Field
  readonly message: string
}

/** Every fault that a field of the form can be marked with. */
export const faultsIn = (error: unknown): ReadonlyArray<Fault> => {
  const failure = failureOf(error)
  const { param, message } = failure
  const said = told(failure, Faults)?.faults ?? (param === null ? [] : [{ path: param, message }])
  return said.flatMap(({ path, message }) => {
    const field = fieldOf(path)
    return field === null ? [] : [{ field, message }]
  })
}

export interface Mend {
  readonly value: string
  readonly patch: Partial<Draft>
}

/** Values that the gateway would take instead. */
export const mendsOf = (error: unknown): ReadonlyArray<Mend> => {
  const failure = failureOf(error)
  const nearest = told(failure, Nearest)?.nearest
  const priced = told(failure, Priced)?.priced ?? []
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
