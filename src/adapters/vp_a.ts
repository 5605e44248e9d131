/**
 * vp_a: a task API with content blocks, billed by the completion tokens that it reports. vp_b and a
 * family of the relay use the same API with other addresses and fewer fields.
 */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import { canSound, type SoundOfModel } from "../domain/video/families/VideoFamily.ts"
import { defaultContentRole, placeContent } from "../domain/video/families/vp_a.ts"
import { readResolution } from "../domain/video/tiers.ts"
import type { ImageRole } from "../domain/video/VideoBody.ts"
import type { VideoUsage } from "../domain/video/VideoCharge.ts"
import { baseVideosOf, type VideoBlock } from "../domain/video/VideoInput.ts"
import { SMART_SECONDS } from "../domain/video/VideoProtocol.ts"
import type { ChannelAccount, VideoOrder } from "../services/ProtocolAdapter.ts"
import { type CancelDialect, type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import { contentRefusals } from "./common/contentErrors.ts"
import {
  readCancelledWith,
  type StatusNames,
  taskStatus,
  unknownTask
} from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import { localRefusal, unusableAnswer } from "./wire/vendorFailures.ts"
import { bearer, get, omitEmpty, post, remove, rootOf, secondsOf } from "./wire/vendorRequest.ts"

// Wire schemas

const isSubmitted = Schema.is(Schema.Struct({ id: JobId }))
/**
 * Matches a task. Only the status is required, because a failed task may have anything as its
 * content.
 */
const Task = Schema.Struct({
  status: Schema.String,
  content: Schema.optional(Schema.Unknown),
  usage: Schema.optional(Schema.Unknown),
  duration: Schema.optional(Schema.Unknown),
  resolution: Schema.optional(Schema.Unknown),
  generate_audio: Schema.optional(Schema.Unknown),
  error: Schema.optional(Schema.Unknown)
})
const isTask = Schema.is(Task)
const isContent = Schema.is(Schema.Struct({ video_url: WebAddress }))
const isLastFrame = Schema.is(Schema.Struct({ last_frame_url: WebAddress }))
const isUsage = Schema.is(Schema.Struct({ completion_tokens: Schema.Unknown }))
const isCount = Schema.is(Schema.Int.check(Schema.isGreaterThan(0)))
/** Matches the duration of a plausible video, in whole seconds. */
const isDuration = Schema.is(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3600 })))

// To the vendor

const toContentBlock = (defaultRole: ImageRole | null) => (block: VideoBlock) => {
  if (block.type === "text") return { type: "text", text: block.text }
  const type = `${block.type}_url`
  // A video to edit is a reference video to the vendor; the task type tells what is made of it.
  const role = block.type === "image" ? (block.role ?? defaultRole) : `reference_${block.type}`
  return omitEmpty({ type, role, [type]: { url: block.url } })
}

const taskTypes = { edit_video: "edit", extend_video: "extend" } as const

/** The role of the video that the order edits or extends; undefined if there is none. */
const baseRoleOf = ({ blocks }: VideoOrder) => baseVideosOf(blocks)[0]?.role

const refuseParameter = (param: string, reason: string) => {
  const message = `The parameter \`${param}\` is not valid: ${reason}`
  const error = { code: "InvalidParameter", message, param, type: "BadRequest" }
  return Result.fail(localRefusal(message, { error }))
}

/**
 * Refuses an order whose task type contradicts its roles, and a ratio for a video that is edited or
 * extended, which keeps the ratio that it has.
 */
const checkTaskType = (order: VideoOrder): Result.Result<void, VendorRefused> => {
  const role = baseRoleOf(order)
  const { omni_reference_task_type: ordered } = order.parameters
  const allowedTypes = role === undefined ? ["auto", "reference"] : [taskTypes[role]]
  if (ordered !== undefined && !allowedTypes.includes(String(ordered))) {
    const reason = `the roles of the order's videos mean ${allowedTypes.join(" or ")}`
    return refuseParameter("omni_reference_task_type", reason)
  }
  return role === undefined || order.ratio === null || order.ratio === "adaptive"
    ? Result.void
    : refuseParameter("ratio", "an edited or extended video keeps its ratio, which is adaptive")
}

/**
 * The fields of an order that edits or extends a video. The vendor takes no length for an edit, as
 * it has the length of its video.
 */
const taskFields = (order: VideoOrder) => {
  const role = baseRoleOf(order)
  if (role === undefined) return {}
  return {
    omni_reference_task_type: taskTypes[role],
    ratio: "adaptive",
    ...(role === "edit_video" ? { duration: SMART_SECONDS } : {})
  }
}

const soundOfModel = ({ upstreamModel, blocks }: VideoOrder): SoundOfModel =>
  placeContent(upstreamModel, blocks).sound

/**
 * Refuses an order with sound for a silent model, which would leave the sound out without an error,
 * and one whose task type is not that of its videos.
 */
export const checkContent = (order: VideoOrder): Result.Result<void, VendorRefused> =>
  canSound(soundOfModel(order), order.generateAudio)
    ? checkTaskType(order)
    : refuseParameter("generate_audio", "the model makes no sound")

/** The fields that vp_b accepts as well. */
export const commonFields = (order: VideoOrder) =>
  omitEmpty({
    model: order.upstreamModel,
    content: order.blocks.map(
      toContentBlock(defaultContentRole(order.upstreamModel, order.blocks))
    ),
    duration: secondsOf(order),
    ratio: order.ratio,
    generate_audio: soundOfModel(order) === "switch" ? order.generateAudio : null
  })

/** The fields that the relay accepts as well; a watermark is added only if it was ordered. */
export const allFields = (order: VideoOrder) =>
  omitEmpty({
    watermark: false,
    ...order.parameters,
    ...commonFields(order),
    resolution: order.resolution?.toLowerCase(),
    ...taskFields(order)
  })

/**
 * The URL of the tasks. The base address may already end in the API version `/api/v3`, or in a
 * reseller's `/v1`.
 */
const tasksUrl = (account: ChannelAccount): string => {
  const base = rootOf(account)
  const root = /\/(?:api\/v3|v1)$/.test(base) ? base : `${base}/api/v3`
  return `${root}/contents/generations/tasks`
}

const taskUrl = (account: ChannelAccount, upstreamId: string): string =>
  `${tasksUrl(account)}/${encodeURIComponent(upstreamId)}`

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.map(checkContent(order), () => post(tasksUrl(account), bearer(account), allFields(order)))

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) =>
  Result.succeed(get(taskUrl(account, upstreamId), bearer(account)))

/** The vendor cancels a queued task by this request, and deletes one that has ended. */
const cancelRequest: CancelDialect["cancelRequest"] = (account, { upstreamId }) =>
  Result.succeed(remove(taskUrl(account, upstreamId), bearer(account)))

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.id)
    : Result.fail(unusableAnswer(account, answer))

const statusNames: StatusNames = {
  // Only resellers of the protocol use `pending` and `processing`.
  queued: ["queued", "pending"],
  open: ["running", "processing"],
  finished: ["succeeded"],
  failed: ["failed"],
  cancelled: ["cancelled", "canceled"],
  expired: ["expired"]
}

/** Reads a count, also from a string of digits; null if it is not a positive whole number. */
const countOf = (value: unknown): bigint | null => {
  const count = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value
  return isCount(count) ? BigInt(count) : null
}

const usageOf = (task: typeof Task.Type): VideoUsage => {
  const { usage, duration, generate_audio: sound } = task
  const resolution = readResolution(task.resolution)
  return {
    completionTokens: isUsage(usage) ? countOf(usage.completion_tokens) : null,
    outputSeconds: isDuration(duration) ? duration : null,
    ...(resolution === undefined ? {} : { resolution }),
    ...(typeof sound === "boolean" ? { sound } : {})
  }
}

/** Builds `readPolled` for a vendor whose errors `failureOf` reads. */
export const readPolledWith =
  (failureOf: typeof unusableAnswer): VideoDialect["readPolled"] =>
  (account, answer) => {
    if (answer.status === 404) return unknownTask
    if (answer.status >= 300 || !isTask(answer.body)) {
      return Result.fail(failureOf(account, answer))
    }
    const { status, content, error } = answer.body
    return taskStatus(account, answer, statusNames, {
      status,
      videoUrl: isContent(content) ? content.video_url : undefined,
      stills: { lastFrameUrl: isLastFrame(content) ? content.last_frame_url : undefined },
      usage: usageOf(answer.body),
      ...errorText(error)
    })
  }

export const readPolled = readPolledWith(unusableAnswer)

/** The code of the refusal to cancel a task that the vendor has begun. */
const RUNNING_TASK = "InvalidAction.RunningTaskDeletion"

const readCancelled = readCancelledWith(unusableAnswer, (code) => code === RUNNING_TASK)

// Calls

export const makeVpA = videoCalls("vp_a", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => contentRefusals,
  noTask: { upstreamId: "cgt-20000101000000-00000" },
  cancel: { jobs: "queued", cancelRequest, readCancelled }
})
