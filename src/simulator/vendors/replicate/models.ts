/** The models that the simulated Replicate serves, each with the fields of its input. */
import { Effect, Schema } from "effect"
import { File, noFacts, type OrderFacts, wholeNumber } from "../fal/FalModel.ts"

const optional = Schema.optionalKey

const Seedance = Schema.Struct({
  prompt: Schema.String,
  image: optional(File),
  last_frame_image: optional(File),
  duration: wholeNumber(2, 12),
  resolution: optional(Schema.Literals(["480p", "720p", "1080p"])),
  aspect_ratio: optional(Schema.Literals(["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "9:21"])),
  fps: optional(Schema.Literal(24)),
  camera_fixed: optional(Schema.Boolean),
  seed: optional(Schema.Int)
})

const Kling = Schema.Struct({
  prompt: Schema.String,
  start_image: File,
  end_image: optional(File),
  mode: optional(Schema.Literals(["standard", "pro"])),
  duration: optional(Schema.Literals([5, 10])),
  negative_prompt: optional(Schema.String)
})

const ratios = {
  "1:1": "1024x1024",
  "16:9": "1344x768",
  "21:9": "1536x640",
  "3:2": "1216x832",
  "2:3": "832x1216",
  "4:5": "896x1088",
  "5:4": "1088x896",
  "3:4": "896x1152",
  "4:3": "1152x896",
  "9:16": "768x1344",
  "9:21": "640x1536"
} as const

const Schnell = Schema.Struct({
  prompt: Schema.String,
  aspect_ratio: optional(
    Schema.Literals([
      "1:1",
      "16:9",
      "21:9",
      "3:2",
      "2:3",
      "4:5",
      "5:4",
      "3:4",
      "4:3",
      "9:16",
      "9:21"
    ])
  ),
  num_outputs: wholeNumber(1, 4),
  num_inference_steps: wholeNumber(1, 4),
  seed: optional(Schema.Int),
  output_format: optional(Schema.Literals(["webp", "jpg", "png"])),
  output_quality: wholeNumber(0, 100),
  go_fast: optional(Schema.Boolean),
  megapixels: optional(Schema.Literals(["1", "0.25"])),
  disable_safety_checker: optional(Schema.Boolean)
})

const Upscale = Schema.Struct({ image: File })

const tiers = { standard: "720p", pro: "1080p" } as const

export interface ReplicateModel {
  readonly id: string
  readonly kind: "video" | "image"
  /** Whether the output is a list of addresses, and not an address. */
  readonly isList: boolean
  readonly decode: (input: unknown) => Effect.Effect<OrderFacts, Schema.SchemaError>
}

const modelOf = <A, I>(
  schema: Schema.Codec<A, I>,
  factsOf: (input: A) => OrderFacts,
  model: Omit<ReplicateModel, "decode">
): ReplicateModel => {
  const decode = Schema.decodeUnknownEffect(schema)
  return { ...model, decode: (input) => Effect.map(decode(input), factsOf) }
}

const countOf = (...files: ReadonlyArray<string | undefined>): number =>
  files.filter((file) => file !== undefined).length

export const replicateModels: ReadonlyArray<ReplicateModel> = [
  modelOf(
    Seedance,
    ({ prompt, image, last_frame_image, duration, resolution, aspect_ratio }) => ({
      prompt,
      order: {
        ...noFacts,
        seconds: duration ?? 5,
        resolution: resolution ?? "1080p",
        ratio: image === undefined ? (aspect_ratio ?? "16:9") : null,
        inputs: { ...noFacts.inputs, images: countOf(image, last_frame_image) },
        generate_audio: false
      }
    }),
    { id: "bytedance/seedance-1-pro", kind: "video", isList: false }
  ),
  modelOf(
    Kling,
    ({ prompt, start_image, end_image, mode, duration }) => ({
      prompt,
      order: {
        ...noFacts,
        seconds: duration ?? 5,
        resolution: tiers[mode ?? "standard"],
        inputs: { ...noFacts.inputs, images: countOf(start_image, end_image) },
        generate_audio: false
      }
    }),
    { id: "kwaivgi/kling-v2.1", kind: "video", isList: false }
  ),
  modelOf(
    Schnell,
    ({ prompt, aspect_ratio, num_outputs }) => ({
      prompt,
      order: { ...noFacts, n: num_outputs ?? 1, size: ratios[aspect_ratio ?? "1:1"] }
    }),
    { id: "black-forest-labs/flux-schnell", kind: "image", isList: true }
  ),
  modelOf(
    Upscale,
    () => ({
      prompt: "",
      order: {
        ...noFacts,
        n: 1,
        size: "2048x2048",
        inputs: { ...noFacts.inputs, images: 1 }
      }
    }),
    { id: "recraft-ai/recraft-crisp-upscale", kind: "image", isList: false }
  )
]
