/**
 * The video protocol minimax: MiniMax H3, a task API with content blocks, billed by the seconds of
 * the video and of its reference videos.
 */
import { Result, Schema } from "effect"
import { readBill } from "../domain/money/vendorBill.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import { type MiniMaxMode, miniMaxFormsOf } from "../domain/video/families/minimax.ts"
import {
  canSound,
  describeInputs,
  type InputRole,
  type PlacedOrder,
  placeMedia
} from "../domain/video/families/VideoFamily.ts"
import { readResolution } from "../domain/video/tiers.ts"
import type { VideoUsage } from "../domain/video/VideoCharge.ts"
import { textOf } from "../domain/video/VideoInput.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { type StatusNames, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorOf, errorText } from "./wire/errorText.ts"
import { errorObjectShape, meanings, refusalTable, type Shape } from "./wire/refusalTable.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { localRefusal, refusal, unusableAnswer } from "./wire/vendorFailures.ts"
import { bearer, get, omitEmpty, post, remove, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ task_id: JobId }))
/** Matches a task; the query writes it into an object of its own. */
const isPolled = Schema.is(
  Schema.Struct({
    task: Schema.Struct({
      status: Schema.String,
      content: Schema.optional(Schema.Unknown),
      error: Schema.optional(Schema.Unknown),
      usage: Schema.optional(Schema.Unknown),
      duration: Schema.optional(Schema.Unknown),
      resolution: Schema.optional(Schema.Unknown)
    })
  })
)
const isContent = Schema.is(Schema.Struct({ url: WebAddress }))
const isUsage = Schema.is(
  Schema.Struct({
    input_seconds: Schema.optional(Schema.Unknown),
    output_seconds: Schema.optional(Schema.Unknown),
    total_seconds: Schema.optional(Schema.Unknown)
  })
)
/** Matches a plausible length, in seconds. */
const isLength = Schema.is(
  Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(3600))
)
/** Matches an error in the form of the vendor's older APIs, which has HTTP status 200. */
const isBaseError = Schema.is(
  Schema.Struct({
    base_resp: Schema.Struct({
      status_code: Schema.Int.check(Schema.isGreaterThan(0)),
      status_msg: Schema.String
    })
  })
)

// To the vendor

type PlacedMiniMaxOrder = PlacedOrder<MiniMaxMode>

const refuse = (message: string) =>
  Result.fail(
    localRefusal(message, { type: "error", error: { type: "bad_request_error", message } })
  )

/** The kind of block that carries a medium, by its role. */
const blockTypeOf = (role: InputRole): "image_url" | "video_url" | "audio_url" => {
  if (role.endsWith("_video")) return "video_url"
  return role.endsWith("_audio") ? "audio_url" : "image_url"
}

const toContent = (order: VideoOrder, { media }: PlacedMiniMaxOrder) => {
  const text = textOf(order.blocks)
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...media.map(({ role, url }) => {
      const type = blockTypeOf(role)
      return { type, role, [type]: { url } }
    })
  ]
}

/** The ratio to send: the vendor requires one for a text alone, and ignores it beside frames. */
const ratioOf = ({ ratio }: VideoOrder, { mode }: PlacedMiniMaxOrder) => {
  if (mode === "frames") return null
  return mode === "text" ? (ratio ?? "16:9") : ratio
}

const placeInputs = (order: VideoOrder): Result.Result<PlacedMiniMaxOrder, VendorRefused> => {
  const family = miniMaxFormsOf(order.upstreamModel)
  return Result.orElse(placeMedia(family, order.blocks), () =>
    refuse(`invalid params, content: the model takes ${describeInputs(family)}`)
  )
}

/**
 * The URL of a path. The base address may already end in the version of this API or of the vendor's
 * other ones.
 */
const apiUrl = (account: ChannelAccount, path: string): string =>
  `${rootOf(account, "/v2", "/v1")}/v2/${path}`

const taskUrl = (account: ChannelAccount, path: string, upstreamId: string): string =>
  apiUrl(account, `${path}/${encodeURIComponent(upstreamId)}`)

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.gen(function* () {
    if (!canSound(miniMaxFormsOf(order.upstreamModel).sound, order.generateAudio)) {
      return yield* refuse("invalid params, generate_audio: the model always makes sound")
    }
    const placedOrder = yield* placeInputs(order)
    const { watermark, ...parameters } = order.parameters
    return post(
      apiUrl(account, "video_generation"),
      bearer(account),
      omitEmpty({
        ...parameters,
        model: order.upstreamModel,
        content: toContent(order, placedOrder),
        duration: secondsOf(order),
        resolution: order.resolution?.toUpperCase(),
        ratio: ratioOf(order, placedOrder),
        aigc_watermark: watermark ?? false
      })
    )
  })

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(taskUrl(account, "query/video_generation", upstreamId), bearer(account)))

const cancelRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(remove(taskUrl(account, "video_generation", upstreamId), bearer(account)))

// From the vendor

/** The shape `{base_resp: {status_code: 1008, status_msg}}`. */
const baseErrorShape: Shape = (body) =>
  isBaseError(body) ? [String(body.base_resp.status_code)] : null

const refusals = refusalTable([errorObjectShape, baseErrorShape], {
  authentication_error: meanings.credentials,
  bad_request_error: meanings.order,
  insufficient_balance_error: meanings.balance,
  overloaded_error: meanings.overload,
  permission_error: meanings.access,
  rate_limit_error: meanings.rate,
  "1000": meanings.uncertain,
  "1001": meanings.timeout,
  "1002": meanings.rate,
  "1004": meanings.credentials,
  "1008": meanings.balance,
  // The input is refused by moderation; 1027 is the same verdict about the video that was made.
  "1026": meanings.order,
  "1027": meanings.uncertain,
  "1033": meanings.uncertain,
  "1039": meanings.rate,
  "1041": meanings.rate,
  "2013": meanings.order,
  "2042": meanings.access,
  "2045": meanings.rate,
  "2049": meanings.credentials,
  "2056": meanings.balance
})

const failureOf = (account: ChannelAccount, answer: VendorAnswer) =>
  isBaseError(answer.body)
    ? refusal(account, answer, { message: answer.body.base_resp.status_msg })
    : unusableAnswer(account, answer)

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.task_id)
    : Result.fail(failureOf(account, answer))

const statusNames: StatusNames = {
  queued: ["queued"],
  open: ["running"],
  finished: ["succeeded"],
  failed: ["failed"],
  cancelled: ["cancelled", "canceled"],
  expired: ["expired"]
}

/** Reads a length; a part of a second counts as one. */
const lengthOf = (value: unknown): number | null => (isLength(value) ? Math.ceil(value) : null)

const readUsage = (usage: unknown, duration: unknown): VideoUsage => {
  const lengths = isUsage(usage) ? usage : {}
  const inputSeconds = lengthOf(lengths.input_seconds)
  const totalSeconds = lengthOf(lengths.total_seconds)
  return {
    completionTokens: null,
    outputSeconds: lengthOf(lengths.output_seconds) ?? lengthOf(duration),
    ...(inputSeconds === null ? {} : { inputSeconds }),
    ...(totalSeconds === null ? {} : { totalSeconds }),
    ...readBill("second", lengths.total_seconds)
  }
}

/** Whether an answer says that the vendor has no such task, which it does with HTTP status 400. */
const isUnknownTask = ({ status, body }: VendorAnswer): boolean =>
  status === 404 || (status === 400 && /invalid task_?id/i.test(errorOf(body).message ?? ""))

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (isUnknownTask(answer)) return unknownTask
  if (answer.status >= 300 || !isPolled(answer.body)) {
    return Result.fail(failureOf(account, answer))
  }
  const { status, content, error, usage, duration } = answer.body.task
  const resolution = readResolution(answer.body.task.resolution)
  return taskStatus(account, answer, statusNames, {
    status,
    videoUrl: isContent(content) ? content.url : undefined,
    usage: {
      ...readUsage(usage, duration),
      ...(resolution === undefined ? {} : { resolution })
    },
    ...errorText(error)
  })
}

// Calls

export const makeMiniMax = videoCalls("minimax", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => refusals,
  noTask: { upstreamId: "0" },
  cancel: {
    // The same request deletes a task that has ended.
    jobs: "queued",
    cancelRequest,
    // An answer does not tell a cancelled task from a deleted one, so a poll decides.
    readCancelled: (account, answer) => {
      if (answer.status < 300 && !isBaseError(answer.body)) {
        return Result.succeed({ _tag: "Requested" })
      }
      const failure = failureOf(account, answer)
      return answer.status === 400 || answer.status === 409
        ? Result.succeed({ _tag: "Refused", message: failure.message })
        : Result.fail(failure)
    }
  }
})
