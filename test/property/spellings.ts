import { Result, Schema, type SchemaAST } from "effect"
import { parametersTogether } from "../../src/domain/catalog/vendorParameters.ts"
import { editRequest, ImageEditBody } from "../../src/domain/image/ImageEditRequest.ts"
import { imageFamilyOf, imageProtocols } from "../../src/domain/image/ImageProtocol.ts"
import { checkImages, ImageBody, type ImageRequest } from "../../src/domain/image/ImageRequest.ts"
import { imageDimensions } from "../../src/domain/image/imagePrices.ts"
import { priceImages } from "../../src/domain/image/pricedImages.ts"
import { type FieldFault, issueFaults } from "../../src/domain/requestFields.ts"
import { ChatBody, EmbeddingBody } from "../../src/domain/text/TextRequest.ts"
import { OpenaiVideoBody } from "../../src/domain/video/OpenaiVideoBody.ts"
import { unknownVideoFields, VideoBody } from "../../src/domain/video/VideoBody.ts"
import {
  blockParameters,
  cloudParameters,
  miniMaxParameters,
  tierParameters,
  unifiedParameters,
  veoParameters
} from "../../src/domain/video/videoParameters.ts"
import { firstSeedOfDay } from "../support/day.ts"
import type { Dice } from "../support/randomOrders.ts"
import { type Disguise, disguised } from "./disguises.ts"

export const CASES = Number(process.env.PROPERTY_CASES ?? 3000)
export const SEED = Number(process.env.PROPERTY_SEED ?? firstSeedOfDay(CASES))
export type Json = Readonly<Record<string, unknown>>

export const kinds = ["image", "edit", "chat", "embedding", "video", "openai video"] as const
export type Kind = (typeof kinds)[number]

// What the gateway reads, told from its schemas and tables

const namesOf = ({ ast }: { readonly ast: SchemaAST.AST }): ReadonlyArray<string> =>
  "propertySignatures" in ast && Array.isArray(ast.propertySignatures)
    ? ast.propertySignatures.flatMap(({ name }) => (typeof name === "string" ? [name] : []))
    : []

export const family = imageFamilyOf(imageProtocols.ip_a, "paint")
const ofImages = [...Object.keys(family.parameters), ...imageDimensions]

const schemas = {
  image: ImageBody,
  edit: ImageEditBody,
  chat: ChatBody,
  embedding: EmbeddingBody,
  video: VideoBody,
  "openai video": OpenaiVideoBody
} as const satisfies Record<Kind, Schema.Top>

export const ownNames: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  image: [...new Set([...namesOf(ImageBody), ...ofImages])],
  edit: [...new Set([...namesOf(ImageEditBody), ...ofImages])],
  chat: namesOf(ChatBody),
  embedding: namesOf(EmbeddingBody),
  video: namesOf(VideoBody),
  "openai video": namesOf(OpenaiVideoBody)
}

const IMAGE = "https://files.test/1.png"
export const paint = {
  model: "paint",
  prompt: "a lighthouse",
  n: 1,
  size: "1024x1024",
  quality: "low"
}
export const plain: Readonly<Record<Kind, Json>> = {
  image: paint,
  edit: { ...paint, image: IMAGE },
  chat: { model: "talk", messages: [{ role: "user", content: "hello" }], max_tokens: 10 },
  embedding: { model: "vector", input: "hello" },
  video: { model: "film", prompt: "a lighthouse", duration: 5 },
  "openai video": { model: "film", prompt: "a lighthouse", seconds: "5" }
}

// The gateway without its sockets

export const prices = {
  low: { "1024x1024": "0.1", "4096x4096": "1" },
  high: { "1024x1024": "2", "4096x4096": "20" }
}
export const nanoPrices = {
  kind: "image",
  per_image: {
    low: { "1024x1024": 100_000_000n, "4096x4096": 1_000_000_000n },
    high: { "1024x1024": 2_000_000_000n, "4096x4096": 20_000_000_000n }
  }
} as const

const imageFault = (request: ImageRequest): FieldFault | null => {
  const checked = Result.andThen(checkImages(request, family), () =>
    priceImages(nanoPrices, request, family)
  )
  if (Result.isSuccess(checked)) return null
  const { param, message } = checked.failure
  return { path: param ?? "", message }
}

const decoded = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  body: unknown,
  next: (body: S["Type"]) => FieldFault | null
): FieldFault | null => {
  const result = Schema.decodeUnknownResult(schema)(body)
  if (Result.isSuccess(result)) return next(result.success)
  return issueFaults(result.failure.issue)[0] ?? { path: "", message: "" }
}

const taken = () => null

/** The first fault of an order; null where it is taken. */
export const faultOf = (kind: Kind, body: Json): FieldFault | null => {
  switch (kind) {
    case "image":
      return decoded(ImageBody, body, (image) => imageFault({ body: image, edit: null }))
    case "edit":
      return decoded(ImageEditBody, body, (edit) => imageFault(editRequest(edit)))
    case "video":
      return decoded(VideoBody, body, (video) => unknownVideoFields(video, parameters)[0] ?? null)
    default:
      return decoded<Schema.Top & { readonly DecodingServices: never }>(schemas[kind], body, taken)
  }
}

const parameters = parametersTogether(
  [
    blockParameters,
    unifiedParameters,
    tierParameters,
    cloudParameters,
    veoParameters,
    miniMaxParameters
  ].map((of) => of.parameters)
)

export const isVideo = (kind: Kind): boolean => kind === "video" || kind === "openai video"

interface Drawn extends Disguise {
  readonly kind: Kind
  readonly field: string
}

/** Values that cost more than what the order says. */
export const values: Json = {
  n: 10,
  size: "4096x4096",
  quality: "high",
  stream: true,
  model: "dear",
  tools: [{ type: "web_search" }],
  max_tokens: 100_000,
  stream_options: { include_usage: false },
  response_format: "b64_json",
  duration: 15
}

export const drawn = (dice: Dice, kind: Kind, isForm = false): Drawn => {
  const [first = "", ...rest] = ownNames[kind]
  const field = dice.pick([first, ...rest])
  const value = isForm ? String(values[field] ?? "x") : (values[field] ?? "x")
  return { kind, field, ...disguised(dice, field, value, { isForm, own: ownNames[kind] }) }
}

export const joined = (...parts: ReadonlyArray<Json>): Json =>
  Object.fromEntries(parts.flatMap((part) => Object.entries(part)))

/** What is wrong with how a disguise was answered; null where nothing is. */
export const complaint = (
  { kind, field, path, top, isNested, isClear }: Drawn,
  fault: FieldFault | null
) => {
  if (fault === null) return "it was taken"
  if (isVideo(kind)) {
    // Everything unknown is refused, whatever is in it.
    if (fault.path !== top.slice(0, 100).toWellFormed()) return `the path is ${fault.path}`
    return isNested || !isClear || fault.message.includes(field) ? null : fault.message
  }
  // Brackets in a name are refused before anything else.
  if (path !== null && !fault.path.startsWith(path.slice(0, 100).toWellFormed())) {
    return `the path is ${JSON.stringify(fault.path)}`
  }
  return !isClear || fault.message.includes(field) ? null : fault.message
}

export const inWords = (value: unknown): string => JSON.stringify(value).slice(0, 300)

export const vendorFields: ReadonlyArray<readonly [Kind, Json]> = [
  ["image", { seed: 7, guidance_scale: 3.5, num_inference_steps: 20, negative_prompt: "x" }],
  ["image", { style: "vivid", style_preset: "anime", loras: [{ model: "x", scale: 1 }] }],
  ["image", { controlnet: { image: IMAGE, model: "canny" }, watermark: false, user: "me" }],
  ["image", { 风格: "水墨", параметры: { стиль: 1 }, größe_der_schrift: 3, prénom: "x" }],
  ["image", { background_color: "red", sizing: "fit", models_used: 1, prompt_upsampling: true }],
  ["chat", { temperature: 0.5, top_p: 1, seed: 7, reasoning_effort: "low", logprobs: true }],
  ["chat", { reasoning: { max_tokens: 5 }, options: { num_ctx: 2048, num_predict: 5, stop: [] } }],
  ["chat", { modalities: ["text"], tools: [{ type: "function", function: { name: "f" } }] }],
  ["chat", { stream_options: { include_obfuscation: false }, tools: null }],
  ["chat", { chat_template_kwargs: { enable_thinking: false }, extra_body: { top_k: 5 } }],
  ["chat", { prompt_variables: { 城市: "北京", город: "Москва" }, audio: null, modalities: [] }],
  ["embedding", { dimensions: 8, encoding_format: "float", input_type: "query", user: "me" }]
]
