/** The relay's family d: the older interface of vp_d's vendor, one path for text, one for an image. */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../../domain/plainText.ts"
import type { Resolution } from "../../domain/video/VideoProtocol.ts"
import { countInputs, textOf } from "../../domain/video/VideoRequest.ts"
import { scrubText } from "../../hiding/credentialsFromClients.ts"
import type { ChannelAccount, VideoStatus } from "../../services/ProtocolAdapter.ts"
import { flatFailure } from "../flatErrors.ts"
import { inTheWorks } from "../openStatus.ts"
import { isEnvelope, refused } from "../vp_d.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer, refusedUnsent } from "../wire/vendorFailures.ts"
import type { Family } from "./Family.ts"

// Wire schemas

const Submitted = Schema.Struct({ task_id: JobId })
const Polled = Schema.Struct({
  task_status: Schema.String,
  task_status_msg: Schema.optional(Schema.Unknown),
  task_result: Schema.optional(Schema.Unknown)
})
const Finished = Schema.Struct({ videos: Schema.Array(Schema.Unknown) })
const Video = Schema.Struct({ url: WebAddress })

const isSubmitted = Schema.is(Submitted)
const isPolled = Schema.is(Polled)
const isFinished = Schema.is(Finished)
const isVideo = Schema.is(Video)
const isText = Schema.is(Schema.NonEmptyString)

// To the vendor

const VIDEOS = "/v1/videos"

/** A resolution is a quality mode here; other tiers have none. */
const modes: Readonly<Partial<Record<Resolution, string>>> = {
  "720p": "std",
  "1080p": "pro",
  "4K": "4k"
}

const invalid = (message: string) => Result.fail(refusedUnsent({ code: 1201, message }))

const toSubmit: Family["toSubmit"] = (order) => {
  const { audios, videos } = countInputs(order.blocks)
  const images = order.blocks.filter((block) => block.type === "image")
  const [image] = images
  const mode = modes[order.resolution ?? "720p"]
  if (audios > 0) return invalid("Audio input is not supported")
  if (videos > 0) return invalid("Video input is not supported")
  if (images.length > 1) return invalid("Only one image is supported")
  if (image?.role === "last_frame") return invalid("A last frame is not supported")
  if (mode === undefined) return invalid(`Resolution ${order.resolution} is not supported`)
  const prompt = textOf(order.blocks)
  return Result.succeed({
    path: `${VIDEOS}/${image === undefined ? "text2video" : "image2video"}`,
    body: {
      model_name: order.upstreamModel,
      ...(prompt === "" ? {} : { prompt }),
      ...(image === undefined ? {} : { image: image.url }),
      duration: String(order.seconds === "smart" ? -1 : order.seconds),
      mode,
      ...(order.ratio === null || image !== undefined ? {} : { aspect_ratio: order.ratio }),
      ...(order.generateAudio === null ? {} : { sound: order.generateAudio ? "on" : "off" })
    }
  })
}

/** A task is found only on the path it was made on, so the id is kept as `text2video/8601`. */
const pollPath = (upstreamId: string): string => {
  const [, path, id] = /^(text2video|image2video)\/(.*)$/s.exec(upstreamId) ?? []
  return `${VIDEOS}/${path ?? "text2video"}/${encodeURIComponent(id ?? upstreamId)}`
}

// From the vendor

/** HTTP 200 is not success here: only `code` 0 is. */
const open = (account: ChannelAccount, answer: VendorAnswer) =>
  isEnvelope(answer.body)
    ? answer.status < 300 && answer.body.code === 0
      ? Result.succeed(answer.body.data)
      : Result.fail(refused(account, answer))
    : Result.fail(flatFailure(account, answer))

const readSubmitted: Family["readSubmitted"] = (account, answer, { path }) =>
  Result.flatMap(open(account, answer), (data) =>
    isSubmitted(data)
      ? Result.succeed(`${path.slice(VIDEOS.length + 1)}/${data.task_id}`)
      : Result.fail(brokenAnswer(answer))
  )

const openWords = new Set(["submitted", "processing"])

/** Null when it claims a success and shows no video. */
const toStatus = (account: ChannelAccount, task: typeof Polled.Type): VideoStatus | null => {
  if (task.task_status === "failed") {
    const said = task.task_status_msg
    return {
      _tag: "Failed",
      code: "failed",
      message: scrubText(account, isText(said) ? said : "The vendor failed to make the video")
    }
  }
  if (task.task_status !== "succeed") return inTheWorks(openWords, task.task_status)
  const video = isFinished(task.task_result) ? task.task_result.videos.find(isVideo) : undefined
  return video === undefined
    ? null
    : {
        _tag: "Succeeded",
        videoUrl: video.url,
        usage: { completionTokens: null, outputSeconds: null }
      }
}

const readPolled: Family["readPolled"] = (account, answer) =>
  Result.flatMap(open(account, answer), (data) => {
    const status = isPolled(data) ? toStatus(account, data) : null
    return status === null ? Result.fail(brokenAnswer(answer)) : Result.succeed(status)
  })

export const familyD: Family = { toSubmit, extras: [], readSubmitted, pollPath, readPolled }
