/** What is said of a task to those it belongs to: in answers, in events and in webhooks. */
import type { TaskKind } from "./orderIds.ts"
import { publicState, type TaskState } from "./video/VideoTask.ts"

/** What a task's answer is made of. */
export interface AnsweredTask {
  readonly id: string
  readonly state: TaskState
  readonly videoUrl: string | null
  readonly result: Readonly<Record<string, unknown>> | null
  readonly completionTokens: bigint | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

const failed = ({ id, errorCode, errorMessage }: AnsweredTask) => ({
  id,
  task_status: "failed" as const,
  error: { code: errorCode ?? "failed", message: errorMessage ?? "The task failed" }
})

const processing = ({ id }: AnsweredTask) => ({ id, task_status: "processing" as const })

const videoAnswer = (task: AnsweredTask) => {
  const { id } = task
  if (publicState(task.state) === "succeeded" && task.videoUrl !== null) {
    return {
      id,
      task_status: "succeeded" as const,
      content: { video_url: task.videoUrl },
      usage:
        task.completionTokens === null ? {} : { completion_tokens: Number(task.completionTokens) }
    }
  }
  return publicState(task.state) === "failed" ? failed(task) : processing(task)
}

const imageAnswer = (task: AnsweredTask) => {
  if (task.state === "succeeded" && task.result !== null) {
    return { ...task.result, id: task.id, task_status: "succeeded" as const }
  }
  // Images have no vendor's task to be rejected by: all that did not come is failed.
  return task.state === "processing" || task.state === "submitting"
    ? processing(task)
    : failed(task)
}

export const taskAnswer = (kind: TaskKind, task: AnsweredTask) =>
  kind === "video" ? videoAnswer(task) : imageAnswer(task)
