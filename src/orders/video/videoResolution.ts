/** Resolves an order of a video: its fields, its SKU, its price and its mounts. */
import { Array as Arr, Clock, Effect, Result } from "effect"
import type { Mount } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../../domain/catalog/CatalogRules.ts"
import { type Limits, limitsOf } from "../../domain/catalog/ModelLimits.ts"
import type { Prices, SecondVideoPrices, TokenVideoPrices } from "../../domain/catalog/Prices.ts"
import { BillingUnavailable, VideoUnsupportedProtocol } from "../../domain/Errors.ts"
import {
  videoReferences,
  videoTaskReferences,
  withAddresses
} from "../../domain/files/fileReferences.ts"
import { isMarked, withMark } from "../../domain/marks.ts"
import type { VideoTaskReference } from "../../domain/mediaUrls.ts"
import { taskNamed } from "../../domain/orderIds.ts"
import { upstreamErrorOf } from "../../domain/VendorOutcome.ts"
import { familyOf, type VideoPlacement } from "../../domain/video/families/VideoFamily.ts"
import { measureLengths } from "../../domain/video/length/knownSeconds.ts"
import { mountOffers } from "../../domain/video/modelOffers.ts"
import {
  applyOpenaiOptions,
  type OpenaiOptions,
  sizeRequestOf
} from "../../domain/video/OpenaiVideoBody.ts"
import { factsOf } from "../../domain/video/orderFacts.ts"
import { checkSize, type SizeRequest } from "../../domain/video/sizes.ts"
import type { VideoBody } from "../../domain/video/VideoBody.ts"
import {
  baseVideosOf,
  countInputs,
  normaliseVideo,
  type VideoInput
} from "../../domain/video/VideoInput.ts"
import {
  canServe,
  checkForms,
  DEFAULT_RESOLUTION,
  familiesOf,
  formOf,
  placeOrder,
  rowOfModel,
  type VideoCall,
  type VideoProtocolRow
} from "../../domain/video/VideoProtocol.ts"
import { capVideoQuote, quoteByTable, quoteVideo } from "../../domain/video/VideoQuote.ts"
import {
  billingOf,
  defaultsTogether,
  notOffered,
  resolveEdit,
  resolveSku,
  type SkuBilling,
  type VideoSku
} from "../../domain/video/VideoSku.ts"
import {
  checkFields,
  hasFields,
  offeredParameters,
  parametersAnywhere,
  parametersOf,
  readParameters
} from "../../domain/video/vendorFields.ts"
import type { VideoFacts } from "../../domain/video/videoFacts.ts"
import {
  checkLimits,
  defaultRatioOf,
  longestSecondsOf,
  offerInForm,
  offersTogether,
  type VideoOffer,
  videoOffer
} from "../../domain/video/videoOffer.ts"
import type { VideoTable } from "../../domain/video/videoPriceTable.ts"
import type { Caller } from "../../services/Access.ts"
import { ProtocolAdapter, Protocols } from "../../services/ProtocolAdapter.ts"
import type { SourceVideo } from "../../services/TaskRepo.ts"
import {
  makeMarkDefault,
  makeModelCheck,
  makeMountCheck,
  type OrderedModel,
  otherPriceKind,
  preferMarked
} from "../OrderChecks.ts"
import { makeFindFiles } from "../orderFiles.ts"
import { checkAddresses, type EarlierVideo, makeFindVideos } from "./earlierVideos.ts"
import { type Extension, extendAt, extendedTaskId } from "./ownVideos.ts"

/**
 * The lengths of input videos: of files by their ids, measured when they were uploaded, and of
 * earlier videos by their addresses.
 */
type KnownLengths = ReadonlyMap<string, number | null>

/** The inputs that determine the price of an order together with its SKU. */
interface PriceInput {
  readonly input: VideoInput
  readonly lengths: KnownLengths
  readonly limits: Limits
  /** The longest output of an order whose duration the model chooses, if limits state one. */
  readonly longestOutputSeconds: number | undefined
}

type VideoPrices = TokenVideoPrices | SecondVideoPrices | VideoTable

/** Whether the length of reference videos counts. */
const billsInput = (prices: VideoPrices): boolean => {
  if (prices.kind !== "video_table") return prices.kind === "token_video"
  return prices.unit === "token" || (prices.unit === "second" && prices.input_seconds === true)
}

/** The video that an order edits; undefined if it edits none. */
const editedVideo = ({ blocks }: Pick<VideoInput, "blocks">) =>
  baseVideosOf(blocks).find(({ role }) => role === "edit_video")

/**
 * The video that an order edits or extends, by its task where the order names one. `ownId` is the id of
 * an extended video that a link of the order names.
 */
const sourceOf = ({ blocks }: VideoInput, ownId: string | null): SourceVideo | null => {
  const [video] = baseVideosOf(blocks)
  if (video === undefined) return null
  return { role: video.role, taskId: taskNamed(ownId ?? video.url)?.id ?? null }
}

/** What an order is checked with, beside the model and the order itself. */
interface OrderTerms {
  readonly lengths: KnownLengths
  readonly isMarkDefault: boolean
  readonly extension: Extension
  /** The earlier videos of the order that only the vendor that made them may still have. */
  readonly withoutAddress: ReadonlyArray<VideoTaskReference>
}

const noLengths = { seconds: null, hasUnknown: false }

/**
 * The quote by one price table. Inline reference videos are measured only when their length is
 * billed.
 */
const quoteByPrices = (
  prices: VideoPrices,
  sku: VideoSku,
  facts: VideoFacts,
  referenceImages: number,
  { input, lengths, limits, ...priceInput }: PriceInput
) => {
  const { blocks } = input
  // An edit of unknown length has at most the length that its video can have.
  const longestOutputSeconds =
    sku.seconds === "smart" && editedVideo(input) !== undefined
      ? limits.input_video_seconds
      : priceInput.longestOutputSeconds
  const { seconds, hasUnknown } = billsInput(prices) ? measureLengths(blocks, lengths) : noLengths
  const inputs = {
    videos: countInputs(blocks).videos,
    videoSeconds: seconds,
    referenceImages,
    ...(hasUnknown ? { longestSeconds: limits.input_video_seconds } : {}),
    ...(longestOutputSeconds === undefined ? {} : { longestOutputSeconds })
  }
  return prices.kind === "video_table"
    ? quoteByTable(prices, facts, sku, inputs)
    : quoteVideo(prices, sku, inputs)
}

/**
 * The error codes that tell the client what can be ordered instead. Such an error lists what all
 * protocols of the model together offer.
 */
const requestErrors: ReadonlyArray<string> = ["video_sku_invalid", "invalid_request"]

const isVideoPrices = (prices: Prices | undefined) =>
  prices?.kind === "token_video" ||
  prices?.kind === "second_video" ||
  prices?.kind === "video_table"

/** The billing by the model's prices, or by its protocol if there are none. */
const billingFor = ({ billing }: VideoProtocolRow, prices: Prices | undefined) =>
  billingOf(prices) ?? billing ?? "second_video"

/** The SKU of an order; that of an edit depends on the length of its video. */
const skuOf = (offer: VideoOffer, billing: SkuBilling, { input, lengths }: PriceInput) => {
  const videoToEdit = editedVideo(input)
  if (videoToEdit === undefined) return resolveSku(offer, billing, input)
  const { seconds } = measureLengths([{ type: "video", url: videoToEdit.url }], lengths)
  return resolveEdit(offer, billing, input, seconds)
}

/** Determines SKU and price of a video from the request alone. */
const priceVideo = (
  call: VideoCall,
  offer: VideoOffer,
  prices: Prices | undefined,
  priceInput: PriceInput
) =>
  Result.gen(function* () {
    const { input } = priceInput
    const sku = yield* skuOf(offer, billingFor(call.row, prices), priceInput)
    if (!isVideoPrices(prices)) {
      return yield* Result.fail(
        new BillingUnavailable({
          message: "No price is configured for this model, so this order cannot be billed",
          param: "resolution",
          priced: []
        })
      )
    }
    const { facts, referenceImages, generateAudio } = factsOf(call, input, sku.billedResolution)
    const quote = yield* quoteByPrices(prices, sku, facts, referenceImages, priceInput)
    // Where the price depends on the sound, the order says whether it has sound.
    const isSoundPriced = quote.kind === "video_table" && quote.pricedFacts.includes("sound")
    return {
      sku,
      quote,
      facts,
      referenceImages,
      generateAudio: isSoundPriced ? generateAudio : input.generateAudio,
      inputs: countInputs(input.blocks)
    }
  })

const rolesBy =
  (call: VideoCall) =>
  (blocks: VideoInput["blocks"]): VideoPlacement["roles"] =>
    placeOrder(call, blocks).roles

export const makeVideoResolution = Effect.gen(function* () {
  const checkModel = yield* makeModelCheck
  const checkMounts = yield* makeMountCheck
  const protocols = yield* Protocols
  const adapters = yield* ProtocolAdapter
  const findFiles = yield* makeFindFiles
  const findVideos = yield* makeFindVideos
  const marksByDefault = yield* makeMarkDefault

  /**
   * The longest output of an order with -1: the vendor's longest video of any mount, which limits
   * of seconds do not shorten. It is the same for all mounts, so that they share the quote.
   */
  const longestOutputOf = ({ model, mounts }: OrderedModel): number | undefined => {
    const listed = protocols.video.get(model.protocol)
    const lengths = mounts.flatMap((mount) => {
      const row = protocols.video.get(mountProtocol(model, mount))
      const upstreamModel = mount.upstream_model ?? model.id
      const family = row && familyOf(familiesOf(row, listed), upstreamModel)
      return family?.seconds[1] ?? []
    })
    const ofLimits = longestSecondsOf(model.limits)
    return model.limits?.smart === true ? Math.max(ofLimits ?? 0, ...lengths) : ofLimits
  }

  const resolveMounts = Effect.fnUntraced(function* (
    ordered: OrderedModel,
    input: VideoInput,
    sizeRequest: SizeRequest | null,
    { lengths, isMarkDefault, extension, withoutAddress }: OrderTerms
  ) {
    const { model, priceList } = ordered
    const listedProtocol = protocols.video.get(model.protocol)
    const name = JSON.stringify(model.id)
    const priceInput: PriceInput = {
      input,
      lengths,
      limits: limitsOf(model),
      longestOutputSeconds: longestOutputOf(ordered)
    }

    const resolveProtocol = (protocol: string, upstreamModel: string, mount: Mount | null) => {
      const protocolRow = protocols.video.get(protocol)
      const adapter = adapters.video.get(protocol)
      if (protocolRow === undefined || adapter === undefined) {
        return Result.fail(
          new VideoUnsupportedProtocol({
            message: `${name} is called by ${protocol}, which is not a supported video protocol: ${[...protocols.video.keys()].join(", ")} are`,
            param: "model"
          })
        )
      }
      const row = rowOfModel(protocolRow, upstreamModel)
      return canServe(row, listedProtocol)
        ? Result.succeed({
            call: { row, listed: listedProtocol, upstreamModel },
            adapter,
            protocol,
            channelId: mount?.channel ?? "",
            offer: videoOffer(row, listedProtocol, { model: model.limits, mount: mount?.limits }),
            fields: parametersOf(row, listedProtocol, upstreamModel)
          })
        : Result.fail(
            new VideoUnsupportedProtocol({
              message: `${name} is listed under ${model.protocol}, which ${protocol} cannot serve`,
              param: "model"
            })
          )
    }

    const checkSizeBy = (offers: ReadonlyArray<VideoOffer>) =>
      sizeRequest === null ? Result.void : checkSize(sizeRequest, offers, DEFAULT_RESOLUTION)

    const usable = yield* checkMounts(ordered, {
      resolveProtocol,
      checkOffer: ({ call, offer, adapter, protocol, channelId, fields }, upstreamModel) =>
        Result.gen(function* () {
          const values = yield* readParameters(input, fields, protocol)
          const parameters = isMarkDefault ? withMark(values, fields) : values
          yield* checkSizeBy([offer])
          const limits = yield* checkLimits(offer, input, rolesBy(call))
          yield* checkForms(call, limits.blocks)
          const { ownVideos } = adapter
          const mount = { channelId, protocol, ownVideos }
          const { blocks, keyName } = yield* extendAt(limits.blocks, mount, extension)
          yield* checkAddresses(blocks, withoutAddress)
          const limited = { ...limits, blocks }
          const formOffer = offerInForm(offer, formOf(call, blocks))
          const priced = yield* priceVideo(call, formOffer, model.prices, {
            ...priceInput,
            input: limited
          })
          if (adapter.checkOrder !== undefined) {
            const { seconds, resolution } = priced.sku
            const job = {
              ...limited,
              generateAudio: priced.generateAudio,
              parameters,
              seconds,
              resolution,
              taskId: "",
              upstreamModel,
              listedProtocol: model.protocol
            }
            yield* Result.mapError(adapter.checkOrder(job), upstreamErrorOf)
          }
          return {
            ...priced,
            quote: ordered.isCapped ? capVideoQuote(priced.quote) : priced.quote,
            adapter,
            parameters,
            ratio: limits.ratio,
            blocks,
            keyName,
            isMarked: isMarked(parameters, fields)
          }
        }),
      quoteBy: ({ sku, facts, referenceImages }, prices) =>
        // A vendor that bills ordered seconds has no cost for an order that leaves them open.
        isVideoPrices(prices) && !(prices.kind === "second_video" && sku.seconds === "smart")
          ? quoteByPrices(prices, sku, facts, referenceImages, priceInput)
          : otherPriceKind,
      notOffered: (tried, errors) => {
        const withFields = tried.filter(({ fields }) => hasFields(input, fields))
        const candidates = withFields.length > 0 ? withFields : tried
        const [usable, fieldErrors] = Arr.partition(candidates, ({ fields, protocol, ...one }) =>
          Result.map(readParameters(input, fields, protocol), () => one)
        )
        if (!Arr.isArrayNonEmpty(usable)) return fieldErrors[0] ?? errors[0]
        const offers = Arr.map(usable, ({ offer }) => offer)
        const [skuError = errors[0]] = errors.filter(({ _tag }) => _tag !== "invalid_request")
        const otherError = errors.find(({ _tag }) => !requestErrors.includes(_tag))
        if (otherError !== undefined) return otherError
        const check = Result.flatMap(checkSizeBy(offers), () =>
          checkLimits(offersTogether(offers), input, rolesBy(usable[0].call))
        )
        if (Result.isFailure(check)) return check.failure
        return notOffered(offers, billingFor(usable[0].call.row, model.prices), input) ?? skuError
      }
    })
    const mounts = isMarkDefault ? preferMarked(usable) : usable
    return { mounts, quote: mounts[0].quote, input, model, priceList }
  })

  /**
   * The offers of a model whose limits, or those of a mount, decide defaults, for orders of the form of
   * these blocks; null for others.
   */
  const limitedOffers = ({ model, mounts }: OrderedModel, blocks: VideoInput["blocks"]) => {
    if ([model, ...mounts].every(({ limits }) => limits === undefined)) return null
    const listed = protocols.video.get(model.protocol)
    const offers = mountOffers(protocols.video, model, mounts).map(({ mount, row, offer }) => {
      const upstreamModel = mount?.upstream_model ?? model.id
      return offerInForm(offer, formOf({ row, listed, upstreamModel }, blocks))
    })
    return Arr.isReadonlyArrayNonEmpty(offers) ? offers : null
  }

  /** The id of the earlier video that an order extends at the vendor that made it; null for others. */
  const ownIdOf = ({ model, mounts }: OrderedModel, blocks: VideoInput["blocks"]): string | null =>
    mounts.some((mount) => adapters.video.get(mountProtocol(model, mount))?.ownVideos !== undefined)
      ? extendedTaskId(blocks)
      : null

  /** The ratio of an order, which is that of the video that a mount extends at its own vendor. */
  const ratioOf = (
    { mounts }: OrderedModel,
    { ratio }: VideoInput,
    earlier: EarlierVideo | undefined
  ): string | null =>
    earlier !== undefined && mounts.some(({ channel }) => channel === earlier.task.channelId)
      ? (ratio ?? earlier.task.ratio)
      : ratio

  /**
   * The input with OpenAI's options, and with the defaults of a model with limits: they are those of
   * all mounts together, so that a mount that makes only longer or sharper videos does not make an
   * order without a duration or a resolution more expensive.
   */
  const completeInput = (
    ordered: OrderedModel,
    bodyInput: VideoInput,
    options: OpenaiOptions | undefined
  ): VideoInput => {
    const offers = limitedOffers(ordered, bodyInput.blocks)
    const defaultRatio = defaultRatioOf(offers === null ? {} : offersTogether(offers))
    const input =
      options === undefined ? bodyInput : applyOpenaiOptions(bodyInput, options, defaultRatio)
    if (offers === null) return input
    const defaults = defaultsTogether(offers, input)
    // An edit has the length of its video, not that of other orders.
    return editedVideo(input) === undefined
      ? { ...input, ...defaults }
      : { ...input, resolution: defaults.resolution }
  }

  /**
   * Checks, in this order: the content of the request, the model, unknown fields, the files to
   * and earlier videos to which the request refers, the mounts with their protocols, the accounts, the vendor's own
   * fields, the limits of the model, duration and resolution, the price. The model is checked before
   * the fields: when a body was meant for another route, an error about the model is the better
   * explanation.
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
    const ownId = ownIdOf(ordered, bodyInput.blocks)
    const taskReferences = videoTaskReferences(body)
    const videos = yield* findVideos(caller, [
      ...taskReferences,
      ...(ownId === null ? [] : [{ path: "video", id: ownId }])
    ])
    const earlier = ownId === null ? undefined : videos.get(ownId)
    const lengths = new Map([
      ...[...files].map(([id, { seconds }]) => [id, seconds] as const),
      ...[...videos].flatMap(([id, { address, seconds, task }]) =>
        [id, address, task.videoUrl].flatMap((url) =>
          url === null ? [] : [[url, seconds] as const]
        )
      )
    ])
    const addresses = new Map(
      [...videos].flatMap(([id, { address }]) => (address === null ? [] : [[id, address] as const]))
    )
    const blocks = withAddresses(bodyInput.blocks, addresses)
    const ratio = ratioOf(ordered, bodyInput, earlier)
    const input = completeInput(ordered, { ...bodyInput, blocks, ratio }, options)
    const sizeRequest = options === undefined ? null : sizeRequestOf(bodyInput, options)
    const terms = {
      lengths,
      isMarkDefault: marksByDefault(caller, ordered.listMark),
      extension: { earlier, nowMillis: yield* Clock.currentTimeMillis },
      withoutAddress: taskReferences.filter(({ id }) => videos.get(id)?.address === null)
    }
    const source = sourceOf(bodyInput, ownId)
    return { ...(yield* resolveMounts(ordered, input, sizeRequest, terms)), files, source }
  })
})
