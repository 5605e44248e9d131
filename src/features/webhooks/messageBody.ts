/** The body of a webhook: the object as the API returns it, without any prompt. */
import { openaiIdOf, taskKindOf } from "../../domain/orderIds.ts"
import { type AddressOf, taskAnswer } from "../../domain/taskAnswers.ts"
import type { ClaimedMessage } from "../../services/delivery/WebhookMessages.ts"

/** The maximum size that the Standard Webhooks specification recommends. */
const MAX_BODY_BYTES = 20_000

type MessageEvent = Pick<
  ClaimedMessage,
  "type" | "happenedAt" | "taskId" | "dialect" | "task" | "data"
>

const bodyWith = ({ type, happenedAt }: MessageEvent, data: unknown): string =>
  JSON.stringify({ type, timestamp: happenedAt.toISOString(), data })

/**
 * A task whose object is too long is reduced to its id and state; its client can read the rest by
 * the id. The id has the format of the API through which the order was placed. `needsKey` says
 * whether only the key of the channel's account opens the vendor's file.
 */
export const messageBody = (
  message: MessageEvent,
  links: AddressOf | null = null,
  needsKey = false
): string => {
  const { taskId, dialect, task, data } = message
  if (taskId === null) return bodyWith(message, data)
  const kind = taskKindOf(taskId)
  const id = dialect === "openai" ? openaiIdOf(taskId) : taskId
  if (task === null || kind === null) return bodyWith(message, { id })
  const answer = { ...taskAnswer(kind, { ...task, needsKey }, links), id }
  const body = bodyWith(message, answer)
  return Buffer.byteLength(body) <= MAX_BODY_BYTES
    ? body
    : bodyWith(message, { id, task_status: answer.task_status })
}
