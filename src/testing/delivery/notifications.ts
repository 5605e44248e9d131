/** What happens to the state in memory is told to the receivers of webhooks, as triggers do. */
import { DateTime, Schema } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { callbacksOf, OPERATORS } from "../../features/webhooks/WebhookEndpoints.ts"
import { TaskResult } from "../../services/TaskRepo.ts"
import {
  type Books,
  type MemoryState,
  restName,
  type StoredOrder,
  type StoredRest,
  type StoredTask
} from "../memory/MemoryStore.ts"
import type { Now, StoredBudget, StoredUse } from "../money/storedBudgets.ts"
import type { StoredMessage } from "./storedWebhooks.ts"

type Told = Pick<StoredMessage, "type" | "taskId" | "data">

const addMessage = (
  { webhookMessages }: MemoryState,
  message: Told & Pick<StoredMessage, "organizationId" | "endpointId" | "receiver" | "callbackUrl">,
  nowMillis: number
): void => {
  const turn = String(webhookMessages.size).padStart(12, "0")
  const id = `msg_${nowMillis.toString(16).padStart(12, "0")}${turn}`
  webhookMessages.set(id, {
    ...message,
    id,
    happenedAt: new Date(nowMillis),
    state: "pending",
    nextAttemptAt: nowMillis,
    tries: 0,
    lease: 0n,
    endedAt: null,
    attempts: []
  })
}

/** Tells the endpoints of `owner` that chose the type; `organizationId` is of what happened. */
export const notifyEndpoints = (
  state: MemoryState,
  owner: string,
  organizationId: string,
  told: Told,
  nowMillis: number,
  isFor = (eventTypes: ReadonlyArray<string>): boolean => eventTypes.includes(told.type)
): void => {
  for (const endpoint of state.webhookEndpoints.values()) {
    const { id, url, disabledAt, eventTypes } = endpoint
    const isTold = endpoint.organizationId === owner && disabledAt === null && url !== ""
    if (!isTold || !isFor(eventTypes)) continue
    const place = { organizationId, endpointId: id, receiver: id, callbackUrl: null }
    addMessage(state, { ...told, ...place }, nowMillis)
  }
}

const decodeResult = Schema.decodeUnknownSync(Schema.fromJsonString(TaskResult))

/** A task for those who tell of it or load what it made; null where there is none. */
export const taskSnapshot = (books: Books | undefined, id: string) => {
  const order = books?.orders.get(id)
  const task = order?.task ?? null
  return order === undefined || task === null || task.erasedAt !== null
    ? null
    : {
        id,
        memberId: order.request.memberId,
        state: task.state,
        videoUrl: task.videoUrl,
        result: task.result === null ? null : decodeResult(task.result),
        completionTokens: task.completionTokens,
        errorCode: task.errorCode,
        errorMessage: task.errorMessage,
        isArchived: task.ordered.isArchived === true
      }
}

export const notifyOfTask = (
  state: MemoryState,
  { request: { id, organizationId } }: StoredOrder,
  task: StoredTask,
  nowMillis: number
): void => {
  const isVideo = id.startsWith("vt_")
  if (task.state === "succeeded" && task.ordered.isArchived === true) {
    const { files } = task
    const kept = files === null ? null : nowMillis
    state.archives.set(id, {
      ...{ organizationId, taskId: id, state: kept === null ? "waiting" : "kept", files },
      ...{ keptAt: kept, nextTryAt: nowMillis, createdAt: nowMillis, tries: 0, lease: 0n }
    })
  }
  if (task.state === "rejected" && isVideo) return
  const end = task.state === "succeeded" ? "completed" : "failed"
  const told = { type: `${isVideo ? "video" : "image"}.${end}`, taskId: id, data: null }
  notifyEndpoints(state, organizationId, organizationId, told, nowMillis)
  const { callbackUrl = null } = task.ordered
  if (callbackUrl === null) return
  const endpointId = callbacksOf(organizationId)
  const receiver = `${endpointId}/${new URL(callbackUrl).host}`
  addMessage(state, { ...told, organizationId, endpointId, receiver, callbackUrl }, nowMillis)
}

export const notifyOfPool = (
  state: MemoryState,
  { id, pool }: Pick<Books, "id" | "pool">,
  nowMillis: number
): void => {
  const { balanceNano, lowNano } = pool
  if (lowNano === null || balanceNano < lowNano === pool.lowTold) return
  pool.lowTold = balanceNano < lowNano
  if (!pool.lowTold) return
  const data = { balance: formatNano(balanceNano), threshold: formatNano(lowNano) }
  notifyEndpoints(state, id, id, { type: "balance.low", taskId: null, data }, nowMillis)
}

/**
 * Each percent of a budget once in a period: when the use reaches it, and all up to 100 when the
 * budget refuses an order for the first time, which a cap tells as such, too.
 */
export const notifyOfBudget = (
  state: MemoryState,
  { id, members }: Pick<Books, "id" | "members">,
  budget: StoredBudget,
  use: StoredUse,
  { nowMillis, timeZone }: Now,
  refuses = false
): void => {
  const used = use.heldNano + use.capturedNano
  const isReached = (percent: number) =>
    used * 100n >= budget.amountNano * BigInt(percent) || (use.hasRefused && percent <= 100)
  const [amount, now] = [formatNano(budget.amountNano), formatNano(used)]
  for (const threshold of budget.thresholds) {
    if (threshold <= use.told || !isReached(threshold)) continue
    use.told = threshold
    const data = {
      ...{ budget_id: budget.id, scope: budget.scope, subject_id: budget.subjectId },
      ...{ period: budget.period, threshold, amount, used: now }
    }
    notifyEndpoints(state, id, id, { type: "budget.threshold", taskId: null, data }, nowMillis)
  }
  const member = members.get(budget.subjectId)
  if (!refuses || !budget.isCap || member === undefined) return
  const zoned = DateTime.makeZonedUnsafe(nowMillis, { timeZone })
  const month = DateTime.formatIsoDate(zoned).slice(0, "2026-01".length)
  const data = { member_id: member.id, member_name: member.name, month, cap: amount, used: now }
  notifyEndpoints(state, id, id, { type: "cap.reached", taskId: null, data }, nowMillis)
}

/** Whether operators are told of it: not of keys, nor of an organisation beside which others are served. */
const isTold = ({ keyName, until, organizationId, isAlone }: StoredRest): boolean =>
  keyName === null && until !== null && (organizationId === null || isAlone)

/** Changes a rest, and tells of a channel or model that is down or up by it, whoever it is down for. */
export const changeRest = (
  state: MemoryState,
  before: StoredRest | undefined,
  rest: StoredRest,
  nowMillis: number
): void => {
  state.rests.set(restName(rest), rest)
  const was = before !== undefined && isTold(before)
  const isToldAlready = [...state.rests.values()].some(
    (other) =>
      other !== rest &&
      other.channelId === rest.channelId &&
      other.model === rest.model &&
      isTold(other)
  )
  if (was === isTold(rest) || isToldAlready) return
  const type = was ? "channel.up" : "channel.down"
  const data = { id: rest.channelId, model: rest.model, reason: rest.reason, status: rest.status }
  notifyEndpoints(state, OPERATORS, OPERATORS, { type, taskId: null, data }, nowMillis)
}
