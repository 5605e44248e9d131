/**
 * What an order is and what it costs, decided before anything is taken or anybody is called. Orders
 * and quotes come through the same step, so a quote is refused as the order would be and names the
 * hold the order takes.
 */
import { Effect, Result } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { Modality } from "../domain/catalog/Modality.ts"
import { type Limits, limitsOf } from "../domain/catalog/ModelLimits.ts"
import {
  BillingUnavailable,
  ChannelUnavailable,
  ImageUnsupportedProtocol,
  InvalidRequest
} from "../domain/Errors.ts"
import { imageReferences } from "../domain/files/fileReferences.ts"
import { imageFamilyOf } from "../domain/image/ImageProtocol.ts"
import { quoteImages } from "../domain/image/ImageQuote.ts"
import { checkImages, type ImageRequest } from "../domain/image/ImageRequest.ts"
import { checkImageAnswer } from "../domain/image/imageAnswerSize.ts"
import { priceImages } from "../domain/image/pricedImages.ts"
import { MAX_AMOUNT_NANO } from "../domain/money/Money.ts"
import { type Metadata, metadataOf } from "../domain/money/metadata.ts"
import { type ExpectedTokens, quoteText } from "../domain/text/TextQuote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import {
  type AnswerBounds,
  checkChatAnswer,
  checkEmbeddingAnswer
} from "../domain/text/textAnswerSize.ts"
import { chatOutput, estimateChat, estimateEmbedding } from "../domain/text/textEstimate.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { Settings } from "../runtime/Settings.ts"
import { wholeTextSeconds } from "../runtime/vendorBounds.ts"
import type { Caller } from "../services/Access.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  Protocols,
  type TextAdapter,
  type TextAnswer
} from "../services/ProtocolAdapter.ts"
import { makeModelCheck, makeMountCheck, otherKind } from "./OrderChecks.ts"
import { makeFindFiles } from "./orderFiles.ts"
import { makeVideoResolution } from "./video/videoResolution.ts"

const unpriced = ({ id }: Model) =>
  new BillingUnavailable({
    message: `No price is configured for ${JSON.stringify(id)}, so it cannot be billed`,
    param: "model"
  })

export interface TextRequest {
  /** As it is sent to the vendor, but for the model. */
  readonly body: ChatBody | EmbeddingBody
  readonly metadata: Metadata | null
  readonly modalities: ReadonlyArray<Modality>
  readonly expectedBy: (limits: Limits) => ExpectedTokens
  /** Fails where its answer may be larger than is read, or later than is waited for. */
  readonly checkAnswer: (
    limits: Limits,
    expected: ExpectedTokens,
    bounds: AnswerBounds
  ) => Result.Result<void, InvalidRequest>
  /** Waits for a whole answer. */
  readonly ask: (
    adapter: TextAdapter,
    account: ChannelAccount,
    upstreamModel: string
  ) => Effect.Effect<TextAnswer, VendorFailure>
}

/** The standard form has metadata for what its vendor stores, and only there. */
export const chatRequest = (ordered: ChatBody): TextRequest & { readonly body: ChatBody } => {
  const { metadata = null, ...unnoted } = ordered
  const body: ChatBody = ordered.store === true ? ordered : unnoted
  return {
    body,
    metadata: metadataOf({ metadata }),
    modalities: ["chat", "vlm"],
    expectedBy: (limits) => estimateChat(body, limits),
    checkAnswer: (limits, expected, bounds) =>
      checkChatAnswer(body, chatOutput(body, limits), expected, bounds),
    ask: (adapter, account, upstreamModel) => adapter.complete(account, { upstreamModel, body })
  }
}

export const embeddingRequest = ({ metadata = null, ...body }: EmbeddingBody): TextRequest => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["embedding"],
  expectedBy: (limits) => estimateEmbedding(body, limits),
  checkAnswer: (_, __, bounds) => checkEmbeddingAnswer(body, bounds),
  ask: (adapter, account, upstreamModel) => adapter.embed(account, { upstreamModel, body })
})

export const makeOrderResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const video = yield* makeVideoResolution
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter
  const findFiles = yield* makeFindFiles
  const settings = yield* Settings
  const bounds: AnswerBounds = { ...settings, wholeTextSeconds: wholeTextSeconds(settings) }

  /** The same checks as far as they apply, and before the price those of what the vendor takes. */
  const images = Effect.fnUntraced(function* (caller: Caller, request: ImageRequest) {
    const ordered = yield* checkModel(caller, request.body.model, ["image"])
    const files = yield* findFiles(caller, imageReferences(request))
    const { model } = ordered
    const mounts = yield* checkMounts(ordered, {
      speak: (protocol) => {
        const row = protocols.image.get(protocol)
        const adapter = adapters.image.get(protocol)
        return row === undefined || adapter === undefined
          ? Result.fail(
              new ImageUnsupportedProtocol({
                message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported image protocol: ${[...protocols.image.keys()].join(", ")} are`,
                param: "model"
              })
            )
          : Result.succeed({ row, adapter })
      },
      fit: ({ row, adapter }, upstreamModel) =>
        Result.gen(function* () {
          const offered = imageFamilyOf(row, upstreamModel)
          const streams = offered.streams && adapter.stream !== undefined
          const family = { ...offered, streams }
          yield* checkImages(request, family)
          yield* checkImageAnswer(request.body, family, settings.maxAnswerBytes)
          if (model.prices?.kind !== "image") return yield* Result.fail(unpriced(model))
          return { adapter, ...(yield* priceImages(model.prices, request, family)) }
        }),
      priceBy: ({ quote, requestedTier }, prices) =>
        prices.kind === "image" ? quoteImages(prices, quote.images, requestedTier) : otherKind,
      noneFits: (_, misfits) => misfits[0]
    })
    return { mounts, quote: mounts[0].quote, model, files }
  })

  /** The same checks as far as they apply. */
  const text = Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
    const ordered = yield* checkModel(caller, request.body.model, request.modalities)
    const { model } = ordered
    const limits = limitsOf(model)
    const expected = request.expectedBy(limits)
    const mounts = yield* checkMounts(ordered, {
      speak: (protocol) => {
        const row = protocols.text.get(protocol)
        const adapter = adapters.text.get(protocol)
        const isServed = row !== undefined && (row.embeddings || model.modality !== "embedding")
        return !isServed || adapter === undefined
          ? Result.fail(
              new ChannelUnavailable({
                message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported ${model.modality} protocol`,
                param: "model"
              })
            )
          : Result.succeed(adapter)
      },
      fit: (adapter) =>
        Result.gen(function* () {
          yield* request.checkAnswer(limits, expected, bounds)
          if (model.prices?.kind !== "tokens") return yield* Result.fail(unpriced(model))
          const quote = yield* quoteText(model.prices, expected)
          if (quote.holdNano <= MAX_AMOUNT_NANO) return { adapter, quote }
          return yield* Result.fail(
            new InvalidRequest({
              message: "max_tokens: This much output would cost more than can be held",
              param: "max_tokens"
            })
          )
        }),
      priceBy: (_, prices) => (prices.kind === "tokens" ? quoteText(prices, expected) : otherKind),
      noneFits: (_, misfits) => misfits[0]
    })
    return { mounts, quote: mounts[0].quote, model }
  })

  return { video, images, text }
})

export type OrderResolution = Effect.Success<typeof makeOrderResolution>
