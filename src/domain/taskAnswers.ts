/** The public form of a task, in answers, events and webhooks. */
import { Schema } from "effect"
import type { TaskKind } from "./orderIds.ts"
import { expiryOf } from "./resultAddresses.ts"
import { publicState, type TaskState } from "./taskStates.ts"
import type { VideoStills } from "./video/videoStills.ts"

/** The fields of a task that the answer needs. */
interface AnsweredTask {
  readonly id: string
  readonly state: TaskState
  readonly videoUrl: string | null
  readonly stills: VideoStills | null
  readonly result: Readonly<Record<string, unknown>> | null
  readonly completionTokens: bigint | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly isArchived: boolean
  /** Whether only the key of the channel's account opens the vendor's file; false if missing. */
  readonly needsKey?: boolean
}

/**
 * What came of the request to cancel a task that goes on. `requested`: the vendor took the request,
 * and the task's end shows whether it cancelled the task. `refused`: the vendor does not cancel the
 * task. `unknown`: the vendor could not be asked, or its answer was lost.
 */
export const cancellationStatuses = ["requested", "refused", "unknown"] as const

export interface Cancellation {
  readonly status: (typeof cancellationStatuses)[number]
  /** Why the task goes on, for the client. */
  readonly message: string
}

/** The error of a task whose vendor says that it cancelled the job. */
export const cancelledByVendor = {
  errorCode: "cancelled",
  errorMessage: "The vendor cancelled the task"
} as const

/** Returns the URL of the task's file number `n`. */
export type AddressOf = (n: number) => string

const isAddressed = Schema.is(Schema.Struct({ url: Schema.String }))

/** The URLs of the images in order; null for an image without a URL. */
export const imageAddresses = ({
  result
}: Pick<AnsweredTask, "result">): ReadonlyArray<string | null> => {
  const entries: unknown = result?.data
  return Array.isArray(entries)
    ? entries.map((entry: unknown) => (isAddressed(entry) ? entry.url : null))
    : []
}

/** The earliest expiry time of the URLs, if any URL states one. */
const expiryField = (addresses: ReadonlyArray<string | null>) => {
  const ends = addresses.flatMap((address) => (address === null ? [] : (expiryOf(address) ?? [])))
  const earliest = ends.toSorted((one, other) => one.getTime() - other.getTime())[0]
  return earliest === undefined ? {} : { expires_at: earliest.toISOString() }
}

const failedAnswer = ({ id, errorCode, errorMessage }: AnsweredTask) => ({
  id,
  task_status: "failed" as const,
  error: { code: errorCode ?? "failed", message: errorMessage ?? "The task failed" }
})

const processingAnswer = ({ id }: AnsweredTask) => ({ id, task_status: "processing" as const })

/** The last frame of a video, where it was ordered; in the archive it is a variant of the video. */
const lastFrameField = ({ stills }: AnsweredTask, archiveUrl: AddressOf | null) => {
  const address = stills?.lastFrameUrl
  if (address === undefined) return {}
  const url = archiveUrl === null ? address : `${archiveUrl(0)}&variant=last_frame`
  return { last_frame_url: url }
}

const videoAnswer = (task: AnsweredTask, archiveUrl: AddressOf | null) => {
  const { id } = task
  if (publicState(task.state) === "succeeded" && task.videoUrl !== null) {
    const publicUrl = task.needsKey === true ? null : task.videoUrl
    const videoUrl = archiveUrl === null ? publicUrl : archiveUrl(0)
    return {
      id,
      task_status: "succeeded" as const,
      ...(videoUrl === null
        ? {}
        : { content: { video_url: videoUrl, ...lastFrameField(task, archiveUrl) } }),
      usage:
        task.completionTokens === null ? {} : { completion_tokens: Number(task.completionTokens) },
      ...(archiveUrl === null ? expiryField([publicUrl]) : {})
    }
  }
  return publicState(task.state) === "failed" ? failedAnswer(task) : processingAnswer(task)
}

/** The answer for a task without a result that has no task at its vendor: it runs or has failed. */
const unfinishedAnswer = (task: AnsweredTask) =>
  publicState(task.state) === "processing" ? processingAnswer(task) : failedAnswer(task)

const imageAnswer = (task: AnsweredTask, archiveUrl: AddressOf | null) => {
  if (task.state === "succeeded" && task.result !== null) {
    const addresses = imageAddresses(task)
    const settledAt =
      archiveUrl === null
        ? expiryField(addresses)
        : { data: addresses.map((_, n) => ({ url: archiveUrl(n) })) }
    return { ...task.result, id: task.id, task_status: "succeeded" as const, ...settledAt }
  }
  return unfinishedAnswer(task)
}

/** A sound is in the archive from its end on; its link needs the gateway's address. */
const speechAnswer = (task: AnsweredTask, archiveUrl: AddressOf | null) =>
  task.state === "succeeded"
    ? {
        id: task.id,
        task_status: "succeeded" as const,
        ...(archiveUrl === null ? {} : { content: { audio_url: archiveUrl(0) } })
      }
    : unfinishedAnswer(task)

/**
 * The answer for a task. `archiveUrl` returns the gateway's URLs of files, for those that are
 * archived and those that need a key; null keeps the vendor's URLs, and leaves out those that need a
 * key.
 */
export const taskAnswer = (
  kind: TaskKind,
  task: AnsweredTask,
  archiveUrl: AddressOf | null = null
) => {
  const addressOf = task.isArchived || task.needsKey === true ? archiveUrl : null
  switch (kind) {
    case "video":
      return videoAnswer(task, addressOf)
    case "image":
      return imageAnswer(task, addressOf)
    case "speech":
      return speechAnswer(task, addressOf)
  }
}
