/**
 * Resolves an order to its mounts and its price, before money is held or a vendor is called. Orders
 * and quotes share this step, so a quote fails with the same errors as the order, and shows the
 * same hold as the order takes.
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
import { checkImages, type ImageRequest } from "../domain/image/ImageRequest.ts"
import { checkImageAnswer } from "../domain/image/imageAnswerSize.ts"
import { priceImages, quoteImagesBy } from "../domain/image/pricedImages.ts"
import { isMarked, withMark } from "../domain/marks.ts"
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
import {
  makeMarkDefault,
  makeModelCheck,
  makeMountCheck,
  otherPriceKind,
  preferMarked
} from "./OrderChecks.ts"
import { makeFindFiles } from "./orderFiles.ts"
import { makeVideoResolution } from "./video/videoResolution.ts"

const unpriced = ({ id }: Model) =>
  new BillingUnavailable({
    message: `No price is configured for ${JSON.stringify(id)}, so it cannot be billed`,
    param: "model"
  })

export interface TextRequest {
  /** The client's body, which is sent to the vendor with the vendor's own name for the model. */
  readonly body: ChatBody | EmbeddingBody
  readonly metadata: Metadata | null
  readonly modalities: ReadonlyArray<Modality>
  readonly expectedBy: (limits: Limits) => ExpectedTokens
  /**
   * Fails when the expected answer may be larger than the gateway reads, or may take longer than
   * the vendor's time-out.
   */
  readonly checkAnswer: (
    limits: Limits,
    expected: ExpectedTokens,
    bounds: AnswerBounds
  ) => Result.Result<void, InvalidRequest>
  /** Calls the vendor and waits for the complete answer. */
  readonly requestText: (
    adapter: TextAdapter,
    account: ChannelAccount,
    upstreamModel: string
  ) => Effect.Effect<TextAnswer, VendorFailure>
}

/**
 * The request of a chat order. The standard form allows metadata only together with `store`, so
 * metadata is removed from an order without `store`.
 */
export const chatRequest = (order: ChatBody): TextRequest & { readonly body: ChatBody } => {
  const { metadata = null, ...withoutMetadata } = order
  const body: ChatBody = order.store === true ? order : withoutMetadata
  return {
    body,
    metadata: metadataOf({ metadata }),
    modalities: ["chat", "vlm"],
    expectedBy: (limits) => estimateChat(body, limits),
    checkAnswer: (limits, expected, bounds) =>
      checkChatAnswer(body, chatOutput(body, limits), expected, bounds),
    requestText: (adapter, account, upstreamModel) =>
      adapter.complete(account, { upstreamModel, body })
  }
}

export const embeddingRequest = ({ metadata = null, ...body }: EmbeddingBody): TextRequest => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["embedding"],
  expectedBy: (limits) => estimateEmbedding(body, limits),
  checkAnswer: (_, __, bounds) => checkEmbeddingAnswer(body, bounds),
  requestText: (adapter, account, upstreamModel) => adapter.embed(account, { upstreamModel, body })
})

export const makeOrderResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const video = yield* makeVideoResolution
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter
  const findFiles = yield* makeFindFiles
  const settings = yield* Settings
  const marksByDefault = yield* makeMarkDefault
  const bounds: AnswerBounds = { ...settings, wholeTextSeconds: wholeTextSeconds(settings) }

  /**
   * Resolves an order of images: checks the model, the files to which the order refers, and the
   * mounts. The vendor's own fields are checked before the price.
   */
  const images = Effect.fnUntraced(function* (caller: Caller, request: ImageRequest) {
    const ordered = yield* checkModel(caller, request.body.model, ["image"])
    const files = yield* findFiles(caller, imageReferences(request))
    const { model, priceList, listMark } = ordered
    const isMarkDefault = marksByDefault(caller, listMark)
    const usable = yield* checkMounts(ordered, {
      resolveProtocol: (protocol) => {
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
      checkOffer: ({ row, adapter }, upstreamModel) => {
        const offered = imageFamilyOf(row, upstreamModel)
        const streams = offered.streams && adapter.stream !== undefined
        const family = { ...offered, streams }
        const { parameters } = family
        const checked = Result.flatMap(checkImages(request, family), () =>
          checkImageAnswer(request.body, family, settings.maxAnswerBytes)
        )
        if (Result.isFailure(checked)) return Result.fail(checked.failure)
        const { prices } = model
        if (prices?.kind !== "image" && prices?.kind !== "image_tokens") {
          return Result.fail(unpriced(model))
        }
        const body = isMarkDefault ? withMark(request.body, parameters) : request.body
        return Result.map(priceImages(prices, { ...request, body }, family), (priced) => ({
          adapter,
          isMarked: isMarked(body, parameters),
          ...priced
        }))
      },
      quoteBy: ({ ordered }, prices) =>
        prices.kind === "image" || prices.kind === "image_tokens"
          ? quoteImagesBy(prices, ordered)
          : otherPriceKind,
      notOffered: (_, errors) => errors[0]
    })
    const mounts = isMarkDefault ? preferMarked(usable) : usable
    return { mounts, quote: mounts[0].quote, model, priceList, files }
  })

  /**
   * Resolves an order of text: checks the model, the mounts, the size of the expected answer, and
   * the price.
   */
  const text = Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
    const ordered = yield* checkModel(caller, request.body.model, request.modalities)
    const { model, priceList } = ordered
    const limits = limitsOf(model)
    const expected = request.expectedBy(limits)
    const mounts = yield* checkMounts(ordered, {
      resolveProtocol: (protocol) => {
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
      checkOffer: (adapter) => {
        const checked = request.checkAnswer(limits, expected, bounds)
        if (Result.isFailure(checked)) return Result.fail(checked.failure)
        if (model.prices?.kind !== "tokens") return Result.fail(unpriced(model))
        return Result.flatMap(quoteText(model.prices, expected), (quote) =>
          quote.holdNano <= MAX_AMOUNT_NANO
            ? Result.succeed({ adapter, quote })
            : Result.fail(
                new InvalidRequest({
                  message: "max_tokens: This much output would cost more than can be held",
                  param: "max_tokens"
                })
              )
        )
      },
      quoteBy: (_, prices) =>
        prices.kind === "tokens" ? quoteText(prices, expected) : otherPriceKind,
      notOffered: (_, errors) => errors[0]
    })
    return { mounts, quote: mounts[0].quote, model, priceList }
  })

  return { video, images, text }
})

export type OrderResolution = Effect.Success<typeof makeOrderResolution>
