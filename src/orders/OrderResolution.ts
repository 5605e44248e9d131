/**
 * What an order is and what it costs, decided before anything is taken or anybody is called. Orders
 * and quotes come through the same step, so a quote is refused as the order would be and names the
 * hold the order takes.
 */
import { Array as Arr, Effect, Result } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { Modality } from "../domain/catalog/Modality.ts"
import type { Prices, SecondVideoPrices, TokenVideoPrices } from "../domain/catalog/Prices.ts"
import {
  BillingUnavailable,
  ChannelUnavailable,
  ImageUnsupportedProtocol,
  InvalidRequest,
  VideoUnsupportedProtocol
} from "../domain/Errors.ts"
import { imageFamilyOf } from "../domain/image/ImageProtocol.ts"
import { quoteImages } from "../domain/image/ImageQuote.ts"
import { checkImages, type ImageRequest } from "../domain/image/ImageRequest.ts"
import { priceImages } from "../domain/image/pricedImages.ts"
import { MAX_AMOUNT_NANO } from "../domain/money/Money.ts"
import { type Metadata, metadataOf } from "../domain/money/metadata.ts"
import { quoteText, type TokenCounts } from "../domain/text/TextQuote.ts"
import {
  type ChatBody,
  type EmbeddingBody,
  estimateChat,
  estimateEmbedding
} from "../domain/text/TextRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { flagOf } from "../domain/video/flagTable.ts"
import { knownSeconds } from "../domain/video/length/knownSeconds.ts"
import { checkVideoFields, type VideoBody } from "../domain/video/VideoBody.ts"
import {
  countInputs,
  extraNames,
  normaliseVideo,
  type VideoInput
} from "../domain/video/VideoInput.ts"
import { canServe, type VideoProtocolRow } from "../domain/video/VideoProtocol.ts"
import { quoteVideo } from "../domain/video/VideoQuote.ts"
import { notOffered, resolveSku, type VideoSku } from "../domain/video/VideoSku.ts"
import type { Caller } from "../services/Access.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  Protocols,
  type TextAdapter,
  type TextAnswer,
  type VideoAdapter
} from "../services/ProtocolAdapter.ts"
import { makeModelCheck, makeMountCheck } from "./OrderChecks.ts"

const unpriced = ({ id }: Model) =>
  new BillingUnavailable({
    message: `No price is configured for ${JSON.stringify(id)}, so it cannot be billed`,
    param: "model"
  })

/** Inline reference videos are measured where their length is billed. */
const quoteVideoOf = (
  prices: TokenVideoPrices | SecondVideoPrices,
  sku: VideoSku,
  { blocks }: VideoInput
) =>
  quoteVideo(prices, sku, {
    videos: countInputs(blocks).videos,
    videoSeconds: prices.kind === "token_video" ? knownSeconds(blocks) : null
  })

const billingOf = ({ billing }: VideoProtocolRow, prices: Prices | undefined) => {
  const video =
    prices?.kind === "token_video" || prices?.kind === "second_video" ? prices : undefined
  return { video, billing: video?.kind ?? billing ?? "second_video" }
}

/** SKU and price of a video, from the request alone. */
const priceVideo = (row: VideoProtocolRow, prices: Prices | undefined, input: VideoInput) =>
  Result.gen(function* () {
    const { video, billing } = billingOf(row, prices)
    const sku = yield* resolveSku(row, billing, input)
    if (video === undefined) {
      return yield* Result.fail(
        new BillingUnavailable({
          message: "No price is configured for this model, so this order cannot be billed",
          param: "resolution",
          priced: []
        })
      )
    }
    const quote = yield* quoteVideoOf(video, sku, input)
    return { sku, quote, inputs: countInputs(input.blocks) }
  })

/** A catalog has no such price table: it was refused when it was loaded. */
const otherKind = Result.fail("a price of another kind")

export interface TextRequest {
  /** As it is sent to the vendor, but for the model. */
  readonly body: ChatBody | EmbeddingBody
  readonly metadata: Metadata | null
  readonly modalities: ReadonlyArray<Modality>
  readonly expected: TokenCounts
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
    expected: estimateChat(body),
    ask: (adapter, account, upstreamModel) => adapter.complete(account, { upstreamModel, body })
  }
}

export const embeddingRequest = ({ metadata = null, ...body }: EmbeddingBody): TextRequest => ({
  body,
  metadata: metadataOf({ metadata }),
  modalities: ["embedding"],
  expected: estimateEmbedding(body),
  ask: (adapter, account, upstreamModel) => adapter.embed(account, { upstreamModel, body })
})

export const makeOrderResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter

  /**
   * Checks, in this order: the request's sense, the model, unknown fields, the mounts with their
   * protocols, the flags that not every vendor has a field for, the accounts, duration and resolution,
   * the price. Of a body that was meant for another route the model says more than its fields, so it
   * comes first.
   */
  const video = Effect.fnUntraced(function* (caller: Caller, body: VideoBody) {
    const known = checkVideoFields(body)
    const input = yield* Effect.fromResult(
      Result.mapError(normaliseVideo(body), (error) =>
        Result.isFailure(known) ? known.failure : error
      )
    )
    const ordered = yield* checkModel(caller, body.model, ["video"])
    yield* Effect.fromResult(known)
    const { model } = ordered
    const name = JSON.stringify(model.id)

    const speak = (
      protocol: string
    ): Result.Result<
      { readonly row: VideoProtocolRow; readonly adapter: VideoAdapter },
      VideoUnsupportedProtocol | InvalidRequest
    > => {
      const row = protocols.video.get(protocol)
      const adapter = adapters.video.get(protocol)
      if (row === undefined || adapter === undefined) {
        return Result.fail(
          new VideoUnsupportedProtocol({
            message: `${name} is called by ${protocol}, which is not a supported video protocol: ${[...protocols.video.keys()].join(", ")} are`,
            param: "model"
          })
        )
      }
      if (!canServe(row, protocols.video.get(model.protocol))) {
        return Result.fail(
          new VideoUnsupportedProtocol({
            message: `${name} is listed under ${model.protocol}, which ${protocol} cannot serve`,
            param: "model"
          })
        )
      }
      const taken = adapter.extras?.(model.protocol) ?? []
      const extra = extraNames.find((name) => input[name] !== undefined && !taken.includes(name))
      return extra === undefined
        ? Result.succeed({ row, adapter })
        : Result.fail(
            new InvalidRequest({
              message: `The flag ${flagOf(extra)} in the text is not taken: ${name} is called by ${protocol}, which has no field for it here`,
              param: "prompt"
            })
          )
    }

    const mounts = yield* checkMounts(ordered, {
      speak,
      fit: ({ row, adapter }) =>
        Result.map(priceVideo(row, model.prices, input), (priced) => ({ ...priced, adapter })),
      priceBy: ({ sku }, prices) =>
        prices.kind === "token_video" || prices.kind === "second_video"
          ? quoteVideoOf(prices, sku, input)
          : otherKind,
      noneFits: (tried, misfits) => {
        const further = misfits.find(({ _tag }) => _tag !== "video_sku_invalid")
        const rows = tried.map(({ row }) => row)
        if (further !== undefined || !Arr.isReadonlyArrayNonEmpty(rows))
          return further ?? misfits[0]
        return notOffered(rows, billingOf(rows[0], model.prices).billing, input) ?? misfits[0]
      }
    })
    return { mounts, quote: mounts[0].quote, input, model }
  })

  /** The same checks as far as they apply, and before the price those of what the vendor takes. */
  const images = Effect.fnUntraced(function* (caller: Caller, request: ImageRequest) {
    const ordered = yield* checkModel(caller, request.body.model, ["image"])
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
          if (model.prices?.kind !== "image") return yield* Result.fail(unpriced(model))
          return { adapter, ...(yield* priceImages(model.prices, request, family)) }
        }),
      priceBy: ({ quote, asked }, prices) =>
        prices.kind === "image" ? quoteImages(prices, quote.images, asked) : otherKind,
      noneFits: (_, misfits) => misfits[0]
    })
    return { mounts, quote: mounts[0].quote, model }
  })

  /** The same checks as far as they apply. */
  const text = Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
    const ordered = yield* checkModel(caller, request.body.model, request.modalities)
    const { model } = ordered
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
          if (model.prices?.kind !== "tokens") return yield* Result.fail(unpriced(model))
          const quote = yield* quoteText(model.prices, request.expected)
          if (quote.holdNano <= MAX_AMOUNT_NANO) return { adapter, quote }
          return yield* Result.fail(
            new InvalidRequest({
              message: "max_tokens: This much output would cost more than can be held",
              param: "max_tokens"
            })
          )
        }),
      priceBy: (_, prices) =>
        prices.kind === "tokens" ? quoteText(prices, request.expected) : otherKind,
      noneFits: (_, misfits) => misfits[0]
    })
    return { mounts, quote: mounts[0].quote, model }
  })

  return { video, images, text }
})

export type OrderResolution = Effect.Success<typeof makeOrderResolution>
