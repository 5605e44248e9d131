/**
 * Sends the messages that are due. Any number of gateways send messages from one database, but only
 * one gateway at a time sends the same message. Receivers that are slow or fail get only a few of
 * the concurrent attempts, so that they do not delay other receivers.
 */
import { Clock, Effect, FiberSet, Layer, Metric, Random } from "effect"
import { makeNeedsKey } from "../../channels/vendorFiles.ts"
import { taskKindOf } from "../../domain/orderIds.ts"
import type { AddressOf } from "../../domain/taskAnswers.ts"
import { callbacksOf } from "../../domain/webhookEvents.ts"
import { OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import { startJob } from "../../runtime/backgroundJobs.ts"
import { Settings } from "../../runtime/Settings.ts"
import { withSpan } from "../../runtime/spans.ts"
import {
  type AttemptEnd,
  type ClaimedMessage,
  WebhookMessages
} from "../../services/delivery/WebhookMessages.ts"
import { waitingWebhooks, webhookAttempts } from "../../services/metrics.ts"
import { ContentLinks } from "../../services/results/ContentLinks.ts"
import { parseRetryAfter, secondsToNextTry } from "./deliveryTimes.ts"
import { messageBody } from "./messageBody.ts"
import { type AttemptResult, sendMessage } from "./sendMessage.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

/** The maximum number of concurrent attempts of this gateway. */
const MAX_RUNNING = 512
/** The maximum number of concurrent attempts at endpoints whose last attempt failed. */
const MAX_FAILING = 64
const MAX_PER_RECEIVER = 8
const MAX_PER_ORGANIZATION = 64
/** The maximum number of messages that one statement claims. */
const MAX_CLAIMED = 128

const countBy = (
  messages: Iterable<ClaimedMessage>,
  key: (message: ClaimedMessage) => string
): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(messages, key)].map(([name, group]) => [name, group.length]))

export const layerWebhookDispatcher = Layer.effectDiscard(
  Effect.gen(function* () {
    const messages = yield* WebhookMessages
    const endpoints = yield* WebhookEndpoints
    const web = yield* OutgoingWeb
    const links = yield* ContentLinks
    const needsKey = yield* makeNeedsKey
    const { pollerSeconds, publicUrl, webhookRetrySeconds, webhookTimeoutSeconds } = yield* Settings
    const running = new Set<ClaimedMessage>()
    const fibers = yield* FiberSet.make()

    const secretsOf = Effect.fnUntraced(function* (message: ClaimedMessage) {
      const secrets = yield* endpoints.secrets(message.endpointId)
      const isCallbacks = message.endpointId === callbacksOf(message.organizationId)
      if (secrets.length > 0 || !isCallbacks) return secrets
      // The secret of callbacks is created when it is first read. The first callback may be due
      // before anyone has read the secret, so it is read here.
      yield* endpoints.callbacks(message.organizationId)
      return yield* endpoints.secrets(message.endpointId)
    })

    /**
     * The gateway's links to a task's files. The gateway's own address comes from a setting, since
     * no request names it here.
     */
    const contentLinksOf = ({ organizationId, taskId, task }: ClaimedMessage) =>
      Effect.map(Clock.currentTimeMillis, (now): AddressOf | null => {
        const kind = taskId === null ? null : taskKindOf(taskId)
        if (publicUrl === "" || taskId === null || task === null || kind === null) return null
        const members = [task.memberId]
        return (n) => publicUrl + links.path(kind, { organizationId, members, id: taskId, n }, now)
      })

    const endOf = Effect.fnUntraced(function* (
      { tries }: ClaimedMessage,
      { status, retryAfter }: AttemptResult
    ): Effect.fn.Return<AttemptEnd> {
      if (status !== null && status >= 200 && status < 300) return { _tag: "Delivered" }
      if (status === 410) return { _tag: "Gone" }
      const minimumSeconds = parseRetryAfter(retryAfter, yield* Clock.currentTimeMillis)
      const afterSeconds = secondsToNextTry(
        webhookRetrySeconds,
        tries + 1,
        minimumSeconds,
        yield* Random.next
      )
      return afterSeconds === null ? { _tag: "Failed" } : { _tag: "Again", afterSeconds }
    })

    const deliver = Effect.fnUntraced(
      function* (message: ClaimedMessage) {
        const secrets = yield* secretsOf(message)
        // An unsigned message is never sent. The log names the secret that cannot be opened, and
        // the message is due again when its claim expires.
        if (secrets.length === 0) return
        const { task } = message
        const isKeyNeeded = task !== null && needsKey(task)
        const body = messageBody(message, yield* contentLinksOf(message), isKeyNeeded)
        const result = yield* sendMessage(
          web,
          message.url,
          { id: message.id, body },
          secrets,
          webhookTimeoutSeconds
        )
        const end = yield* endOf(message, result)
        yield* Metric.update(
          Metric.withAttributes(webhookAttempts, { end: end._tag.toLowerCase() }),
          1
        )
        yield* messages.recordAttempt(message, result, end)
      },
      (attempt, { id, endpointId, taskId }) =>
        Effect.catchCause(attempt, (cause) =>
          Effect.logWarning(
            "webhooks: delivery attempt stopped by an unexpected error",
            cause
          ).pipe(Effect.annotateLogs({ message_id: id, endpoint_id: endpointId, order_id: taskId }))
        )
    )

    const startAttempt = (message: ClaimedMessage) =>
      FiberSet.run(
        fibers,
        Effect.ensuring(
          deliver(message).pipe(
            withSpan("deliver webhook", {
              kind: "producer",
              attributes: () =>
                message.taskId === null ? {} : { "media.task.id": message.taskId },
              orders: () => (message.taskId === null ? [] : [message.taskId])
            })
          ),
          Effect.sync(() => running.delete(message))
        )
      )

    /** Starts attempts for due messages; returns whether more messages may be due. */
    const startDueAttempts = Effect.gen(function* () {
      const limit = Math.min(MAX_CLAIMED, MAX_RUNNING - running.size)
      if (limit <= 0) return false
      const failing = [...running].filter(({ isFailing }) => isFailing).length
      const claimed = yield* messages.claimDue({
        limit,
        maxFailing: Math.max(0, MAX_FAILING - failing),
        maxPerReceiver: MAX_PER_RECEIVER,
        maxPerOrganization: MAX_PER_ORGANIZATION,
        runningByReceiver: countBy(running, ({ receiver }) => receiver),
        runningByOrganization: countBy(running, ({ organizationId }) => organizationId)
      })
      for (const message of claimed) {
        running.add(message)
        yield* startAttempt(message)
      }
      return claimed.length === limit
    })

    yield* startJob({
      name: "webhook deliveries",
      interval: `${pollerSeconds} seconds`,
      run: Effect.repeat(startDueAttempts, { while: (hasMore) => hasMore }),
      onFailure: (cause) => Effect.logWarning("webhooks: claiming due messages failed", cause),
      metric: waitingWebhooks
    })
    yield* startJob({
      name: "webhook retention",
      interval: "1 hour",
      run: messages.prune,
      onFailure: (cause) => Effect.logWarning("webhooks: deleting old messages failed", cause)
    })
  })
)
