/** What a webhook says: the object as the API answers it, and never a prompt. */
import { openaiIdOf, taskKindOf } from "../../domain/orderIds.ts"
import { type AddressOf, taskAnswer } from "../../domain/taskAnswers.ts"
import type { ClaimedMessage } from "../../services/delivery/WebhookMessages.ts"

/** The specification's advice on the size of a body. */
const MAX_BODY_BYTES = 20_000

type Told = Pick<ClaimedMessage, "type" | "happenedAt" | "taskId" | "dialect" | "task" | "data">

const bodyWith = ({ type, happenedAt }: Told, data: unknown): string =>
  JSON.stringify({ type, timestamp: happenedAt.toISOString(), data })

/**
 * Of a task with a long answer its id and state alone: the rest is read by the id, which is told in the
 * form that its order was answered with.
 */
export const messageBody = (message: Told, own: AddressOf | null = null): string => {
  const { taskId, dialect, task, data } = message
  if (taskId === null) return bodyWith(message, data)
  const kind = taskKindOf(taskId)
  const id = dialect === "openai" ? openaiIdOf(taskId) : taskId
  if (task === null || kind === null) return bodyWith(message, { id })
  const answer = { ...taskAnswer(kind, task, own), id }
  const body = bodyWith(message, answer)
  return Buffer.byteLength(body) <= MAX_BODY_BYTES
    ? body
    : bodyWith(message, { id, task_status: answer.task_status })
}
