/** Video tasks in the form of OpenAI's API. */
import { millisOfId, openaiIdOf } from "../orderIds.ts"
import type { taskAnswer } from "../taskAnswers.ts"
import type { TaskState } from "../taskStates.ts"
import { sizeNamed } from "./sizes.ts"
import { SMART_SECONDS } from "./VideoProtocol.ts"
import type { VideoKind } from "./VideoQuote.ts"

type Answer = ReturnType<typeof taskAnswer>

interface VideoTask {
  readonly id: string
  readonly model: string
  readonly state: TaskState
  readonly finishedAt: Date | null
  /** The kind of the video; null if the order does not determine it. */
  readonly kind: VideoKind | null
  readonly ratio: string | null
  /** The ordered size, if the video was ordered through OpenAI's API. */
  readonly size: string | null
  /** The video that the order edits or extends; its task is null if it is none of this gateway. */
  readonly source: { readonly taskId: string | null } | null
}

const seconds = (millis: number): number => Math.floor(millis / 1000)

const statusOf = (state: TaskState, answer: Answer) => {
  switch (answer.task_status) {
    case "succeeded":
      return "completed" as const
    case "failed":
      return "failed" as const
    default:
      return state === "waiting" || state === "submitting"
        ? ("queued" as const)
        : ("in_progress" as const)
  }
}

/**
 * The fields of OpenAI's video object that list entries of both dialects contain. The progress is 0
 * until the task is done, because vendors do not report it. The prompt is null, because it is not
 * stored.
 */
export const openaiFields = (task: VideoTask, answer: Answer) => {
  const { kind, size, ratio, finishedAt, source } = task
  const sourceId = source?.taskId ?? null
  const status = statusOf(task.state, answer)
  const length = kind === null ? null : kind.seconds === "smart" ? SMART_SECONDS : kind.seconds
  return {
    object: "video" as const,
    model: task.model,
    status,
    progress: status === "completed" ? 100 : 0,
    completed_at: finishedAt === null ? null : seconds(finishedAt.getTime()),
    seconds: length === null ? null : String(length),
    size: size ?? (kind === null ? null : sizeNamed(kind.resolution, ratio)),
    prompt: null,
    remixed_from_video_id: sourceId === null ? null : openaiIdOf(sourceId)
  }
}

/** OpenAI's video object, with the fields of the gateway's own answer in addition. */
export const openaiVideo = (task: VideoTask, answer: Answer) => ({
  ...answer,
  ...openaiFields(task, answer),
  id: openaiIdOf(task.id),
  created_at: seconds(millisOfId(task.id)),
  expires_at:
    "expires_at" in answer && typeof answer.expires_at === "string"
      ? seconds(Date.parse(answer.expires_at))
      : null,
  error: "error" in answer ? answer.error : null
})
