/**
 * The image protocol gemini: the image models of the Gemini API. A call makes one image, media are
 * sent and answered as bytes, and images are billed by tokens.
 */
import { Result, Schema } from "effect"
import { parameterValues } from "../domain/catalog/vendorParameters.ts"
import { imageProtocols } from "../domain/image/ImageProtocol.ts"
import { referenceImages } from "../domain/image/ImageRequest.ts"
import { readImageUsage } from "../domain/image/ImageTokenQuote.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import type { ImageOrder } from "../services/ProtocolAdapter.ts"
import { absentTaskStatuses, type CheckDialect } from "./common/accountCheck.ts"
import { type ImageDialect, imageCalls } from "./common/adapterCalls.ts"
import {
  googleCodes,
  googleErrorShape,
  googleKey,
  googleModels,
  googleUrl,
  type InlineMedium,
  inlineMedium,
  methodUrl,
  refuseArgument
} from "./common/googleApi.ts"
import { isErrorText } from "./wire/errorText.ts"
import { meanings, refusalTable, type Shape } from "./wire/refusalTable.ts"
import { decodeFully, listOf } from "./wire/vendorAnswer.ts"
import { refusal, unusableAnswer } from "./wire/vendorFailures.ts"
import { get, omitEmpty, post } from "./wire/vendorRequest.ts"

// Wire schemas

const isBlocked = Schema.is(
  Schema.Struct({
    promptFeedback: Schema.Struct({
      blockReason: Schema.NonEmptyString,
      blockReasonMessage: Schema.optional(Schema.Unknown)
    })
  })
)
const isAnswer = Schema.is(
  Schema.Struct({
    candidates: Schema.Array(Schema.Unknown),
    usageMetadata: Schema.optional(Schema.Unknown)
  })
)
const hasParts = Schema.is(
  Schema.Struct({ content: Schema.Struct({ parts: Schema.Array(Schema.Unknown) }) })
)
const isEnded = Schema.is(
  Schema.Struct({
    finishReason: Schema.NonEmptyString,
    finishMessage: Schema.optional(Schema.Unknown)
  })
)
/** Matches an image; a thought is a draft of the model, which is not the ordered image. */
const isImagePart = Schema.is(
  Schema.Struct({
    inlineData: Schema.Struct({
      mimeType: Schema.String.check(Schema.isStartingWith("image/")),
      data: Schema.NonEmptyString
    }),
    thought: Schema.optional(Schema.Literal(false))
  })
)
/** Matches what may be an image, also one that cannot be read. */
const isMediaPart = Schema.is(Schema.Struct({ inlineData: Schema.Unknown }))
const isTextPart = Schema.is(Schema.Struct({ text: Schema.NonEmptyString }))
const isUsage = Schema.is(
  Schema.Struct({
    promptTokenCount: Schema.optional(Schema.Unknown),
    candidatesTokenCount: Schema.optional(Schema.Unknown),
    cachedContentTokenCount: Schema.optional(Schema.Unknown),
    promptTokensDetails: Schema.optional(Schema.Unknown),
    candidatesTokensDetails: Schema.optional(Schema.Unknown)
  })
)
const isModality = Schema.is(Schema.Struct({ modality: Schema.String, tokenCount: Schema.Int }))
const isModel = Schema.is(Schema.Struct({ name: Schema.NonEmptyString }))
const isText = Schema.is(Schema.NonEmptyString)

// To the vendor

/** The sizes that the vendor names itself; `512` exists for some models alone. */
const tiers: ReadonlySet<string> = new Set(["512", "1K", "2K", "4K"])

const { parameters } = imageProtocols.gemini.families[0]

const readImages = ({ body, edit = null }: ImageOrder) =>
  Result.gen(function* () {
    const images: Array<InlineMedium> = []
    for (const url of edit?.references ?? referenceImages(body)) {
      const medium = inlineMedium(url)
      if (medium === undefined) {
        return yield* refuseArgument(
          "image: Expected images as data URLs in base64, or uploaded files: Google loads no image from an address",
          "image"
        )
      }
      images.push(medium)
    }
    return images
  })

/** Reads the size, which is one of the vendor's names; the field `aspect_ratio` has the shape. */
const readSize = ({ body: { size } }: ImageOrder): Result.Result<string | null, VendorRefused> => {
  if (typeof size !== "string") return Result.succeed(null)
  const name = size.toUpperCase()
  return tiers.has(name)
    ? Result.succeed(name)
    : refuseArgument(
        `size: Expected ${[...tiers].join(", ")}, and the shape in aspect_ratio`,
        "size"
      )
}

const checkFormat = ({ body }: ImageOrder): Result.Result<void, VendorRefused> =>
  body.response_format === "url"
    ? refuseArgument(
        "response_format: Expected b64_json or nothing: Google answers images as bytes. With an archive, Prefer: respond-async gives addresses",
        "response_format"
      )
    : Result.void

const generateRequest: ImageDialect["generateRequest"] = (account, order) =>
  Result.gen(function* () {
    yield* checkFormat(order)
    const images = yield* readImages(order)
    const imageSize = yield* readSize(order)
    const { aspect_ratio: aspectRatio, seed } = parameterValues(order.body, parameters)
    const imageConfig = omitEmpty({ aspectRatio, imageSize })
    return post(methodUrl(account, order.upstreamModel, "generateContent"), googleKey(account), {
      contents: [
        {
          role: "user",
          parts: [{ text: order.body.prompt }, ...images.map((inlineData) => ({ inlineData }))]
        }
      ],
      generationConfig: omitEmpty({
        responseModalities: ["IMAGE"],
        seed,
        imageConfig: Object.keys(imageConfig).length === 0 ? null : imageConfig
      })
    })
  })

// From the vendor

const partsIn = (body: unknown): ReadonlyArray<unknown> =>
  isAnswer(body) ? body.candidates.filter(hasParts).flatMap(({ content }) => content.parts) : []

/**
 * The candidates that say why no image came. `STOP` says so only beside words of the model: an end
 * in good form may belong to an image that could not be read.
 */
const endsIn = (body: unknown) => {
  const parts = partsIn(body)
  if (!isAnswer(body) || parts.some(isMediaPart)) return []
  return body.candidates
    .filter(isEnded)
    .filter(({ finishReason }) => finishReason !== "STOP" || parts.some(isTextPart))
}

/** The reasons for which no image came, in an answer with HTTP status 200. */
const reasonShape: Shape = (body) => {
  if (isBlocked(body)) return [body.promptFeedback.blockReason]
  const ends = endsIn(body)
  return ends.length === 0 ? null : ends.map(({ finishReason }) => finishReason)
}

/** The verdicts on the content of an order, with which the vendor delivers no image. */
const contentVerdicts = [
  "BLOCKLIST",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
  "IMAGE_SAFETY",
  "PROHIBITED_CONTENT",
  "RECITATION",
  "SAFETY",
  "SPII"
]

const refusals = refusalTable([googleErrorShape, reasonShape], {
  ...googleCodes,
  ...Object.fromEntries(contentVerdicts.map((verdict) => [verdict, meanings.order]))
})

/** The tokens of a modality, or null if the vendor does not report them by modality. */
const tokensOf = (details: unknown, modality: string): number | null => {
  const counts = listOf(details).filter(isModality)
  if (counts.length === 0) return null
  return counts
    .filter((count) => count.modality === modality)
    .reduce((sum, { tokenCount }) => sum + tokenCount, 0)
}

/**
 * The usage in the common standard form. The output is the tokens of the image: texts and thoughts
 * beside it have no price here.
 */
const usageOf = (metadata: unknown) => {
  if (!isUsage(metadata)) return null
  const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount } = metadata
  const imageTokens = tokensOf(metadata.promptTokensDetails, "IMAGE")
  return {
    input_tokens: promptTokenCount,
    output_tokens: tokensOf(metadata.candidatesTokensDetails, "IMAGE") ?? candidatesTokenCount,
    input_tokens_details: {
      ...(imageTokens === null ? {} : { image_tokens: imageTokens }),
      ...(cachedContentTokenCount === undefined ? {} : { cached_tokens: cachedContentTokenCount })
    }
  }
}

/** The vendor's words in place of an image. */
const messageOf = (body: unknown): string | null => {
  if (isBlocked(body)) {
    const { blockReason, blockReasonMessage } = body.promptFeedback
    return isText(blockReasonMessage)
      ? blockReasonMessage
      : `The vendor refused the prompt: ${blockReason}`
  }
  const [ended] = endsIn(body)
  if (ended === undefined) return null
  return isText(ended.finishMessage)
    ? ended.finishMessage
    : `The vendor made no image: ${ended.finishReason}`
}

const readGenerated: ImageDialect["readGenerated"] = (account, received) => {
  // The bytes of an image are a text that is too long to be decoded at first.
  const answer = decodeFully(received)
  const { status, body } = answer
  if (status >= 300) return Result.fail(unusableAnswer(account, answer))
  const [image, ...others] = partsIn(body).filter(isImagePart)
  if (image === undefined) {
    const message = messageOf(body)
    return Result.fail(
      message === null ? unusableAnswer(account, answer) : refusal(account, answer, { message })
    )
  }
  const usage = isAnswer(body) ? usageOf(body.usageMetadata) : null
  return Result.succeed({
    result: {
      data: [{ b64_json: image.inlineData.data }],
      ...(usage === null ? {} : { usage })
    },
    surplus: others.length,
    delivered: { images: 1, usage: readImageUsage(usage) }
  })
}

// Calls

/** The check asks for a model that does not exist, so `NOT_FOUND` is not about the account. */
const { NOT_FOUND: _, ...accountCodes } = googleCodes

const check: CheckDialect = {
  checkRequest: (account) =>
    Result.succeed(get(googleUrl(account, "models/none"), googleKey(account))),
  readChecked: (account, answer) =>
    answer.status < 300 && isModel(answer.body) && !isErrorText(answer.body)
      ? Result.void
      : Result.fail(unusableAnswer(account, answer)),
  refusals: refusalTable([googleErrorShape], accountCodes),
  absentStatuses: absentTaskStatuses
}

export const makeGemini = imageCalls("gemini", {
  generateRequest,
  readGenerated,
  isOneByOne: () => true,
  refusals: () => refusals,
  check,
  models: googleModels("generateContent", /image|banana/i),
  takesBytes: true,
  checksOrders: true
})
