/**
 * The request that a vendor would get for an order, by its document alone: the order passes the
 * checks of the gateway that need no catalog, and nothing is sent.
 */
import { Redacted, Result, Schema } from "effect"
import { generateRequestOf } from "../../adapters/queue/queueImages.ts"
import { submitRequestOf } from "../../adapters/queue/queueVideos.ts"
import { documentRows } from "../../domain/catalog/ProtocolTables.ts"
import { editRequest, ImageEditBody } from "../../domain/image/ImageEditRequest.ts"
import { imageFamilyOf } from "../../domain/image/ImageProtocol.ts"
import {
  checkImages,
  ImageBody,
  type ImageRequest,
  imageCount
} from "../../domain/image/ImageRequest.ts"
import type { QueueDocument, QueueModel } from "../../domain/queue/QueueDocument.ts"
import { isSingleImage } from "../../domain/queue/queueBody.ts"
import { type FieldFault, issueFaults } from "../../domain/requestFields.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { baseVideosOf, normaliseVideo } from "../../domain/video/VideoInput.ts"
import { checkForms, placeOrder, rowOfModel } from "../../domain/video/VideoProtocol.ts"
import { resolveEdit, resolveSku } from "../../domain/video/VideoSku.ts"
import { checkFields, parametersOf, readParameters } from "../../domain/video/vendorFields.ts"
import { checkLimits, videoOffer } from "../../domain/video/videoOffer.ts"

/** A request to the vendor, with the key masked. */
export interface PlannedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object | null
  /** How often the request would be sent: several images may be as many requests. */
  readonly times: number
}

/** Stands in place of the key, which no document has. */
const MASKED_KEY = "<key>"
/** The task of the order, which has an id only when it is placed. */
const TASK_ID = "vt_00000000-0000-7000-8000-000000000000"

type Faults = ReadonlyArray<FieldFault>
type Planned = Result.Result<PlannedRequest, Faults>

const NamedOrder = Schema.Struct({ model: Schema.optionalKey(Schema.String) })
const isNamedOrder = Schema.is(NamedOrder)

const decodeOptions = { errors: "all" } as const
const decodeVideo = Schema.decodeUnknownResult(VideoBody, decodeOptions)
const decodeImages = Schema.decodeUnknownResult(ImageBody, decodeOptions)
const decodeEdit = Schema.decodeUnknownResult(ImageEditBody, decodeOptions)

/** The faults of a refusal of the gateway or of an adapter. */
const faultsOf = (error: {
  readonly message: string
  readonly param?: string | null | undefined
  readonly faults?: Faults | undefined
}): Faults => error.faults ?? [{ path: error.param ?? "", message: error.message }]

const accountAt = (baseUrl: string) => ({
  channelId: "document",
  baseUrl,
  apiKey: Redacted.make(MASKED_KEY),
  appId: null
})

/** A video by its document. Billing by usage is assumed, as it allows every length of the model. */
const planVideo = (
  document: QueueDocument,
  { id: upstreamModel }: QueueModel,
  order: unknown,
  baseUrl: string
): Planned =>
  Result.gen(function* () {
    const body = yield* Result.mapError(decodeVideo(order), ({ issue }) => issueFaults(issue))
    const rows = documentRows([document]).video
    const protocolRow = yield* Result.fromNullishOr(rows.get(document.id), () => [])
    const row = rowOfModel(protocolRow, upstreamModel)
    const call = { row, listed: protocolRow, upstreamModel }
    const fields = parametersOf(row, protocolRow, upstreamModel)
    const request = Result.gen(function* () {
      const input = yield* normaliseVideo(body)
      yield* checkFields(body, input.flagged, fields, { model: upstreamModel, rows })
      const parameters = yield* readParameters(input, fields, document.id)
      const offer = videoOffer(row, protocolRow, { model: undefined, mount: undefined })
      const limitedInput = yield* checkLimits(
        offer,
        input,
        (blocks) => placeOrder(call, blocks).roles
      )
      yield* checkForms(call, limitedInput.blocks)
      const isEdit = baseVideosOf(input.blocks).some(({ role }) => role === "edit_video")
      const { seconds, resolution } = yield* isEdit
        ? resolveEdit(offer, "token_video", input, null)
        : resolveSku(offer, "token_video", input)
      return yield* submitRequestOf(document)(accountAt(baseUrl), {
        ...limitedInput,
        parameters,
        seconds,
        resolution,
        taskId: TASK_ID,
        upstreamModel,
        listedProtocol: document.id
      })
    })
    return { ...(yield* Result.mapError(request, faultsOf)), times: 1 }
  })

const imageRequestOf = (order: object): Result.Result<ImageRequest, Faults> =>
  "mask" in order
    ? Result.mapBoth(decodeEdit(order), {
        onSuccess: editRequest,
        onFailure: ({ issue }) => issueFaults(issue)
      })
    : Result.mapBoth(decodeImages(order), {
        onSuccess: (body) => ({ body, edit: null }),
        onFailure: ({ issue }) => issueFaults(issue)
      })

const planImages = (
  document: QueueDocument,
  model: QueueModel & { readonly modality: "image" },
  order: object,
  baseUrl: string
): Planned =>
  Result.gen(function* () {
    const request = yield* imageRequestOf(order)
    const row = yield* Result.fromNullishOr(
      documentRows([document]).image.get(document.id),
      () => []
    )
    yield* Result.mapError(checkImages(request, imageFamilyOf(row, model.id)), faultsOf)
    const written = generateRequestOf(document)(accountAt(baseUrl), {
      ...request,
      upstreamModel: model.id
    })
    const times = isSingleImage(model) ? imageCount(request.body) : 1
    return { ...(yield* Result.mapError(written, faultsOf)), times }
  })

/**
 * The request for an order, or why the gateway would refuse it. The order names a model of the
 * document as the vendor does; it may leave that out where there is only one.
 */
export const planRequest = (document: QueueDocument, order: unknown, baseUrl: string): Planned => {
  if (!isNamedOrder(order)) return Result.fail([{ path: "", message: "Expected an order as JSON" }])
  const [first, ...others] = document.models
  const name = order.model ?? (others.length === 0 ? first?.id : undefined)
  const model = document.models.find(({ id }) => id === name)
  if (model === undefined) {
    const ids = document.models.map(({ id }) => id).join(", ")
    return Result.fail([{ path: "model", message: `Expected a model of the document: ${ids}` }])
  }
  const namedOrder = { ...order, model: model.id }
  return model.modality === "video"
    ? planVideo(document, model, namedOrder, baseUrl)
    : planImages(document, model, namedOrder, baseUrl)
}
