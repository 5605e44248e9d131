/**
 * What an order is and what it costs, decided before anything is taken or anybody is called. Orders
 * and quotes come through the same step, so a quote is refused as the order would be and names the
 * hold the order takes.
 */
import { Effect, Result } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import type { Modality } from "../domain/catalog/Modality.ts"
import type { Prices } from "../domain/catalog/Prices.ts"
import {
  BillingUnavailable,
  ChannelUnavailable,
  ImageUnsupportedProtocol,
  InvalidRequest,
  VideoUnsupportedProtocol
} from "../domain/Errors.ts"
import { passesOn } from "../domain/image/ImageProtocol.ts"
import { quoteImages } from "../domain/image/ImageQuote.ts"
import { checkPassedOn, type ImageBody, imageCount } from "../domain/image/ImageRequest.ts"
import { MAX_AMOUNT_NANO } from "../domain/money/Money.ts"
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
import { resolveSku } from "../domain/video/VideoSku.ts"
import type { Caller } from "../services/Access.ts"
import {
  type ChannelAccount,
  ProtocolAdapter,
  Protocols,
  type TextAdapter,
  type TextAnswer
} from "../services/ProtocolAdapter.ts"
import { makeAccountCheck, makeModelCheck } from "./OrderChecks.ts"

const unpriced = ({ id }: Model) =>
  new BillingUnavailable({
    message: `No price is configured for ${JSON.stringify(id)}, so it cannot be billed`,
    param: "model"
  })

/**
 * SKU and price of a video, from the request alone. Inline reference videos are measured where their
 * length is billed.
 */
const priceVideo = (row: VideoProtocolRow, prices: Prices | undefined, input: VideoInput) =>
  Result.gen(function* () {
    const video =
      prices?.kind === "token_video" || prices?.kind === "second_video" ? prices : undefined
    const billing = video?.kind ?? row.billing ?? "second_video"
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
    const inputs = countInputs(input.blocks)
    const videoSeconds = billing === "token_video" ? knownSeconds(input.blocks) : null
    const quote = yield* quoteVideo(video, sku, { videos: inputs.videos, videoSeconds })
    return { sku, quote, inputs }
  })

export interface TextRequest {
  /** As the client sent it. */
  readonly body: ChatBody | EmbeddingBody
  readonly modalities: ReadonlyArray<Modality>
  readonly expected: TokenCounts
  /** Waits for a whole answer. */
  readonly ask: (
    adapter: TextAdapter,
    account: ChannelAccount,
    upstreamModel: string
  ) => Effect.Effect<TextAnswer, VendorFailure>
}

export const chatRequest = (body: ChatBody): TextRequest => ({
  body,
  modalities: ["chat", "vlm"],
  expected: estimateChat(body),
  ask: (adapter, account, upstreamModel) => adapter.complete(account, { upstreamModel, body })
})

export const embeddingRequest = (body: EmbeddingBody): TextRequest => ({
  body,
  modalities: ["embedding"],
  expected: estimateEmbedding(body),
  ask: (adapter, account, upstreamModel) => adapter.embed(account, { upstreamModel, body })
})

export const makeOrderResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkAccount = yield* makeAccountCheck
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter

  /**
   * Checks, in this order: the request's sense, the model, unknown fields, the model's mount and
   * protocol, the flags that not every vendor has a field for, the account, duration and resolution,
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
    const { protocol, model } = ordered
    const row = protocols.video.get(protocol)
    const adapter = adapters.video.get(protocol)
    if (row === undefined || adapter === undefined) {
      return yield* new VideoUnsupportedProtocol({
        message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported video protocol: ${[...protocols.video.keys()].join(", ")} are`,
        param: "model"
      })
    }
    if (!canServe(row, protocols.video.get(model.protocol))) {
      return yield* new VideoUnsupportedProtocol({
        message: `${JSON.stringify(model.id)} is listed under ${model.protocol}, which ${protocol} cannot serve`,
        param: "model"
      })
    }
    const taken = adapter.extras?.(model.protocol) ?? []
    const extra = extraNames.find((name) => input[name] !== undefined && !taken.includes(name))
    if (extra !== undefined) {
      return yield* new InvalidRequest({
        message: `The flag ${flagOf(extra)} in the text is not taken: ${JSON.stringify(model.id)} is called by ${protocol}, which has no field for it here`,
        param: "prompt"
      })
    }
    const mounted = yield* checkAccount(ordered)
    const priced = yield* Effect.fromResult(priceVideo(row, model.prices, input))
    return { ...mounted, ...priced, input, model, adapter }
  })

  /** The same checks as far as they apply, and before the price those of a body that is passed on. */
  const images = Effect.fnUntraced(function* (caller: Caller, body: ImageBody) {
    const ordered = yield* checkModel(caller, body.model, ["image"])
    const { protocol, model } = ordered
    const row = protocols.image.get(protocol)
    const adapter = adapters.image.get(protocol)
    if (row === undefined || adapter === undefined) {
      return yield* new ImageUnsupportedProtocol({
        message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported image protocol: ${[...protocols.image.keys()].join(", ")} are`,
        param: "model"
      })
    }
    const mounted = yield* checkAccount(ordered)
    if (passesOn(row, mounted.job.upstreamModel)) yield* Effect.fromResult(checkPassedOn(body))
    if (model.prices?.kind !== "image") return yield* unpriced(model)
    const quote = yield* Effect.fromResult(quoteImages(model.prices, imageCount(body)))
    return { ...mounted, quote, model, adapter }
  })

  /** The same checks as far as they apply. */
  const text = Effect.fnUntraced(function* (caller: Caller, request: TextRequest) {
    const ordered = yield* checkModel(caller, request.body.model, request.modalities)
    const { protocol, model } = ordered
    const row = protocols.text.get(protocol)
    const adapter = adapters.text.get(protocol)
    const isServed = row !== undefined && (row.embeddings || model.modality !== "embedding")
    if (!isServed || adapter === undefined) {
      return yield* new ChannelUnavailable({
        message: `${JSON.stringify(model.id)} is called by ${protocol}, which is not a supported ${model.modality} protocol`,
        param: "model"
      })
    }
    const mounted = yield* checkAccount(ordered)
    if (model.prices?.kind !== "tokens") return yield* unpriced(model)
    const quote = yield* Effect.fromResult(quoteText(model.prices, request.expected))
    if (quote.holdNano > MAX_AMOUNT_NANO) {
      return yield* new InvalidRequest({
        message: "max_tokens: This much output would cost more than can be held",
        param: "max_tokens"
      })
    }
    return { ...mounted, quote, model, adapter }
  })

  return { video, images, text }
})

export type OrderResolution = Effect.Success<typeof makeOrderResolution>
