/** Resolves an order of a video: its fields, its SKU, its price and its mounts. */
import { Array as Arr, Effect, Result } from "effect"
import { type Limits, limitsOf } from "../../domain/catalog/ModelLimits.ts"
import type { Prices, SecondVideoPrices, TokenVideoPrices } from "../../domain/catalog/Prices.ts"
import { BillingUnavailable, VideoUnsupportedProtocol } from "../../domain/Errors.ts"
import { videoReferences } from "../../domain/files/fileReferences.ts"
import { isMarked, withMark } from "../../domain/marks.ts"
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
import {
  makeMarkDefault,
  makeModelCheck,
  makeMountCheck,
  type OrderedModel,
  otherPriceKind,
  preferMarked
} from "../OrderChecks.ts"
import { makeFindFiles } from "../orderFiles.ts"

/** The lengths of files by their ids, measured when they were uploaded. */
type KnownLengths = ReadonlyMap<string, number | null>

/** The inputs that determine the price of an order together with its SKU. */
interface PriceInput {
  readonly input: VideoInput
  readonly lengths: KnownLengths
  readonly limits: Limits
}

const noLengths = { seconds: null, hasUnknown: false }

/**
 * The quote by one price table. Inline reference videos are measured only when their length is
 * billed.
 */
const quoteByPrices = (
  prices: TokenVideoPrices | SecondVideoPrices,
  sku: VideoSku,
  { input: { blocks }, lengths, limits }: PriceInput
) => {
  const { seconds, hasUnknown } =
    prices.kind === "token_video" ? measureLengths(blocks, lengths) : noLengths
  return quoteVideo(prices, sku, {
    videos: countInputs(blocks).videos,
    videoSeconds: seconds,
    ...(hasUnknown ? { longestSeconds: limits.input_video_seconds } : {})
  })
}

/**
 * The error codes that tell the client what can be ordered instead. Such an error lists what all
 * protocols of the model together offer.
 */
const requestErrors: ReadonlyArray<string> = ["video_sku_invalid", "invalid_request"]

const isVideoPrices = (prices: Prices | undefined) =>
  prices?.kind === "token_video" || prices?.kind === "second_video"

/**
 * The kind of billing of a video: from the model's prices, or from its protocol when there are no
 * prices.
 */
const billingOf = ({ billing }: VideoProtocolRow, prices: Prices | undefined) =>
  isVideoPrices(prices) ? prices.kind : (billing ?? "second_video")

/** Determines SKU and price of a video from the request alone. */
const priceVideo = (row: VideoProtocolRow, prices: Prices | undefined, priceInput: PriceInput) =>
  Result.gen(function* () {
    const { input } = priceInput
    const sku = yield* resolveSku(row, billingOf(row, prices), input)
    if (!isVideoPrices(prices)) {
      return yield* Result.fail(
        new BillingUnavailable({
          message: "No price is configured for this model, so this order cannot be billed",
          param: "resolution",
          priced: []
        })
      )
    }
    const quote = yield* quoteByPrices(prices, sku, priceInput)
    return { sku, quote, inputs: countInputs(input.blocks) }
  })

export const makeVideoResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter
  const findFiles = yield* makeFindFiles
  const marksByDefault = yield* makeMarkDefault

  const resolveMounts = Effect.fnUntraced(function* (
    ordered: OrderedModel,
    input: VideoInput,
    sizeRequest: SizeRequest | null,
    { lengths, isMarkDefault }: { readonly lengths: KnownLengths; readonly isMarkDefault: boolean }
  ) {
    const { model } = ordered
    const listedProtocol = protocols.video.get(model.protocol)
    const name = JSON.stringify(model.id)
    const priceInput: PriceInput = { input, lengths, limits: limitsOf(model) }

    const resolveProtocol = (protocol: string, upstreamModel: string) => {
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
      return canServe(row, listedProtocol)
        ? Result.succeed({
            row,
            adapter,
            protocol,
            fields: parametersOf(row, listedProtocol, upstreamModel)
          })
        : Result.fail(
            new VideoUnsupportedProtocol({
              message: `${name} is listed under ${model.protocol}, which ${protocol} cannot serve`,
              param: "model"
            })
          )
    }

    const checkSizeBy = (rows: ReadonlyArray<VideoProtocolRow>) => {
      const offers = rows.map((row) => sizeOfferOf(row, listedProtocol))
      return sizeRequest === null ? Result.void : checkSize(sizeRequest, offers, DEFAULT_RESOLUTION)
    }

    const usable = yield* checkMounts(ordered, {
      resolveProtocol,
      checkOffer: ({ row, adapter, protocol, fields }, upstreamModel) =>
        Result.gen(function* () {
          const values = yield* readParameters(input, fields, protocol)
          const parameters = isMarkDefault ? withMark(values, fields) : values
          yield* checkSizeBy([row])
          const priced = yield* priceVideo(row, model.prices, priceInput)
          if (adapter.place !== undefined) {
            const { seconds, resolution } = priced.sku
            const job = {
              ...input,
              parameters,
              seconds,
              resolution,
              taskId: "",
              upstreamModel,
              listedProtocol: model.protocol
            }
            yield* Result.mapError(adapter.place(job), upstreamErrorOf)
          }
          return { ...priced, adapter, parameters, isMarked: isMarked(parameters, fields) }
        }),
      quoteBy: ({ sku }, prices) =>
        isVideoPrices(prices) ? quoteByPrices(prices, sku, priceInput) : otherPriceKind,
      notOffered: (tried, errors) => {
        const withFields = tried.filter(({ fields }) => hasFields(input, fields))
        const candidates = withFields.length > 0 ? withFields : tried
        const [rows, fieldErrors] = Arr.partition(candidates, ({ row, fields, protocol }) =>
          Result.map(readParameters(input, fields, protocol), () => row)
        )
        if (!Arr.isArrayNonEmpty(rows)) return fieldErrors[0] ?? errors[0]
        const [skuError = errors[0]] = errors.filter(({ _tag }) => _tag !== "invalid_request")
        const otherError = errors.find(({ _tag }) => !requestErrors.includes(_tag))
        if (otherError !== undefined) return otherError
        const sizeCheck = checkSizeBy(rows)
        if (Result.isFailure(sizeCheck)) return sizeCheck.failure
        return notOffered(rows, billingOf(rows[0], model.prices), input) ?? skuError
      }
    })
    const mounts = isMarkDefault ? preferMarked(usable) : usable
    return { mounts, quote: mounts[0].quote, input, model }
  })

  /**
   * Checks, in this order: the content of the request, the model, unknown fields, the files to
   * which the request refers, the mounts with their protocols, the accounts, the vendor's own
   * fields, duration and resolution, the price. The model is checked before the fields: when a body
   * was meant for another route, an error about the model is the better explanation.
   */
  return Effect.fnUntraced(function* (caller: Caller, body: VideoBody, options?: OpenaiOptions) {
    const normalised = normaliseVideo(body)
    const modelCheck = yield* Effect.result(checkModel(caller, body.model, ["video"]))
    const [model, offered] = Result.isSuccess(modelCheck)
      ? [
          modelCheck.success.model.id,
          offeredParameters(protocols.video, modelCheck.success.model, modelCheck.success.mounts)
        ]
      : [null, parametersAnywhere(protocols.video)]
    const flagged = Result.isSuccess(normalised) ? normalised.success.flagged : []
    const fieldCheck = checkFields(body, flagged, offered, { model, rows: protocols.video })
    const bodyInput = yield* Effect.fromResult(
      Result.mapError(normalised, (error) =>
        Result.isFailure(fieldCheck) ? fieldCheck.failure : error
      )
    )
    const ordered = yield* Effect.fromResult(modelCheck)
    yield* Effect.fromResult(fieldCheck)
    const files = yield* findFiles(caller, videoReferences(body))
    const lengths = new Map([...files].map(([id, { seconds }]) => [id, seconds]))
    const input = options === undefined ? bodyInput : applyOpenaiOptions(bodyInput, options)
    const sizeRequest = options === undefined ? null : sizeRequestOf(bodyInput, options)
    const terms = { lengths, isMarkDefault: marksByDefault(caller) }
    return { ...(yield* resolveMounts(ordered, input, sizeRequest, terms)), files }
  })
})
