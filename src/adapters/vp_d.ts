/** vp_d: a unified task API with the model in the path, billed by ordered seconds. */
import { Result, Schema } from "effect"
import { readBill } from "../domain/money/vendorBill.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure, VendorRefused } from "../domain/VendorOutcome.ts"
import {
  canSound,
  type InputRole,
  type PlacedOrder,
  type SoundOfModel
} from "../domain/video/families/VideoFamily.ts"
import {
  hasMultiShot,
  placeOnPath,
  type UnifiedMode,
  unifiedSound
} from "../domain/video/families/vp_d.ts"
import { textOf } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder, VideoTaskRef } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { noUsage, type StatusNames, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorOf } from "./wire/errorText.ts"
import { flatNumberShape, meanings, refusalTable } from "./wire/refusalTable.ts"
import { listOf, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, localRefusal, refusal } from "./wire/vendorFailures.ts"
import { bearer, get, omitEmpty, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isEnvelope = Schema.is(
  Schema.Struct({ code: Schema.Int, data: Schema.optional(Schema.Unknown) })
)
const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))
/**
 * Matches the row of a task. Only id and status are required, because a failed row may have
 * anything as its outputs.
 */
const isRow = Schema.is(
  Schema.Struct({
    id: Schema.String,
    status: Schema.String,
    message: Schema.optional(Schema.Unknown),
    outputs: Schema.optional(Schema.Unknown),
    billing: Schema.optional(Schema.Unknown)
  })
)
const isUnitCharge = Schema.is(
  Schema.Struct({ charge_type: Schema.Literal("unit"), amount: Schema.Unknown })
)
const videoType = { type: Schema.Literal("video") }
const isVideo = Schema.is(Schema.Struct({ ...videoType, url: WebAddress }))
const isMarkedVideo = Schema.is(Schema.Struct({ ...videoType, watermark_url: WebAddress }))

// To the vendor

type BatchPoll = NonNullable<VideoDialect["batchPoll"]>

type PlacedUnifiedOrder = PlacedOrder<UnifiedMode>

const refuseField = (value: string) => {
  const message = `Invalid value: ${value}`
  return Result.fail(localRefusal(message, { code: 1201, message }))
}

const placeUnifiedOrder = ({
  upstreamModel,
  blocks
}: VideoOrder): Result.Result<PlacedUnifiedOrder, VendorRefused> =>
  Result.orElse(placeOnPath(upstreamModel, blocks), (inputs) =>
    refuseField(`contents. The model takes ${inputs}`)
  )

const itemTypes: Readonly<Record<InputRole, string>> = {
  first_frame: "first_frame",
  middle_frame: "middle_frame",
  last_frame: "last_frame",
  reference_image: "refer_image",
  reference_video: "feature_video",
  reference_audio: "refer_audio",
  // The vendor reads in the prompt whether the video is to be changed or continued.
  edit_video: "base_video",
  extend_video: "base_video"
}

const hasRole = ({ media }: PlacedUnifiedOrder, role: InputRole): boolean =>
  media.some((medium) => medium.role === role)

const hasBaseVideo = (placedOrder: PlacedUnifiedOrder): boolean =>
  hasRole(placedOrder, "edit_video") || hasRole(placedOrder, "extend_video")

const hasVideo = (placedOrder: PlacedUnifiedOrder): boolean =>
  hasRole(placedOrder, "reference_video") || hasBaseVideo(placedOrder)

/**
 * Whether the video may have several shots. No default is sent, because the allowed values depend
 * on the media of the order, except that the vendor takes only false beside a base video.
 */
const multiShotOf = (order: VideoOrder, placedOrder: PlacedUnifiedOrder) =>
  order.parameters.multi_shot ??
  (hasBaseVideo(placedOrder) && hasMultiShot(order.upstreamModel) ? false : null)

/**
 * The value of the audio setting. A video in the order excludes native sound, so the sound is then
 * switched off by default. If the client explicitly orders sound, the order is sent with sound, and
 * the vendor refuses it.
 */
const soundOf = (
  { generateAudio }: VideoOrder,
  sound: SoundOfModel,
  placedOrder: PlacedUnifiedOrder
) => {
  if (sound !== "switch") return null
  const isWanted = generateAudio ?? (hasVideo(placedOrder) ? false : null)
  return isWanted === null ? null : isWanted ? "native" : "off"
}

/**
 * The ratio to send. A first frame or a video decides the ratio; without either, the mixed mode
 * requires a ratio.
 */
const ratioOf = ({ ratio }: VideoOrder, placedOrder: PlacedUnifiedOrder): string | null => {
  switch (placedOrder.mode) {
    case "text-to-video":
      return ratio
    case "image-to-video":
      return null
    case "omni-video":
      return hasRole(placedOrder, "first_frame") || hasVideo(placedOrder) ? null : (ratio ?? "16:9")
  }
}

const toBody = (order: VideoOrder, placedOrder: PlacedUnifiedOrder, sound: SoundOfModel) => {
  const prompt = textOf(order.blocks)
  const settings = omitEmpty({
    resolution: order.resolution?.toLowerCase(),
    aspect_ratio: ratioOf(order, placedOrder),
    duration: secondsOf(order),
    audio: soundOf(order, sound, placedOrder),
    multi_shot: multiShotOf(order, placedOrder)
  })
  const options = {
    external_task_id: order.taskId,
    watermark_info: { enabled: order.parameters.watermark ?? false }
  }
  const contents = [
    ...(prompt === "" ? [] : [{ type: "prompt", text: prompt }]),
    ...placedOrder.media.map(({ role, url }) => ({ type: itemTypes[role], url }))
  ]
  return placedOrder.mode === "text-to-video"
    ? { prompt, settings, options }
    : { contents, settings, options }
}

const soundInWords: Readonly<Record<SoundOfModel, string>> = {
  switch: "makes sound as it is told",
  always: "always makes sound",
  never: "makes no sound",
  unset: "decides itself whether it makes sound"
}

/**
 * Writes an order. An order that fits no path of its model is refused here, because the model does
 * not exist on other paths.
 */
const submitRequest: VideoDialect["submitRequest"] = (account, order) => {
  const sound = unifiedSound(order.upstreamModel)
  if (!canSound(sound, order.generateAudio)) {
    return refuseField(`settings.audio. The model ${soundInWords[sound]}`)
  }
  if (order.seconds === "smart") {
    return refuseField("settings.duration. The length of the video is not known")
  }
  return Result.map(placeUnifiedOrder(order), (placedOrder) => {
    const url = `${rootOf(account)}/${placedOrder.mode}/${encodeURIComponent(order.upstreamModel)}`
    return post(url, bearer(account), toBody(order, placedOrder, sound))
  })
}

/** The maximum number of tasks per poll, which the vendor sets. */
const MAX_BATCH = 20
/** The format of the vendor's own ids; an id with a comma would be read as two ids. */
const safeInList = /^[\w.-]{1,64}$/

const pollTogetherRequest: BatchPoll["pollRequest"] = (account, tasks) => {
  const ids = tasks.map(({ upstreamId }) => upstreamId).join(",")
  const query = new URLSearchParams({ task_ids: ids })
  return Result.succeed(get(`${rootOf(account)}/tasks?${query}`, bearer(account)))
}

const pollRequest: VideoDialect["pollRequest"] = (account, task) =>
  pollTogetherRequest(account, [task])

// From the vendor

/** The meanings of the vendor's error codes. The code decides even in an answer with HTTP 200. */
export const codeRefusals = refusalTable([flatNumberShape], {
  "1000": meanings.credentials,
  "1001": meanings.credentials,
  "1002": meanings.credentials,
  "1003": meanings.credentials,
  "1004": meanings.credentials,
  "1100": meanings.balance,
  "1101": meanings.balance,
  "1102": meanings.balance,
  "1103": meanings.access,
  "1200": meanings.order,
  "1201": meanings.order,
  "1202": meanings.model,
  "1203": meanings.model,
  "1300": meanings.order,
  "1301": meanings.order,
  "1302": meanings.rate,
  "1303": meanings.rate,
  "1304": meanings.rate,
  "5000": meanings.failure,
  "5001": meanings.maintenance,
  "5002": meanings.timeout
})

const missingEnvelope = (account: ChannelAccount, answer: VendorAnswer): VendorFailure =>
  answer.status >= 300 ? refusal(account, answer) : brokenAnswer(answer)

/**
 * The data of an answer. Only `code` 0 means success; HTTP 200 alone does not. `failureOf` reads
 * the failure of an answer without a code.
 */
export const openEnvelope = (
  account: ChannelAccount,
  answer: VendorAnswer,
  failureOf: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure = missingEnvelope
): Result.Result<unknown, VendorFailure> => {
  if (!isEnvelope(answer.body)) return Result.fail(failureOf(account, answer))
  return answer.status < 300 && answer.body.code === 0
    ? Result.succeed(answer.body.data)
    : Result.fail(refusal(account, answer))
}

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  Result.flatMap(openEnvelope(account, answer), (data) =>
    isSubmitted(data) ? Result.succeed(data.id) : Result.fail(brokenAnswer(answer))
  )

const statusNames: StatusNames = {
  open: ["submitted", "processing"],
  finished: ["succeeded"],
  failed: ["failed"]
}

/**
 * The rows of a poll: an array in most of the vendor's documents, a single object in one of them.
 */
const rowsOf = (data: unknown): ReadonlyArray<unknown> => [data ?? []].flat()

/**
 * The URL of the video. If a watermarked file was ordered and is missing, the file without a
 * watermark is used, because the video is paid for.
 */
const addressOf = (
  outputs: ReadonlyArray<unknown>,
  isMarked: VideoTaskRef["isMarked"]
): string | undefined =>
  (isMarked === true ? outputs.find(isMarkedVideo)?.watermark_url : undefined) ??
  outputs.find(isVideo)?.url

/**
 * The units that the vendor bills. Entries of any other type are not units, and what they bill is
 * not described; so they are not read.
 */
const billOf = (billing: unknown) =>
  readBill(
    "unit",
    ...listOf(billing)
      .filter(isUnitCharge)
      .map(({ amount }) => amount)
  )

const readPolledTogether: BatchPoll["readPolled"] = (account, answer, tasks) =>
  Result.map(openEnvelope(account, answer), (data) => {
    const ids = new Set(tasks.map(({ upstreamId }) => upstreamId))
    const rows = rowsOf(data)
    const readable = rows.filter(isRow).filter(({ id }) => ids.has(id))
    // An unreadable row may belong to any id without a readable row, so such an id does not count
    // as unknown.
    const isComplete = readable.length === rows.length
    const statuses = tasks.flatMap(({ upstreamId: id, isMarked }) => {
      const row = readable.find((candidate) => candidate.id === id)
      if (row === undefined) {
        return isComplete ? [] : [[id, Result.fail(brokenAnswer(answer))] as const]
      }
      const status = taskStatus(account, answer, statusNames, {
        status: row.status,
        videoUrl: addressOf(listOf(row.outputs), isMarked),
        usage: { ...noUsage, ...billOf(row.billing) },
        message: errorOf(row).message
      })
      return [[id, status] as const]
    })
    return new Map(statuses)
  })

const readPolled: VideoDialect["readPolled"] = (account, answer, task) =>
  Result.flatMap(
    readPolledTogether(account, answer, [task]),
    (statuses) => statuses.get(task.upstreamId) ?? unknownTask
  )

// Calls

export const makeVpD = videoCalls("vp_d", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => codeRefusals,
  noTask: { upstreamId: "0" },
  batchPoll: {
    maxJobs: MAX_BATCH,
    canShare: ({ upstreamId }) => safeInList.test(upstreamId),
    pollRequest: pollTogetherRequest,
    readPolled: readPolledTogether
  }
})
