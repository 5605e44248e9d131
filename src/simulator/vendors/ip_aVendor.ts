import { Effect, Result, Schema } from "effect"
import type { AcceptedEntry } from "../Book.ts"
import { randomText } from "../digest.ts"
import { MediaLinks, pictureSeed, type Size } from "../Media.ts"
import { drawPicture, maxSide } from "../media/picture.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedImages, refusedImages } from "../rendering.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  type Refusal,
  type Vendor
} from "../Vendor.ts"
import { readEdit } from "./ip_a/edits.ts"
import { imageUsage } from "./ip_a/imageUsage.ts"
import { type ImageWork, streamImages } from "./ip_a/streaming.ts"
import { modelsAt } from "./modelList.ts"
import {
  badKey,
  invalid,
  missingModel,
  moderatedInput,
  ofFault,
  refuse,
  refusedContent
} from "./standardErrors.ts"

const optional = Schema.optionalKey

const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))

const percent = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
const partials = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))

const Submit = Schema.Struct({
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))),
  size: optional(Schema.String),
  response_format: optional(Schema.Literals(["url", "b64_json"])),
  quality: optional(Schema.String),
  style: optional(Schema.String),
  background: optional(Schema.String),
  seed: optional(Schema.Int),
  watermark: optional(Schema.Boolean),
  output_format: optional(Schema.Literals(["png", "jpeg", "webp"])),
  output_compression: optional(percent),
  moderation: optional(Schema.Literals(["low", "auto"])),
  image: optional(Schema.Union([Url, Schema.Array(Url)])),
  stream: optional(Schema.Boolean),
  partial_images: optional(partials),
  user: optional(Schema.String)
})
type Submit = typeof Submit.Type

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const namedSizes: Readonly<Record<string, Size>> = {
  auto: { width: 1024, height: 1024 },
  "1K": { width: 1024, height: 1024 },
  "2K": { width: 2048, height: 2048 },
  "4K": { width: 4096, height: 4096 }
}

const readSize = (text: string): Result.Result<Size, Refusal> => {
  const namedSize = namedSizes[text]
  if (namedSize !== undefined) return Result.succeed(namedSize)
  const [, width = 0, height = 0] = /^(\d{1,5})x(\d{1,5})$/.exec(text)?.map(Number) ?? []
  if (width < 1 || height < 1) {
    return Result.fail(invalid("size", "size must be WxH, auto or a tier"))
  }
  return Math.max(width, height) > maxSide
    ? Result.fail(invalid("size", `size must be at most ${maxSide}x${maxSide}`))
    : Result.succeed({ width, height })
}

/** The response contains the finished images, so an order is never polled. */
const lifecycle: Lifecycle = {
  runningStatuses: ["processing"],
  reportsCancellation: false,
  refusesImages: (acceptedEntry) => refusedImages(acceptedEntry) >= (acceptedEntry.order.n ?? 1),
  productOf: producedImages
}

/** The list entry of an image that was refused when it was generated. */
const refusedImage = {
  error: {
    code: "OutputImageSensitiveContentDetected",
    message: "The request failed because the output image may contain sensitive information."
  }
}

const answer = Effect.fnUntraced(function* (
  desk: Desk,
  acceptedEntry: AcceptedEntry,
  size: Size,
  { response_format, prompt, stream, partial_images }: Submit,
  work: ImageWork
) {
  const tasks = yield* Tasks
  const links = yield* MediaLinks
  const endedEntry = yield* tasks.finish(acceptedEntry, lifecycle)
  const refusedCount = refusedImages(acceptedEntry)
  if (endedEntry.reason === "moderated" && refusedCount === 0) {
    return yield* refusedContent("moderation_blocked")
  }
  if (endedEntry.reason !== null && endedEntry.reason !== "moderated")
    return yield* desk.refuse(500)
  const imageCount = endedEntry.produced.images ?? 0
  if (stream === true) {
    return yield* streamImages(acceptedEntry, size, {
      work,
      imageCount,
      partial: partial_images ?? 0
    })
  }
  const indexes = Array.from({ length: imageCount }, (_, index) => index)
  const data = yield* Effect.forEach(
    indexes,
    Effect.fnUntraced(function* (index): Effect.fn.Return<Schema.JsonObject> {
      if (response_format !== "b64_json") {
        return { url: links.image(acceptedEntry, index, size), revised_prompt: prompt }
      }
      const png = yield* drawPicture(pictureSeed(acceptedEntry, index), size)
      return { b64_json: png.toString("base64") }
    })
  )
  return {
    created: Math.floor(Date.parse(acceptedEntry.at) / 1000),
    data: [...data, ...Array.from({ length: refusedCount }, () => refusedImage)],
    ...imageUsage(acceptedEntry, imageCount)
  }
})

/** Whether the model belongs to the vendor whose API has neither `n` nor edits. */
const isSingle = (model: string): boolean => model.includes("seedream-")

const newId = (): string => `img-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 20)}`

const placeImageOrder = Effect.fnUntraced(function* (
  desk: Desk,
  call: Call,
  order: Submit,
  images: number,
  work: ImageWork
) {
  const size = yield* Effect.fromResult(readSize(order.size ?? "1024x1024"))
  if (isMissingModel(order.model)) {
    return yield* missingModel(order.model)
  }
  return yield* placeOrder(
    desk,
    call,
    {
      kind: "image",
      model: order.model,
      prompt: order.prompt,
      order: {
        seconds: null,
        resolution: null,
        ratio: null,
        n: isSingle(order.model) ? 1 : (order.n ?? 1),
        size: order.size ?? "1024x1024",
        inputs: { images, videos: 0, audios: 0 },
        generate_audio: null
      },
      clientToken: null,
      echo: {},
      newId
    },
    (acceptedEntry) => answer(desk, acceptedEntry, size, order, work)
  )
})

/** The handler of the protocol's generation request at a desk. */
export const submitAt = (desk: Desk) =>
  Effect.fnUntraced(function* (call: Call) {
    const order = yield* decodeSubmit(call.body)
    const images = [order.image ?? []].flat().length
    return yield* placeImageOrder(desk, call, order, images, "image_generation")
  })

/** Handles an image edit. Its fields are those of a generation request, in JSON or in a form. */
const edit = Effect.fnUntraced(function* (call: Call) {
  const { fields, pictures } = yield* readEdit(call)
  const order = yield* decodeSubmit(fields)
  if (isSingle(order.model)) return yield* desk.refuse(404)
  return yield* placeImageOrder(desk, call, order, pictures, "image_edit")
})

const desk: Desk = { protocol: "ip_a", refuse, moderatedInput }
const submit = submitAt(desk)

const versions = ["/v1", "/api/v3", "/compatible-mode/v1"] as const

/** Images in the common standard form (OpenAI's API), answered synchronously. */
export const ip_a: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: versions.flatMap((version) => [
    { method: "POST" as const, path: `${version}/images/generations` as const, handle: submit },
    { method: "POST" as const, path: `${version}/images/edits` as const, handle: edit },
    modelsAt(version, "sim-paint-1")
  ])
}
