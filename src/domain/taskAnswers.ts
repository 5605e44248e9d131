/** What is said of a task to those it belongs to: in answers, in events and in webhooks. */
import { Schema } from "effect"
import type { TaskKind } from "./orderIds.ts"
import { expiryOf } from "./resultAddresses.ts"
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

const isAddressed = Schema.is(Schema.Struct({ url: Schema.String }))

/** The addresses of images, in their order; null where one has none. */
export const imageAddresses = ({
  result
}: Pick<AnsweredTask, "result">): ReadonlyArray<string | null> => {
  const entries: unknown = result?.data
  return Array.isArray(entries)
    ? entries.map((entry: unknown) => (isAddressed(entry) ? entry.url : null))
    : []
}

/** The first end of any of them, where one tells it. */
const expiry = (addresses: ReadonlyArray<string | null>) => {
  const ends = addresses.flatMap((address) => (address === null ? [] : (expiryOf(address) ?? [])))
  const first = ends.toSorted((one, other) => one.getTime() - other.getTime())[0]
  return first === undefined ? {} : { expires_at: first.toISOString() }
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
        task.completionTokens === null ? {} : { completion_tokens: Number(task.completionTokens) },
      ...expiry([task.videoUrl])
    }
  }
  return publicState(task.state) === "failed" ? failed(task) : processing(task)
}

const imageAnswer = (task: AnsweredTask) => {
  if (task.state === "succeeded" && task.result !== null) {
    const ends = expiry(imageAddresses(task))
    return { ...task.result, id: task.id, task_status: "succeeded" as const, ...ends }
  }
  // Images have no vendor's task to be rejected by: all that did not come is failed.
  return task.state === "processing" || task.state === "submitting"
    ? processing(task)
    : failed(task)
}

export const taskAnswer = (kind: TaskKind, task: AnsweredTask) =>
  kind === "video" ? videoAnswer(task) : imageAnswer(task)
