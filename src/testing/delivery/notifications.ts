/**
 * Adds webhook messages when the state in memory changes, as database triggers do in PostgreSQL.
 */
import { DateTime, Schema } from "effect"
import { formatNano } from "../../domain/money/Money.ts"
import { callbacksOf } from "../../domain/webhookEvents.ts"
import { OPERATORS } from "../../features/webhooks/WebhookEndpoints.ts"
import { TaskResult } from "../../services/TaskRepo.ts"
import {
  type Books,
  cooldownName,
  isMarkedSummary,
  type MemoryState,
  type StoredCooldown,
  type StoredOrder,
  type StoredTask
} from "../memory/MemoryStore.ts"
import type { Now, StoredBudget, StoredUse } from "../money/storedBudgets.ts"
import type { StoredMessage } from "./storedWebhooks.ts"

type WebhookEvent = Pick<StoredMessage, "type" | "taskId" | "data">

const addMessage = (
  { webhookMessages }: MemoryState,
  message: WebhookEvent &
    Pick<StoredMessage, "organizationId" | "endpointId" | "receiver" | "callbackUrl">,
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

/**
 * Notifies the endpoints of `owner` that subscribe to the event. `organizationId` is the
 * organisation in which the event happened.
 */
export const notifyEndpoints = (
  state: MemoryState,
  owner: string,
  organizationId: string,
  event: WebhookEvent,
  nowMillis: number,
  isFor = (eventTypes: ReadonlyArray<string>): boolean => eventTypes.includes(event.type)
): void => {
  for (const endpoint of state.webhookEndpoints.values()) {
    const { id, url, disabledAt, eventTypes } = endpoint
    const isActive = endpoint.organizationId === owner && disabledAt === null && url !== ""
    if (!isActive || !isFor(eventTypes)) continue
    const message = {
      ...event,
      organizationId,
      endpointId: id,
      receiver: id,
      callbackUrl: null
    }
    addMessage(state, message, nowMillis)
  }
}

const decodeResult = Schema.decodeUnknownSync(Schema.fromJsonString(TaskResult))

/**
 * The snapshot of a task, for a webhook message or for the copy of its results; null where there is
 * no such task.
 */
export const taskSnapshot = (books: Books | undefined, id: string) => {
  const order = books?.orders.get(id)
  const task = order?.task ?? null
  return order === undefined || task === null || task.erasedAt !== null
    ? null
    : {
        id,
        memberId: order.request.memberId,
        channelId: order.job.channelId,
        protocol: order.job.protocol,
        accountVersion: task.accountVersion,
        keyName: task.keyName,
        state: task.state,
        videoUrl: task.videoUrl,
        stills: task.stills,
        result: task.result === null ? null : decodeResult(task.result),
        completionTokens: task.completionTokens,
        errorCode: task.errorCode,
        errorMessage: task.errorMessage,
        isArchived: task.ordered.isArchived === true,
        isMarked: isMarkedSummary(task.ordered.summary)
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
    state.archives.set(id, {
      organizationId,
      taskId: id,
      state: files === null ? "waiting" : "kept",
      files,
      storedAt: files === null ? null : nowMillis,
      nextTryAt: nowMillis,
      createdAt: nowMillis,
      tries: 0,
      lease: 0n
    })
  }
  if (task.state === "rejected" && isVideo) return
  const end = task.state === "succeeded" ? "completed" : "failed"
  const event = { type: `${isVideo ? "video" : "image"}.${end}`, taskId: id, data: null }
  notifyEndpoints(state, organizationId, organizationId, event, nowMillis)
  const { callbackUrl = null } = task.ordered
  if (callbackUrl === null) return
  const endpointId = callbacksOf(organizationId)
  const receiver = `${endpointId}/${new URL(callbackUrl).host}`
  addMessage(state, { ...event, organizationId, endpointId, receiver, callbackUrl }, nowMillis)
}

export const notifyOfPool = (
  state: MemoryState,
  { id, pool }: Pick<Books, "id" | "pool">,
  nowMillis: number
): void => {
  const { balanceNano, lowNano } = pool
  if (lowNano === null || balanceNano < lowNano === pool.isLowNotified) return
  pool.isLowNotified = balanceNano < lowNano
  if (!pool.isLowNotified) return
  const data = { balance: formatNano(balanceNano), threshold: formatNano(lowNano) }
  notifyEndpoints(state, id, id, { type: "balance.low", taskId: null, data }, nowMillis)
}

/**
 * Sends the notifications of a budget. Each threshold is notified once in a period: when the use
 * reaches the threshold, or, for thresholds up to 100 percent, when the budget has refused an
 * order. The first refusal by a member's cap also sends the event `cap.reached`.
 */
export const notifyOfBudget = (
  state: MemoryState,
  { id, members }: Pick<Books, "id" | "members">,
  budget: StoredBudget,
  use: StoredUse,
  { nowMillis, timeZone }: Now,
  isRefusal = false
): void => {
  const usedNano = use.heldNano + use.capturedNano
  const isReached = (percent: number) =>
    usedNano * 100n >= budget.amountNano * BigInt(percent) || (use.hasRefused && percent <= 100)
  const amount = formatNano(budget.amountNano)
  const usedAmount = formatNano(usedNano)
  for (const threshold of budget.thresholds) {
    if (threshold <= use.lastThreshold || !isReached(threshold)) continue
    use.lastThreshold = threshold
    const data = {
      budget_id: budget.id,
      scope: budget.scope,
      subject_id: budget.subjectId,
      period: budget.period,
      threshold,
      amount,
      used: usedAmount
    }
    notifyEndpoints(state, id, id, { type: "budget.threshold", taskId: null, data }, nowMillis)
  }
  const member = members.get(budget.subjectId)
  if (!isRefusal || !budget.isCap || member === undefined) return
  const localTime = DateTime.makeZonedUnsafe(nowMillis, { timeZone })
  const month = DateTime.formatIsoDate(localTime).slice(0, "2026-01".length)
  const data = {
    member_id: member.id,
    member_name: member.name,
    month,
    cap: amount,
    used: usedAmount
  }
  notifyEndpoints(state, id, id, { type: "cap.reached", taskId: null, data }, nowMillis)
}

/**
 * Whether operators are notified of a cooldown. They are notified while a channel or model cools
 * down for all organisations, or for one organisation with `isAlone`; they are not notified of
 * cooldowns of keys.
 */
const isNotified = ({ keyName, until, organizationId, isAlone }: StoredCooldown): boolean =>
  keyName === null && until !== null && (organizationId === null || isAlone)

/**
 * Stores a changed cooldown. Notifies operators when the change takes a channel or model out of
 * service, or brings it back into service.
 */
export const changeCooldown = (
  state: MemoryState,
  previousCooldown: StoredCooldown | undefined,
  cooldown: StoredCooldown,
  nowMillis: number
): void => {
  state.cooldowns.set(cooldownName(cooldown), cooldown)
  const wasDown = previousCooldown !== undefined && isNotified(previousCooldown)
  const isDownElsewhere = [...state.cooldowns.values()].some(
    (other) =>
      other !== cooldown &&
      other.channelId === cooldown.channelId &&
      other.model === cooldown.model &&
      isNotified(other)
  )
  if (wasDown === isNotified(cooldown) || isDownElsewhere) return
  const type = wasDown ? "channel.up" : "channel.down"
  const data = {
    id: cooldown.channelId,
    model: cooldown.model,
    reason: cooldown.reason,
    status: cooldown.status
  }
  notifyEndpoints(state, OPERATORS, OPERATORS, { type, taskId: null, data }, nowMillis)
}
