/** vp_d: unified task interface with the model in the path; billed by ordered seconds. */
import { Effect, Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorLost } from "../domain/VendorOutcome.ts"
import { countInputs, textOf, type VideoBlock } from "../domain/video/VideoRequest.ts"
import { scrubText } from "../hiding/credentialsFromClients.ts"
import type {
  ChannelAccount,
  VideoAdapter,
  VideoOrder,
  VideoPollTogether,
  VideoStatus
} from "../services/ProtocolAdapter.ts"
import { inTheWorks } from "./openStatus.ts"
import { messageOf } from "./wire/errorText.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Envelope = Schema.Struct({
  code: Schema.Int,
  data: Schema.optional(Schema.Unknown)
})
const Submitted = Schema.Struct({ id: JobId })

/** Id and status are needed whatever it is: a failed row may say anything about its outputs. */
const Row = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  message: Schema.optional(Schema.Unknown),
  outputs: Schema.optional(Schema.Unknown)
})
const Video = Schema.Struct({ type: Schema.Literal("video"), url: WebAddress })

export const isEnvelope = Schema.is(Envelope)
const isSubmitted = Schema.is(Submitted)
const isRow = Schema.is(Row)
const isVideo = Schema.is(Video)

// To the vendor

const root = (baseUrl: string): string => baseUrl.replace(/\/+$/, "")

type Mode = "text-to-video" | "image-to-video" | "omni-video"

const modeOf = (order: VideoOrder): Mode => {
  const { images, videos, audios } = countInputs(order.blocks)
  if (images + videos + audios === 0) return "text-to-video"
  const framed = order.blocks.every(
    (block) => block.type !== "image" || block.role !== "reference_image"
  )
  return videos === 0 && audios === 0 && (images === 1 || (images === 2 && framed))
    ? "image-to-video"
    : "omni-video"
}

/** A lone reference image is the first frame: image mode has no other item for it. */
const toItem = (block: Exclude<VideoBlock, { readonly type: "text" }>, mode: Mode) => {
  switch (block.type) {
    case "image":
      if (block.role !== "reference_image") return { type: block.role, url: block.url }
      return { type: mode === "image-to-video" ? "first_frame" : "refer_image", url: block.url }
    case "audio":
      return { type: "refer_audio", url: block.url }
    case "video":
      return { type: "feature_video", url: block.url }
  }
}

const toContents = (order: VideoOrder, mode: Mode) =>
  order.blocks.flatMap((block) => (block.type === "text" ? [] : [toItem(block, mode)]))

const setsRatio: ReadonlySet<string> = new Set(["first_frame", "last_frame", "feature_video"])

const soundOf = (order: VideoOrder, mode: Mode) => {
  // A reference video excludes native sound at this vendor.
  if (mode === "omni-video" && countInputs(order.blocks).videos > 0) return { audio: "off" }
  return order.generateAudio === null ? {} : { audio: order.generateAudio ? "native" : "off" }
}

/** Where a frame or a video is given, the picture's own ratio decides and none may be sent. */
const ratioOf = (order: VideoOrder, contents: ReturnType<typeof toContents>) =>
  order.ratio === null || contents.some(({ type }) => setsRatio.has(type))
    ? {}
    : { aspect_ratio: order.ratio }

const toBody = (order: VideoOrder, mode: Mode) => {
  const prompt = textOf(order.blocks)
  const contents = toContents(order, mode)
  const settings = {
    ...(order.resolution === null ? {} : { resolution: order.resolution.toLowerCase() }),
    ...ratioOf(order, contents),
    duration: order.seconds === "smart" ? -1 : order.seconds,
    ...soundOf(order, mode)
  }
  const options = {
    external_task_id: order.taskId,
    watermark_info: { enabled: order.watermark ?? false }
  }
  return mode === "text-to-video"
    ? { prompt, settings, options }
    : {
        contents: [...(prompt === "" ? [] : [{ type: "prompt", text: prompt }]), ...contents],
        settings,
        options
      }
}

// From the vendor

/** HTTP status a vendor code stands for: the code decides, also when HTTP says 200. */
const statusOfCode = (code: number): number | null => {
  if (code >= 1000 && code <= 1004) return 401
  if (code >= 1100 && code <= 1102) return 402
  if (code === 1103) return 403
  if (code === 1202 || code === 1203) return 404
  if (code >= 1200 && code <= 1301) return 400
  if (code >= 1302 && code <= 1304) return 429
  if (code === 5001) return 503
  if (code === 5002) return 504
  return code >= 5000 ? 500 : null
}

/** A refusal by the vendor's own code; a code for a bad request leaves the finer HTTP status. */
export const refused = (account: ChannelAccount, answer: VendorAnswer) => {
  const byCode = isEnvelope(answer.body) ? statusOfCode(answer.body.code) : null
  const finer = byCode === 400 && answer.status === 422
  return refusal(account, answer, { effectiveStatus: finer ? answer.status : byCode })
}

const openWords = new Set(["submitted", "processing"])

/** Null when it claims a success and shows no video. */
const toStatus = (account: ChannelAccount, row: typeof Row.Type): VideoStatus | null => {
  if (row.status === "succeeded") {
    const video = Array.isArray(row.outputs) ? row.outputs.find(isVideo) : undefined
    return video === undefined
      ? null
      : {
          _tag: "Succeeded",
          videoUrl: video.url,
          usage: { completionTokens: null, outputSeconds: null }
        }
  }
  return row.status === "failed"
    ? {
        _tag: "Failed",
        code: "failed",
        message: scrubText(account, messageOf(row) ?? "The vendor failed to make the video")
      }
    : inTheWorks(openWords, row.status)
}

/** Rows of a poll: an array by most sources, a single object by one. */
const rowsOf = (data: unknown): ReadonlyArray<unknown> =>
  Array.isArray(data) ? data : data === undefined || data === null ? [] : [data]

/** The status of one id in an answer; with other rows and none for it, the answer is broken. */
const readRow = (
  account: ChannelAccount,
  answer: VendorAnswer,
  rows: ReadonlyArray<unknown>,
  id: string
): Result.Result<VideoStatus, VendorLost> => {
  if (rows.length === 0) return Result.succeed({ _tag: "Unknown" })
  const row = rows.filter(isRow).find((candidate) => candidate.id === id)
  const status = row === undefined ? null : toStatus(account, row)
  return status === null ? Result.fail(brokenAnswer(answer)) : Result.succeed(status)
}

// Calls

/** With ids of 64 characters this is an address of some 3,300, which every server takes. */
const MOST_TOGETHER = 50
/** Ids as the vendor gives them out; a comma in one would be read as two. */
const listable = /^[\w.-]{1,64}$/

export const makeVpD = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  /** HTTP 200 is not success here: only `code` 0 is. */
  const open = Effect.fnUntraced(function* (account: ChannelAccount, answer: VendorAnswer) {
    if (answer.status >= 300) return yield* Effect.fail(refused(account, answer))
    if (!isEnvelope(answer.body)) return yield* brokenAnswer(answer)
    if (answer.body.code !== 0) return yield* Effect.fail(refused(account, answer))
    return answer.body.data
  })

  const submit: VideoAdapter["submit"] = Effect.fn("vp_d.submit")(function* (account, order) {
    const mode = modeOf(order)
    const model = encodeURIComponent(order.upstreamModel)
    const request = post(
      `${root(account.baseUrl)}/${mode}/${model}`,
      bearer(account),
      toBody(order, mode)
    )
    const answer = yield* send(wire, request, limits.submit)
    const data = yield* open(account, answer)
    if (!isSubmitted(data)) return yield* brokenAnswer(answer)
    return data.id
  })

  /** What the vendor says of these ids, separated by commas as it wants them. */
  const askFor = Effect.fnUntraced(function* (account: ChannelAccount, ids: string) {
    const query = new URLSearchParams({ task_ids: ids })
    const request = get(`${root(account.baseUrl)}/tasks?${query}`, bearer(account))
    const answer = yield* send(wire, request, limits.poll)
    return { answer, rows: rowsOf(yield* open(account, answer)) }
  })

  const poll: VideoAdapter["poll"] = Effect.fnUntraced(function* (account, task) {
    const { answer, rows } = yield* askFor(account, task.upstreamId)
    return yield* Effect.fromResult(readRow(account, answer, rows, task.upstreamId))
  })

  const pollTogether: VideoPollTogether["poll"] = Effect.fnUntraced(function* (account, tasks) {
    const ids = tasks.map(({ upstreamId }) => upstreamId)
    const { answer, rows } = yield* askFor(account, ids.join(","))
    const asked = new Set(ids)
    const readable = rows.filter(isRow).filter(({ id }) => asked.has(id))
    // A row nobody can place may be that of any id without one: those are not unknown.
    const all = readable.length === rows.length
    const found = new Set(readable.map(({ id }) => id))
    return new Map(
      ids
        .filter((id) => found.has(id) || !all)
        .map((id) => [id, readRow(account, answer, rows, id)] as const)
    )
  })

  return {
    submit,
    poll,
    extras: () => ["watermark"],
    together: {
      most: MOST_TOGETHER,
      mayShare: ({ upstreamId }) => listable.test(upstreamId),
      poll: pollTogether
    }
  } satisfies VideoAdapter
})
