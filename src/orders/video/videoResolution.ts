/** What an order of a video is and what it costs: its fields, its SKU and its mounts. */
import { Array as Arr, Effect, Result } from "effect"
import { type Limits, limitsOf } from "../../domain/catalog/ModelLimits.ts"
import type { Prices, SecondVideoPrices, TokenVideoPrices } from "../../domain/catalog/Prices.ts"
import { BillingUnavailable, VideoUnsupportedProtocol } from "../../domain/Errors.ts"
import { videoReferences } from "../../domain/files/fileReferences.ts"
import { upstreamErrorOf } from "../../domain/VendorOutcome.ts"
import { measureLengths } from "../../domain/video/length/knownSeconds.ts"
import {
  applyOpenaiOptions,
  type OpenaiOptions,
  sizeRequestOf
} from "../../domain/video/OpenaiVideoBody.ts"
import { checkSize, type SizeRequest, sizeOfferOf } from "../../domain/video/sizes.ts"
import type { VideoBody } from "../../domain/video/VideoBody.ts"
import { countInputs, normaliseVideo, type VideoInput } from "../../domain/video/VideoInput.ts"
import {
  canServe,
  DEFAULT_RESOLUTION,
  type VideoProtocolRow
} from "../../domain/video/VideoProtocol.ts"
import { quoteVideo } from "../../domain/video/VideoQuote.ts"
import { notOffered, resolveSku, type VideoSku } from "../../domain/video/VideoSku.ts"
import {
  checkFields,
  hasFields,
  offeredParameters,
  parametersAnywhere,
  parametersOf,
  readParameters
} from "../../domain/video/vendorFields.ts"
import type { Caller } from "../../services/Access.ts"
import { ProtocolAdapter, Protocols } from "../../services/ProtocolAdapter.ts"
import { makeModelCheck, makeMountCheck, type OrderedModel, otherKind } from "../OrderChecks.ts"
import { makeFindFiles } from "../orderFiles.ts"

/** By the ids of files, as they were measured when they were uploaded. */
type KnownLengths = ReadonlyMap<string, number | null>

/** What of a model's order its price depends on, beside its SKU. */
interface Measured {
  readonly input: VideoInput
  readonly lengths: KnownLengths
  readonly limits: Limits
}

const unmeasured = { seconds: null, hasUnknown: false }

/** Inline reference videos are measured where their length is billed. */
const quoteVideoOf = (
  prices: TokenVideoPrices | SecondVideoPrices,
  sku: VideoSku,
  { input: { blocks }, lengths, limits }: Measured
) => {
  const { seconds, hasUnknown } =
    prices.kind === "token_video" ? measureLengths(blocks, lengths) : unmeasured
  return quoteVideo(prices, sku, {
    videos: countInputs(blocks).videos,
    videoSeconds: seconds,
    ...(hasUnknown ? { longestSeconds: limits.input_video_seconds } : {})
  })
}

const billingOf = ({ billing }: VideoProtocolRow, prices: Prices | undefined) => {
  const video =
    prices?.kind === "token_video" || prices?.kind === "second_video" ? prices : undefined
  return { video, billing: video?.kind ?? billing ?? "second_video" }
}

/** SKU and price of a video, from the request alone. */
const priceVideo = (row: VideoProtocolRow, prices: Prices | undefined, measured: Measured) =>
  Result.gen(function* () {
    const { video, billing } = billingOf(row, prices)
    const { input } = measured
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
    const quote = yield* quoteVideoOf(video, sku, measured)
    return { sku, quote, inputs: countInputs(input.blocks) }
  })

export const makeVideoResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter
  const findFiles = yield* makeFindFiles

  const videoOn = Effect.fnUntraced(function* (
    ordered: OrderedModel,
    input: VideoInput,
    sized: SizeRequest | null,
    lengths: KnownLengths
  ) {
    const { model } = ordered
    const listed = protocols.video.get(model.protocol)
    const name = JSON.stringify(model.id)
    const measured: Measured = { input, lengths, limits: limitsOf(model) }

    const speak = (protocol: string, upstreamModel: string) => {
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
      return canServe(row, listed)
        ? Result.succeed({ row, adapter, protocol, own: parametersOf(row, listed, upstreamModel) })
        : Result.fail(
            new VideoUnsupportedProtocol({
              message: `${name} is listed under ${model.protocol}, which ${protocol} cannot serve`,
              param: "model"
            })
          )
    }

    const checkSized = (rows: ReadonlyArray<VideoProtocolRow>) => {
      const offers = rows.map((row) => sizeOfferOf(row, listed))
      return sized === null ? Result.void : checkSize(sized, offers, DEFAULT_RESOLUTION)
    }

    const mounts = yield* checkMounts(ordered, {
      speak,
      fit: ({ row, adapter, protocol, own }, upstreamModel) =>
        Result.gen(function* () {
          const parameters = yield* readParameters(input, own, protocol)
          yield* checkSized([row])
          const priced = yield* priceVideo(row, model.prices, measured)
          if (adapter.place !== undefined) {
            const { seconds, resolution } = priced.sku
            const ordered = { ...input, parameters, seconds, resolution }
            const of = { taskId: "", upstreamModel, listedProtocol: model.protocol }
            yield* Result.mapError(adapter.place({ ...ordered, ...of }), upstreamErrorOf)
          }
          return { ...priced, adapter, parameters }
        }),
      priceBy: ({ sku }, prices) =>
        prices.kind === "token_video" || prices.kind === "second_video"
          ? quoteVideoOf(prices, sku, measured)
          : otherKind,
      noneFits: (tried, misfits) => {
        const having = tried.filter(({ own }) => hasFields(input, own))
        const read = (having.length > 0 ? having : tried).map(({ own, protocol, row }) => ({
          row,
          values: readParameters(input, own, protocol)
        }))
        const rows = read.flatMap(({ row, values }) => (Result.isSuccess(values) ? [row] : []))
        if (!Arr.isReadonlyArrayNonEmpty(rows)) {
          return (
            read.flatMap(({ values }) => (Result.isFailure(values) ? [values.failure] : []))[0] ??
            misfits[0]
          )
        }
        const further = misfits.find(
          ({ _tag }) => _tag !== "video_sku_invalid" && _tag !== "invalid_request"
        )
        const ofSku = misfits.find(({ _tag }) => _tag !== "invalid_request") ?? misfits[0]
        if (further !== undefined) return further
        const noSize = checkSized(rows)
        if (Result.isFailure(noSize)) return noSize.failure
        return notOffered(rows, billingOf(rows[0], model.prices).billing, input) ?? ofSku
      }
    })
    return { mounts, quote: mounts[0].quote, input, model }
  })

  /**
   * Checks, in this order: the request's sense, the model, unknown fields, the files it refers to, the
   * mounts with their protocols, the accounts, the vendor's own fields, duration and resolution, the price. Of a body
   * that was meant for another route the model says more than its fields, so it comes first.
   */
  return Effect.fnUntraced(function* (caller: Caller, body: VideoBody, wish?: OpenaiOptions) {
    const normalised = normaliseVideo(body)
    const found = yield* Effect.result(checkModel(caller, body.model, ["video"]))
    const [model, offered] = Result.isSuccess(found)
      ? [
          found.success.model.id,
          offeredParameters(protocols.video, found.success.model, found.success.mounts)
        ]
      : [null, parametersAnywhere(protocols.video)]
    const flagged = Result.isSuccess(normalised) ? normalised.success.flagged : []
    const known = checkFields(body, flagged, offered, { model, rows: protocols.video })
    const said = yield* Effect.fromResult(
      Result.mapError(normalised, (error) => (Result.isFailure(known) ? known.failure : error))
    )
    const ordered = yield* Effect.fromResult(found)
    yield* Effect.fromResult(known)
    const files = yield* findFiles(caller, videoReferences(body))
    const lengths = new Map([...files].map(([id, { seconds }]) => [id, seconds]))
    const [input, sized] =
      wish === undefined
        ? ([said, null] as const)
        : ([applyOpenaiOptions(said, wish), sizeRequestOf(said, wish)] as const)
    return { ...(yield* videoOn(ordered, input, sized, lengths)), files }
  })
})
