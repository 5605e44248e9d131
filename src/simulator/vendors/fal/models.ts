/** The models that the simulated fal serves, each with the fields of its input. */
import { Schema } from "effect"
import { type FalModel, File, modelOf, noFacts, type OrderFacts, wholeNumber } from "./FalModel.ts"
import { klingModels } from "./kling.ts"

const optional = Schema.optionalKey

const number = (minimum: number, maximum: number) =>
  optional(Schema.Finite.check(Schema.isBetween({ minimum, maximum })))
const seconds = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"] as const

const seedanceFields = {
  prompt: Schema.NonEmptyString,
  resolution: optional(Schema.Literals(["480p", "720p", "1080p"])),
  duration: optional(Schema.Literals(seconds)),
  camera_fixed: optional(Schema.Boolean),
  seed: optional(Schema.Int),
  enable_safety_checker: optional(Schema.Boolean),
  num_frames: wholeNumber(29, 289)
}

const TextToVideo = Schema.Struct({
  ...seedanceFields,
  aspect_ratio: optional(Schema.Literals(["21:9", "16:9", "4:3", "1:1", "3:4", "9:16", "9:21"]))
})

const ImageToVideo = Schema.Struct({
  ...seedanceFields,
  aspect_ratio: optional(Schema.Literals(["21:9", "16:9", "4:3", "1:1", "3:4", "9:16", "auto"])),
  image_url: File,
  end_image_url: optional(File)
})

const sizes = {
  square_hd: [1024, 1024],
  square: [512, 512],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576]
} as const

const side = wholeNumber(64, 4096)

const Flux = Schema.Struct({
  prompt: Schema.NonEmptyString,
  image_size: optional(
    Schema.Union([
      Schema.Literals([
        "square_hd",
        "square",
        "portrait_4_3",
        "portrait_16_9",
        "landscape_4_3",
        "landscape_16_9"
      ]),
      Schema.Struct({ width: side, height: side })
    ])
  ),
  num_images: wholeNumber(1, 4),
  num_inference_steps: wholeNumber(1, 50),
  guidance_scale: number(1, 20),
  seed: optional(Schema.Int),
  output_format: optional(Schema.Literals(["jpeg", "png"])),
  acceleration: optional(Schema.Literals(["none", "regular", "high"])),
  enable_safety_checker: optional(Schema.Boolean),
  sync_mode: optional(Schema.Boolean)
})

const Upscale = Schema.Struct({
  image_url: File,
  prompt: optional(Schema.String),
  negative_prompt: optional(Schema.String),
  upscale_factor: number(1, 4),
  creativity: number(0, 1),
  resemblance: number(0, 1),
  guidance_scale: number(0, 20),
  num_inference_steps: wholeNumber(4, 50),
  seed: optional(Schema.Int),
  enable_safety_checker: optional(Schema.Boolean)
})

const videoFacts = (
  input: typeof TextToVideo.Type | typeof ImageToVideo.Type,
  images: number
): OrderFacts => ({
  prompt: input.prompt,
  order: {
    ...noFacts,
    seconds: Number(input.duration ?? "5"),
    resolution: input.resolution ?? "720p",
    ratio: input.aspect_ratio ?? (images === 0 ? "16:9" : null),
    inputs: { ...noFacts.inputs, images },
    generate_audio: false
  }
})

const sizeOf = (size: (typeof Flux.Type)["image_size"]): string => {
  if (typeof size === "object") return `${size.width ?? 512}x${size.height ?? 512}`
  return sizes[size ?? "landscape_4_3"].join("x")
}

const seedance = "fal-ai/bytedance/seedance/v1/pro"

export const falModels: ReadonlyArray<FalModel> = [
  modelOf(TextToVideo, (input) => videoFacts(input, 0), {
    id: `${seedance}/text-to-video`,
    kind: "video",
    result: "video"
  }),
  modelOf(ImageToVideo, (input) => videoFacts(input, input.end_image_url === undefined ? 1 : 2), {
    id: `${seedance}/image-to-video`,
    kind: "video",
    result: "video"
  }),
  ...klingModels,
  modelOf(
    Flux,
    ({ prompt, num_images, image_size }) => ({
      prompt,
      order: { ...noFacts, n: num_images ?? 1, size: sizeOf(image_size) }
    }),
    { id: "fal-ai/flux/dev", kind: "image", result: "images" }
  ),
  modelOf(
    Upscale,
    ({ prompt = "", upscale_factor: factor = 2 }) => ({
      prompt,
      order: {
        ...noFacts,
        n: 1,
        size: `${Math.round(512 * factor)}x${Math.round(512 * factor)}`,
        inputs: { ...noFacts.inputs, images: 1 }
      }
    }),
    { id: "fal-ai/clarity-upscaler", kind: "image", result: "image" }
  )
]
