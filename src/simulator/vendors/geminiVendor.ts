import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry } from "../Book.ts"
import { randomText } from "../digest.ts"
import { pictureSeed, type Size } from "../Media.ts"
import { drawPicture } from "../media/picture.ts"
import { placeOrder } from "../placeOrder.ts"
import { producedImages } from "../rendering.ts"
import { countOf, isOn } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  Refusal,
  refusedField,
  type Vendor
} from "../Vendor.ts"
import {
  authenticate,
  invalidArgument,
  noModel,
  notFound,
  ofFault,
  refuse
} from "./googleErrors.ts"

const optional = Schema.optionalKey

/** The vendor takes bytes, and addresses of files that were uploaded to itself alone. */
const Part = Schema.Union([
  Schema.Struct({ text: Schema.String, inlineData: refusedField, fileData: refusedField }),
  Schema.Struct({
    inlineData: Schema.Struct({
      mimeType: Schema.Literals(["image/png", "image/jpeg", "image/webp"]),
      data: Schema.NonEmptyString.check(Schema.isPattern(/^[\w+/]+={0,2}$/))
    }),
    fileData: refusedField
  })
])

const ratios = {
  "1:1": [1024, 1024],
  "2:3": [848, 1264],
  "3:2": [1264, 848],
  "3:4": [896, 1200],
  "4:3": [1200, 896],
  "4:5": [928, 1152],
  "5:4": [1152, 928],
  "9:16": [768, 1376],
  "16:9": [1376, 768],
  "21:9": [1584, 672]
} as const
const Ratio = Schema.Literals([
  "1:1",
  "2:3",
  "3:2",
  "3:4",
  "4:3",
  "4:5",
  "5:4",
  "9:16",
  "16:9",
  "21:9"
])

const Submit = Schema.Struct({
  contents: Schema.Array(
    Schema.Struct({
      role: optional(Schema.Literals(["user", "model"])),
      parts: Schema.Array(Part).check(Schema.isMinLength(1))
    })
  ).check(Schema.isMinLength(1)),
  generationConfig: optional(
    Schema.Struct({
      responseModalities: optional(Schema.Array(Schema.Literals(["TEXT", "IMAGE"]))),
      imageConfig: optional(
        Schema.Struct({
          aspectRatio: optional(Ratio),
          imageSize: optional(Schema.Literals(["512", "1K", "2K", "4K"]))
        })
      ),
      candidateCount: optional(Schema.Literal(1)),
      seed: optional(Schema.Int)
    })
  )
})
type Submission = typeof Submit.Type
const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const METHOD = "generateContent"

/** The sides of an image of 1K are multiplied by the factor of its size. */
const factors = { "512": 0.5, "1K": 1, "2K": 2, "4K": 2.5 } as const

const partsOf = ({ contents }: Submission) => contents.flatMap(({ parts }) => parts)

const textOf = (submission: Submission): string =>
  partsOf(submission)
    .flatMap((part) => ("text" in part ? [part.text] : []))
    .join("\n")

const imagesOf = (submission: Submission): number =>
  partsOf(submission).filter((part) => "inlineData" in part).length

const sizeOf = ({ generationConfig }: Submission): Size => {
  const { aspectRatio = "1:1", imageSize = "1K" } = generationConfig?.imageConfig ?? {}
  const [width, height] = ratios[aspectRatio]
  return { width: width * factors[imageSize], height: height * factors[imageSize] }
}

const fault = (model: string, submission: Submission): Refusal | undefined => {
  const isOlder = model.startsWith("gemini-2.5")
  const images = imagesOf(submission)
  if (isOlder && submission.generationConfig?.imageConfig?.imageSize !== undefined) {
    return invalidArgument("Image size is not supported for this model.")
  }
  if (images > (isOlder ? 3 : 14)) return invalidArgument("Too many images in the request.")
  return textOf(submission) === "" && images === 0
    ? invalidArgument("Unable to submit request because it must have a text parameter.")
    : undefined
}

const TEXT_TOKENS = 12
const TOKENS_PER_INPUT_IMAGE = 258
const TOKENS_PER_IMAGE = 1290

const tokenCounts = (modality: string, tokenCount: number) =>
  tokenCount === 0 ? [] : [{ modality, tokenCount }]

/**
 * The tokens of a call. `sim:image-tokens=N` makes an image N tokens, `sim:cached=N` has N tokens of
 * the input cached.
 */
const usageOf = ({ order, switches }: AcceptedEntry, images: number) => {
  if (isOn(switches, "nousage")) return {}
  const inputImages = order.inputs.images * TOKENS_PER_INPUT_IMAGE
  const prompt = TEXT_TOKENS + inputImages
  const output = images * countOf(switches, "image-tokens", TOKENS_PER_IMAGE)
  return {
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: output,
      totalTokenCount: prompt + output,
      promptTokensDetails: [
        ...tokenCounts("TEXT", TEXT_TOKENS),
        ...tokenCounts("IMAGE", inputImages)
      ],
      candidatesTokensDetails: tokenCounts("IMAGE", output),
      ...(isOn(switches, "cached")
        ? { cachedContentTokenCount: countOf(switches, "cached", 0) }
        : {})
    }
  }
}

/** The response contains the finished image, so an order is never polled. */
const lifecycle: Lifecycle = {
  runningStatuses: ["processing"],
  reportsCancellation: false,
  productOf: producedImages
}

const answer = Effect.fnUntraced(function* (acceptedEntry: AcceptedEntry, size: Size) {
  const tasks = yield* Tasks
  const { reason } = yield* tasks.finish(acceptedEntry, lifecycle)
  const common = { modelVersion: acceptedEntry.model, responseId: acceptedEntry.upstream_id }
  if (reason === "moderated") {
    const finishMessage =
      "Unable to show the generated image. The image was filtered out because it violated the policy."
    return {
      candidates: [{ finishReason: "IMAGE_SAFETY", finishMessage, index: 0 }],
      ...usageOf(acceptedEntry, 0),
      ...common
    }
  }
  if (reason !== null) return yield* refuse(500)
  const png = yield* drawPicture(pictureSeed(acceptedEntry, 0), size)
  const inlineData = { mimeType: "image/png", data: png.toString("base64") }
  return {
    candidates: [
      { content: { role: "model", parts: [{ inlineData }] }, finishReason: "STOP", index: 0 }
    ],
    ...usageOf(acceptedEntry, 1),
    ...common
  }
})

/** The vendor blocks a prompt in an answer with HTTP status 200. */
const blockedPrompt = () =>
  new Refusal({
    status: 200,
    body: {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: TEXT_TOKENS, totalTokenCount: TEXT_TOKENS }
    }
  })

const desk: Desk = { protocol: "gemini", refuse, moderatedInput: blockedPrompt }

const generate = Effect.fnUntraced(function* (call: Call) {
  const [model = "", method] = (call.params.call ?? "").split(":")
  if (method !== METHOD || isMissingModel(model)) return yield* noModel(model, METHOD)
  const submission = yield* decodeSubmit(call.body)
  const refusal = fault(model, submission)
  if (refusal !== undefined) return yield* refusal
  const size = sizeOf(submission)
  const draft = {
    kind: "image",
    model,
    prompt: textOf(submission),
    order: {
      seconds: null,
      resolution: null,
      ratio: submission.generationConfig?.imageConfig?.aspectRatio ?? null,
      n: 1,
      size: submission.generationConfig?.imageConfig?.imageSize ?? "1K",
      inputs: { images: imagesOf(submission), videos: 0, audios: 0 },
      generate_audio: null
    },
    clientToken: null,
    echo: {},
    newId: () => randomText("abcdefghijklmnopqrstuvwxyz0123456789", 20)
  } as const
  return yield* placeOrder(desk, call, draft, (acceptedEntry) => answer(acceptedEntry, size))
})

const listedModels = [
  "gemini-3-pro-image-preview",
  "gemini-3.1-flash-image-preview",
  "gemini-2.5-flash-image"
]

const modelOf = (id: string) => ({
  name: `models/${id}`,
  supportedGenerationMethods: [METHOD, "countTokens"]
})

const showModel = ({ params: { model = "" } }: Call) =>
  listedModels.includes(model)
    ? Effect.succeed(HttpServerResponse.jsonUnsafe(modelOf(model)))
    : Effect.fail(notFound())

/** The image models of the Gemini API. */
export const gemini: Vendor = {
  ...desk,
  authenticate,
  routes: [
    { method: "POST", path: "/v1beta/models/:call", handle: generate },
    { method: "GET", path: "/v1beta/models/:model", handle: showModel },
    {
      method: "GET",
      path: "/v1beta/models",
      handle: () =>
        Effect.succeed(
          HttpServerResponse.jsonUnsafe({
            models: [...listedModels, "gemini-2.5-flash"].map(modelOf)
          })
        )
    }
  ]
}
