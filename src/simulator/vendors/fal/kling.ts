/** Kling at fal: a text, or a list of shots whose lengths together are that of the video. */
import { Schema } from "effect"
import { File, modelOf, noFacts, type OrderFacts } from "./FalModel.ts"

const optional = Schema.optionalKey

const MIN_SECONDS = 3
const DEFAULT_SECONDS = 5
const MAX_MIDDLE_IMAGES = 8

const secondsTo = (max: number, min = MIN_SECONDS) =>
  Array.from({ length: max - min + 1 }, (_, index) => min + index)

/** Version 3 writes lengths as texts, version 4 as numbers. */
const Length3 = Schema.Literals(secondsTo(15).map(String))
const ShotLength3 = Schema.Literals(secondsTo(15, 1).map(String))
const Length4 = Schema.Literals(secondsTo(30))

const ratios = ["16:9", "9:16", "1:1"] as const

const commonFields = {
  prompt: optional(Schema.NonEmptyString),
  generate_audio: optional(Schema.Boolean)
}

const fields3 = {
  ...commonFields,
  duration: optional(Length3),
  multi_prompt: optional(
    Schema.NonEmptyArray(Schema.Struct({ prompt: Schema.NonEmptyString, duration: ShotLength3 }))
  ),
  shot_type: optional(Schema.Literals(["customize", "intelligent"]))
}

const fields4 = {
  ...commonFields,
  aspect_ratio: optional(Schema.Literals([...ratios, "auto"])),
  duration: optional(Length4),
  multi_prompt: optional(
    Schema.NonEmptyArray(Schema.Struct({ prompt: Schema.NonEmptyString, duration: Length4 }))
  ),
  resolution: optional(Schema.Literals(["720p", "1080p"]))
}

const frameFields = { start_image_url: File, end_image_url: optional(File) }

const middleFields = {
  middle_image_urls: optional(Schema.Array(File).check(Schema.isMaxLength(MAX_MIDDLE_IMAGES)))
}

interface KlingInput {
  readonly prompt?: string
  readonly duration?: string | number
  readonly multi_prompt?: ReadonlyArray<{
    readonly prompt: string
    readonly duration: string | number
  }>
  readonly aspect_ratio?: string
  readonly resolution?: string
  readonly generate_audio?: boolean
  readonly start_image_url?: string
  readonly end_image_url?: string
  readonly middle_image_urls?: ReadonlyArray<string>
}

const secondsOf = ({ duration = DEFAULT_SECONDS }: KlingInput): number => Number(duration)

/** The field that contradicts the others; undefined if none does. */
const contradiction = (input: KlingInput): string | undefined => {
  const { prompt, multi_prompt: shots } = input
  if ((prompt === undefined) === (shots === undefined)) return "prompt"
  const sum = shots?.reduce((total, { duration }) => total + Number(duration), 0)
  return sum === undefined || sum === secondsOf(input) ? undefined : "multi_prompt"
}

const consistent = <Fields extends Schema.Struct.Fields>(
  schema: Schema.Struct<Fields> & { readonly Type: KlingInput }
) =>
  schema.check(
    Schema.makeFilter((input: KlingInput) => {
      const field = contradiction(input)
      return field === undefined ? undefined : { path: [field], issue: "contradicts other fields" }
    })
  )

const factsOf =
  (defaultResolution: string) =>
  (input: KlingInput): OrderFacts => {
    const { start_image_url: start, end_image_url: end, middle_image_urls: middle = [] } = input
    const frames = [start, ...middle, end].filter((frame) => frame !== undefined)
    return {
      prompt: input.prompt ?? (input.multi_prompt ?? []).map(({ prompt }) => prompt).join("\n"),
      order: {
        ...noFacts,
        seconds: secondsOf(input),
        resolution: input.resolution ?? defaultResolution,
        ratio: input.aspect_ratio ?? (frames.length === 0 ? "16:9" : null),
        inputs: { ...noFacts.inputs, images: frames.length },
        generate_audio: input.generate_audio ?? true
      }
    }
  }

const video = { kind: "video", result: "video" } as const
const root = "fal-ai/kling-video"

export const klingModels = [
  modelOf(
    consistent(Schema.Struct({ ...fields3, aspect_ratio: optional(Schema.Literals(ratios)) })),
    factsOf("1080p"),
    {
      ...video,
      id: `${root}/v3/pro/text-to-video`
    }
  ),
  modelOf(consistent(Schema.Struct({ ...fields3, ...frameFields })), factsOf("1080p"), {
    ...video,
    id: `${root}/v3/pro/image-to-video`
  }),
  modelOf(consistent(Schema.Struct(fields4)), factsOf("1080p"), {
    ...video,
    id: `${root}/v4/text-to-video`
  }),
  modelOf(
    consistent(Schema.Struct({ ...fields4, ...frameFields, ...middleFields })),
    factsOf("1080p"),
    { ...video, id: `${root}/v4/image-to-video` }
  )
]
