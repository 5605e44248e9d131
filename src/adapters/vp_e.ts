/**
 * The video protocol vp_e: each mode has its own path to submit to; authentication is `Token`, and
 * orders are billed by the seconds ordered.
 */
import { Redacted, Result, Schema } from "effect"
import { readBill } from "../domain/money/vendorBill.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import {
  describeInputs,
  type PlacedOrder,
  placeMedia
} from "../domain/video/families/VideoFamily.ts"
import { type TierMode, tierFormsOf } from "../domain/video/families/vp_e.ts"
import type { Resolution } from "../domain/video/tiers.ts"
import { countInputs, textOf } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder, VideoTaskRef } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { flatFailure } from "./common/flatErrors.ts"
import { noUsage, type StatusNames, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import { flatReasonShape, meanings, refusalTable } from "./wire/refusalTable.ts"
import { listOf } from "./wire/vendorAnswer.ts"
import { localRefusal, refusal } from "./wire/vendorFailures.ts"
import { get, omitEmpty, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

/** The error code of a cancelled task, whose state is `failed`. */
const CANCELLED = "UserCancelled"

const isSubmitted = Schema.is(Schema.Struct({ task_id: JobId }))
const isPolled = Schema.is(
  Schema.Struct({
    state: Schema.String,
    creations: Schema.optional(Schema.Unknown),
    credits: Schema.optional(Schema.Unknown)
  })
)
const isCreation = Schema.is(Schema.Struct({ url: WebAddress }))
const isCoveredCreation = Schema.is(Schema.Struct({ cover_url: WebAddress }))
const isMarkedCreation = Schema.is(Schema.Struct({ watermarked_url: WebAddress }))
const isFailedSubmit = Schema.is(Schema.Struct({ state: Schema.Literal("failed") }))
const isCancelled = Schema.is(
  Schema.Struct({ state: Schema.Literal("failed"), err_code: Schema.Literal(CANCELLED) })
)
const isCoded = Schema.is(Schema.Struct({ err_code: Schema.NonEmptyString }))

// To the vendor

type PlacedTierOrder = PlacedOrder<TierMode>

const takesRatio: ReadonlySet<TierMode> = new Set(["text2video", "reference2video"])

/** How a vendor spells resolutions. */
type ResolutionSpelling = (resolution: Resolution) => string

const toBody = (order: VideoOrder, { mode, media }: PlacedTierOrder, spell: ResolutionSpelling) => {
  const framesInOrder =
    mode === "start-end2video"
      ? media.toSorted((a, b) => Number(a.role === "last_frame") - Number(b.role === "last_frame"))
      : media
  return omitEmpty({
    watermark: false,
    ...order.parameters,
    model: order.upstreamModel,
    prompt: textOf(order.blocks),
    images: mode === "text2video" ? null : framesInOrder.map(({ url }) => url),
    duration: secondsOf(order),
    resolution: order.resolution === null ? null : spell(order.resolution),
    aspect_ratio: takesRatio.has(mode) ? order.ratio : null,
    audio: order.generateAudio,
    payload: order.taskId
  })
}

const refuse = (reason: string, message: string) =>
  Result.fail(localRefusal(message, { code: 400, reason, message }))

const refuseField = (message: string) => refuse("FieldUnwanted", `unwanted field: ${message}`)

/**
 * Whether two frames have the same role. The path accepts one first and one last frame, which the
 * vendor distinguishes by their order in the list.
 */
const hasEqualFrames = ({ mode, media }: PlacedTierOrder): boolean =>
  mode === "start-end2video" && new Set(media.map(({ role }) => role)).size < media.length

/**
 * Selects the path by the model and the images: a model exists only on some paths, and each path
 * accepts images of one role.
 */
const placeTierOrder = (order: VideoOrder): Result.Result<PlacedTierOrder, VendorRefused> => {
  const family = tierFormsOf(order.upstreamModel)
  const placedOrder = Result.filterOrFail(
    placeMedia(family, order.blocks),
    (placedOrder) => !hasEqualFrames(placedOrder),
    () => undefined
  )
  return Result.orElse(placedOrder, () => {
    const fault = `images. The model takes ${describeInputs(family)}`
    return countInputs(order.blocks).images === 0
      ? refuse("FieldLacking", `missing field: ${fault}`)
      : refuseField(fault)
  })
}

const apiUrl = (account: ChannelAccount): string => `${rootOf(account, "/ent/v2")}/ent/v2`

const authorizationHeaders = (account: ChannelAccount) => ({
  authorization: `Token ${Redacted.value(account.apiKey)}`
})

/** Writes an order. The API has no fields for reference audio and video. */
const submitRequestWith =
  (spell: ResolutionSpelling): VideoDialect["submitRequest"] =>
  (account, order) => {
    const { audios, videos } = countInputs(order.blocks)
    if (audios > 0) return refuseField("audios")
    if (videos > 0) return refuseField("videos")
    return Result.map(placeTierOrder(order), (placedOrder) =>
      post(
        `${apiUrl(account)}/${placedOrder.mode}`,
        authorizationHeaders(account),
        toBody(order, placedOrder, spell)
      )
    )
  }

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) => {
  const task = encodeURIComponent(upstreamId)
  return Result.succeed(
    get(`${apiUrl(account)}/tasks/${task}/creations`, authorizationHeaders(account))
  )
}

// From the vendor

const statusNames: StatusNames = {
  open: ["created", "queueing", "processing"],
  finished: ["success"],
  failed: ["failed"],
  cancelled: [CANCELLED]
}

export const reasonRefusals = refusalTable([flatReasonShape], {
  // The vendor answers HTTP 400 if the gateway's account is empty, which must not look like a fault
  // of the client.
  CreditInsufficient: meanings.balance,
  InternalServiceFailure: meanings.uncertain,
  ModelUnavailable: meanings.model,
  OperationInProcess: meanings.uncertain,
  QuotaExceeded: meanings.rate,
  SystemThrottling: meanings.rate,
  TooManyRequests: meanings.rate,
  UserCancelled: meanings.uncertain
})

const failedMessage = (body: unknown): string | null =>
  errorText(body).message ??
  (isCoded(body) ? `The vendor failed to make the video: ${body.err_code}` : null)

/** Reads the task's id; an answer with the state `failed` is a refusal, with or without an id. */
const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) => {
  if (answer.status < 300 && isFailedSubmit(answer.body)) {
    const message = failedMessage(answer.body) ?? "The vendor failed to make the video"
    return Result.fail(refusal(account, answer, { message, isVerdict: true }))
  }
  return answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(flatFailure(account, answer))
}

/**
 * The URL of the video. If a watermarked file was ordered and is missing, the file without a
 * watermark is used, because the video is paid for.
 */
const addressOf = (
  creations: ReadonlyArray<unknown>,
  isMarked: VideoTaskRef["isMarked"]
): string | undefined =>
  (isMarked === true ? creations.find(isMarkedCreation)?.watermarked_url : undefined) ??
  creations.find(isCreation)?.url

const readPolled: VideoDialect["readPolled"] = (account, answer, { isMarked }) => {
  if (answer.status === 404) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { body } = answer
  const creations = listOf(body.creations)
  return taskStatus(account, answer, statusNames, {
    status: isCancelled(body) ? CANCELLED : body.state,
    videoUrl: addressOf(creations, isMarked),
    stills: { coverUrl: creations.find(isCoveredCreation)?.cover_url },
    usage: { ...noUsage, ...readBill("credit", body.credits) },
    code: isCoded(body) ? body.err_code : null,
    message: failedMessage(body)
  })
}

// Calls

const dialectWith = (spell: ResolutionSpelling): VideoDialect => ({
  submitRequest: submitRequestWith(spell),
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => reasonRefusals,
  noTask: { upstreamId: "0" }
})
/** The calls of a relay, which spells every resolution in lower case. */
export const relayedVpE = dialectWith((resolution) => resolution.toLowerCase())
/** The calls of the vendor, which writes 2K and 4K with a capital letter. */
export const makeVpE = videoCalls(
  "vp_e",
  dialectWith((resolution) => resolution)
)
