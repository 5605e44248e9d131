/** vp_d: unified task interface with the model in the path; billed by ordered seconds. */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { countInputs, textOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { type TaskWords, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorOf } from "./wire/errorText.ts"
import { flatNumber, meanings, refusalTable } from "./wire/refusalTable.ts"
import { listOf, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "./wire/vendorFailures.ts"
import { bearer, get, given, post, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isEnvelope = Schema.is(
  Schema.Struct({ code: Schema.Int, data: Schema.optional(Schema.Unknown) })
)
const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))
/** Id and status are needed whatever it is: a failed row may say anything about its outputs. */
const isRow = Schema.is(
  Schema.Struct({
    id: Schema.String,
    status: Schema.String,
    message: Schema.optional(Schema.Unknown),
    outputs: Schema.optional(Schema.Unknown)
  })
)
const isVideo = Schema.is(Schema.Struct({ type: Schema.Literal("video"), url: WebAddress }))

// To the vendor

type Together = NonNullable<VideoDialect["together"]>

type Mode = "text-to-video" | "image-to-video" | "omni-video"

const modeOf = (order: VideoOrder): Mode => {
  const { images, videos, audios } = countInputs(order.blocks)
  if (images + videos + audios === 0) return "text-to-video"
  const framed = order.blocks.every(
    (block) => block.type !== "image" || (block.role ?? "reference_image") !== "reference_image"
  )
  return videos === 0 && audios === 0 && (images === 1 || (images === 2 && framed))
    ? "image-to-video"
    : "omni-video"
}

/** A lone reference image is the first frame: image mode has no other item for it. */
const toItem = (block: Exclude<VideoBlock, { readonly type: "text" }>, mode: Mode) => {
  const types = {
    first_frame: "first_frame",
    last_frame: "last_frame",
    reference_image: mode === "image-to-video" ? "first_frame" : "refer_image",
    audio: "refer_audio",
    video: "feature_video"
  }
  return {
    type: types[block.type === "image" ? (block.role ?? "reference_image") : block.type],
    url: block.url
  }
}

const setsRatio: ReadonlySet<string> = new Set(["first_frame", "last_frame", "feature_video"])

const soundOf = (order: VideoOrder, mode: Mode) => {
  // A reference video excludes native sound at this vendor.
  if (mode === "omni-video" && countInputs(order.blocks).videos > 0) return "off"
  return order.generateAudio === null ? null : order.generateAudio ? "native" : "off"
}

/** Where a frame or a video is given, the picture's own ratio decides and none may be sent. */
const ratioOf = (order: VideoOrder, contents: ReadonlyArray<ReturnType<typeof toItem>>) =>
  contents.some(({ type }) => setsRatio.has(type)) ? null : order.ratio

const toBody = (order: VideoOrder, mode: Mode) => {
  const prompt = textOf(order.blocks)
  const media = order.blocks.filter((block) => block.type !== "text")
  const contents = media.map((block) => toItem(block, mode))
  const settings = given({
    resolution: order.resolution?.toLowerCase(),
    aspect_ratio: ratioOf(order, contents),
    duration: secondsOf(order),
    audio: soundOf(order, mode),
    multi_shot: order.parameters.multi_shot
  })
  const options = {
    external_task_id: order.taskId,
    watermark_info: { enabled: order.parameters.watermark ?? false }
  }
  return mode === "text-to-video"
    ? { prompt, settings, options }
    : {
        contents: [...(prompt === "" ? [] : [{ type: "prompt", text: prompt }]), ...contents],
        settings,
        options
      }
}

const submitRequest: VideoDialect["submitRequest"] = (account, order) => {
  const mode = modeOf(order)
  const url = `${rootOf(account)}/${mode}/${encodeURIComponent(order.upstreamModel)}`
  return Result.succeed(post(url, bearer(account), toBody(order, mode)))
}

/** With ids of 64 characters this is an address of some 3,300, which every server takes. */
const MOST_TOGETHER = 50
/** Ids as the vendor gives them out; a comma in one would be read as two. */
const listable = /^[\w.-]{1,64}$/

const pollTogetherRequest: Together["pollRequest"] = (account, tasks) => {
  const ids = tasks.map(({ upstreamId }) => upstreamId).join(",")
  const query = new URLSearchParams({ task_ids: ids })
  return Result.succeed(get(`${rootOf(account)}/tasks?${query}`, bearer(account)))
}

const pollRequest: VideoDialect["pollRequest"] = (account, task) =>
  pollTogetherRequest(account, [task])

// From the vendor

/** The code decides, also when HTTP says 200. */
export const codeRefusals = refusalTable([flatNumber], {
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

const withoutEnvelope = (account: ChannelAccount, answer: VendorAnswer): VendorFailure =>
  answer.status >= 300 ? refusal(account, answer) : brokenAnswer(answer)

/**
 * HTTP 200 is not success here: only `code` 0 is. `failureOf` tells why an answer without a code is
 * of no use.
 */
export const open = (
  account: ChannelAccount,
  answer: VendorAnswer,
  failureOf: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure = withoutEnvelope
): Result.Result<unknown, VendorFailure> => {
  if (!isEnvelope(answer.body)) return Result.fail(failureOf(account, answer))
  return answer.status < 300 && answer.body.code === 0
    ? Result.succeed(answer.body.data)
    : Result.fail(refusal(account, answer))
}

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  Result.flatMap(open(account, answer), (data) =>
    isSubmitted(data) ? Result.succeed(data.id) : Result.fail(brokenAnswer(answer))
  )

const words: TaskWords = {
  open: ["submitted", "processing"],
  finished: ["succeeded"],
  failed: ["failed"]
}

/** Rows of a poll: an array by most sources, a single object by one. */
const rowsOf = (data: unknown): ReadonlyArray<unknown> => [data ?? []].flat()

const readPolledTogether: Together["readPolled"] = (account, answer, tasks) =>
  Result.map(open(account, answer), (data) => {
    const ids = tasks.map(({ upstreamId }) => upstreamId)
    const rows = rowsOf(data)
    const readable = rows.filter(isRow).filter(({ id }) => ids.includes(id))
    // A row without a known place may be that of any id without one: those are not unknown.
    const isComplete = readable.length === rows.length
    const statuses = ids.flatMap((id) => {
      const row = readable.find((candidate) => candidate.id === id)
      if (row === undefined) {
        return isComplete ? [] : [[id, Result.fail(brokenAnswer(answer))] as const]
      }
      const status = taskStatus(account, answer, words, {
        word: row.status,
        videoUrl: listOf(row.outputs).find(isVideo)?.url,
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
  together: {
    most: MOST_TOGETHER,
    mayShare: ({ upstreamId }) => listable.test(upstreamId),
    pollRequest: pollTogetherRequest,
    readPolled: readPolledTogether
  }
})
