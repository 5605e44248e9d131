/**
 * Resolves an order to its mounts and its price, before money is held or a vendor is called. Orders
 * and quotes share this step, so a quote fails with the same errors as the order, and shows the
 * same hold as the order takes.
 */
import { Array as Arr, Effect, Result } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { Modality } from "../domain/catalog/Modality.ts"
import { limitsOf } from "../domain/catalog/ModelLimits.ts"
import { type ProtocolTables, servesModality } from "../domain/catalog/ProtocolTables.ts"
import {
  BillingUnavailable,
  ChannelUnavailable,
  ImageUnsupportedProtocol,
  type InvalidRequest
} from "../domain/Errors.ts"
import { imageReferences } from "../domain/files/fileReferences.ts"
import { imageFamilyOf } from "../domain/image/ImageProtocol.ts"
import { checkImages, type ImageRequest } from "../domain/image/ImageRequest.ts"
import { checkImageAnswer } from "../domain/image/imageAnswerSize.ts"
import { capImageQuote, priceImages, quoteImagesBy } from "../domain/image/pricedImages.ts"
import { isMarked, withMark } from "../domain/marks.ts"
import { type Metadata, metadataOf } from "../domain/money/metadata.ts"
import { withinLargestHold } from "../domain/money/unitQuotes.ts"
import {
  capWorkQuote,
  type ExpectedWork,
  quoteWork,
  type WorkQuote
} from "../domain/money/workQuotes.ts"
import { JSON_TYPE } from "../domain/RawAnswer.ts"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import { estimateRerank } from "../domain/rerank/rerankEstimate.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import {
  type AnswerBounds,
  checkChatAnswer,
  checkEmbeddingAnswer
} from "../domain/text/textAnswerSize.ts"
import { chatOutput, estimateChat, estimateEmbedding } from "../domain/text/textEstimate.ts"
import {
  type ChatPlaces,
  placeOf,
  placeRefusal,
  samePlaces
} from "../domain/text/translatedChat.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { upstreamErrorOf } from "../domain/VendorOutcome.ts"
import { Settings } from "../runtime/Settings.ts"
import { wholeTextSeconds } from "../runtime/vendorBounds.ts"
import type { Caller } from "../services/Access.ts"
import type { OfferedModel } from "../services/Catalog.ts"
import {
  type Adapters,
  type ChannelAccount,
  ProtocolAdapter,
  Protocols,
  type RerankAdapter,
  type TextAdapter,
  type TextAnswer
} from "../services/ProtocolAdapter.ts"
import {
  makeMarkDefault,
  makeModelCheck,
  makeMountCheck,
  otherPriceKind,
  preferMarked,
  type UsableMount
} from "./OrderChecks.ts"
import { makeFindFiles } from "./orderFiles.ts"
import { makeVideoResolution } from "./video/videoResolution.ts"

const unpriced = ({ id }: Model) =>
  new BillingUnavailable({
    message: `No price is configured for ${JSON.stringify(id)}, so it cannot be billed`,
    param: "model"
  })

/** What serves a request at one protocol. */
export interface WorkService<Adapter> {
  /** The port to the vendors. */
  readonly adapter: Adapter
  /**
   * The content type in which a model of the protocol answers. Fails where the model takes less
   * than the request has.
   */
  readonly contentType: (upstreamModel: string) => Result.Result<string, InvalidRequest>
}

/**
 * A request that is answered at once and is neither of videos nor of images. `Adapter` is the port
 * to the vendors that serve it.
 */
export interface WorkRequest<Adapter> {
  /** The client's body, which is sent to the vendor with the vendor's own name for the model. */
  readonly body: { readonly model: string }
  readonly metadata: Metadata | null
  readonly modalities: ReadonlyArray<Modality>
  /** The field that a client reduces when the order would cost more than can be held. */
  readonly sizeField: string
  readonly expectedBy: (model: Model) => ExpectedWork
  /** Finds what serves the request at a protocol of its modality. */
  readonly serviceOf: (
    protocols: ProtocolTables,
    adapters: Adapters,
    protocol: string
  ) => WorkService<Adapter> | undefined
  /**
   * Fails when the order is beyond the limits of its model, when the expected answer may be larger
   * than the gateway reads, or when it may take longer than the vendor's time-out.
   */
  readonly checkLimits: (
    model: Model,
    expected: ExpectedWork,
    bounds: AnswerBounds
  ) => Result.Result<void, InvalidRequest>
}

/** The vendor's name of the ordered model, and its name in the catalog. */
export interface WorkNames {
  readonly upstreamModel: string
  readonly model: string
}

/** A request whose answer comes as a whole. */
export interface WholeRequest<Adapter> extends WorkRequest<Adapter> {
  /** Calls the vendor and waits for the complete answer. */
  readonly requestWork: (
    adapter: Adapter,
    account: ChannelAccount,
    names: WorkNames
  ) => Effect.Effect<TextAnswer, VendorFailure>
}

/** An adapter whose models answer JSON and take every field of the standard form. */
const jsonService = <Adapter>(adapter: Adapter | undefined): WorkService<Adapter> | undefined =>
  adapter === undefined ? undefined : { adapter, contentType: () => Result.succeed(JSON_TYPE) }

const textService = (_: ProtocolTables, { text }: Adapters, protocol: string) =>
  jsonService(text.get(protocol))

/** The modalities of texts. */
export const textModalities = ["chat", "vlm"] as const

export const noLimits = () => Result.succeed(undefined)

/**
 * The request of a chat order. The standard form allows metadata only together with `store`, so
 * metadata is removed from an order without `store`. A chat that stands for a request of another API
 * is refused by the places of its fields in that request.
 */
export const chatRequest = (
  order: ChatBody,
  places: ChatPlaces = samePlaces
): WholeRequest<TextAdapter> & { readonly body: ChatBody } => {
  const { metadata = null, ...withoutMetadata } = order
  const body: ChatBody = order.store === true ? order : withoutMetadata
  return {
    body,
    metadata: metadataOf({ metadata }),
    modalities: textModalities,
    sizeField: placeOf(places, "max_tokens"),
    expectedBy: (model) => estimateChat(body, limitsOf(model)),
    serviceOf: textService,
    checkLimits: (model, expected, bounds) =>
      Result.mapError(
        checkChatAnswer(body, chatOutput(body, limitsOf(model)), expected, bounds),
        placeRefusal(places)
      ),
    requestWork: (adapter, account, { upstreamModel }) =>
      adapter.complete(account, { upstreamModel, body })
  }
}

export const embeddingRequest = ({
  metadata = null,
  ...body
}: EmbeddingBody): WholeRequest<TextAdapter> => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["embedding"],
  sizeField: "input",
  expectedBy: (model) => estimateEmbedding(body, limitsOf(model)),
  serviceOf: textService,
  checkLimits: (_, __, bounds) => checkEmbeddingAnswer(body, bounds),
  requestWork: (adapter, account, { upstreamModel }) =>
    adapter.embed(account, { upstreamModel, body })
})

export const rerankRequest = ({
  metadata = null,
  ...body
}: RerankBody): WholeRequest<RerankAdapter> => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["rerank"],
  sizeField: "documents",
  expectedBy: (model) => estimateRerank(body, limitsOf(model)),
  serviceOf: (_, { rerank }, protocol) => jsonService(rerank?.get(protocol)),
  checkLimits: noLimits,
  requestWork: (adapter, account, { upstreamModel }) =>
    adapter.rerank(account, { upstreamModel, body })
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
        return Result.gen(function* () {
          const pricedImages = yield* priceImages(prices, { ...request, body }, family)
          if (adapter.checkOrder !== undefined) {
            const order = { upstreamModel, ...pricedImages.request }
            yield* Result.mapError(adapter.checkOrder(order), upstreamErrorOf)
          }
          const { quote } = pricedImages
          return {
            adapter,
            isMarked: isMarked(body, parameters),
            ...pricedImages,
            quote: ordered.isCapped ? capImageQuote(quote) : quote
          }
        })
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
   * Resolves an order that is answered at once: checks the model, the mounts, the size of the
   * expected answer, and the price.
   */
  const work = Effect.fnUntraced(function* <Adapter>(
    caller: Caller,
    request: WorkRequest<Adapter>
  ) {
    const ordered = yield* checkModel(caller, request.body.model, request.modalities)
    const { model, priceList } = ordered
    const expected = request.expectedBy(model)
    const mounts = yield* checkMounts(ordered, {
      resolveProtocol: (protocol) => {
        const isServed = servesModality(protocols, protocol, model.modality)
        const service = isServed ? request.serviceOf(protocols, adapters, protocol) : undefined
        return service === undefined
          ? Result.fail(
              new ChannelUnavailable({
                message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported ${model.modality} protocol`,
                param: "model"
              })
            )
          : Result.succeed(service)
      },
      checkOffer: (service, upstreamModel) => {
        const checked = Result.flatMap(service.contentType(upstreamModel), (contentType) =>
          Result.map(request.checkLimits(model, expected, bounds), () => contentType)
        )
        if (Result.isFailure(checked)) return Result.fail(checked.failure)
        const contentType = checked.success
        const quoted = model.prices === undefined ? null : quoteWork(model.prices, expected)
        if (quoted === null) return Result.fail(unpriced(model))
        return Result.flatMap(quoted, (quote) =>
          Result.map(withinLargestHold(quote, request.sizeField), () => ({
            adapter: service.adapter,
            contentType,
            quote: ordered.isCapped ? capWorkQuote(quote) : quote
          }))
        )
      },
      quoteBy: (_, prices) => quoteWork(prices, expected) ?? otherPriceKind,
      notOffered: (_, errors) => errors[0]
    })
    const [first, ...others] = mounts
    const { quote, contentType } = first
    // The head of an answer is the same whichever of the mounts serves it.
    const alike = Arr.prepend(
      others.filter((mount) => mount.contentType === contentType),
      first
    )
    return { mounts: alike, quote, contentType, model, priceList }
  })

  return { video, images, work }
})

export type OrderResolution = Effect.Success<typeof makeOrderResolution>

/** An order that is answered at once, with its price and the mounts that can make it. */
export interface ResolvedWork<Adapter> extends OfferedModel {
  readonly quote: WorkQuote
  /** The content type of the answer; that of a chat without its stream. */
  readonly contentType: string
  readonly mounts: Arr.NonEmptyReadonlyArray<
    UsableMount & { readonly adapter: Adapter; readonly quote: WorkQuote }
  >
}
