/**
 * Sends the messages that are due. Any number of gateways do so over one database, each message by one
 * of them at a time. What is slow or fails has few of the attempts that run together, so that it delays
 * no other receiver.
 */
import { Clock, Effect, FiberSet, Layer, Metric, Random, type Redacted } from "effect"
import { taskKindOf } from "../../domain/orderIds.ts"
import type { AddressOf } from "../../domain/taskAnswers.ts"
import { OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import { Settings } from "../../runtime/Settings.ts"
import { withSpan } from "../../runtime/spans.ts"
import {
  type AttemptEnd,
  type ClaimedMessage,
  WebhookMessages
} from "../../services/delivery/WebhookMessages.ts"
import { webhookAttempts } from "../../services/metrics.ts"
import { ContentLinks } from "../../services/results/ContentLinks.ts"
import { retryAfterSeconds, secondsToNextTry } from "./deliveryTimes.ts"
import { messageBody } from "./messageBody.ts"
import { type Sent, send } from "./sending.ts"
import { callbacksOf, WebhookEndpoints } from "./WebhookEndpoints.ts"

/** Attempts of this gateway that run at a time. */
const MAX_RUNNING = 512
/** Those of them at endpoints that failed the last time. */
const MAX_FAILING = 64
const MAX_PER_RECEIVER = 8
const MAX_PER_ORGANIZATION = 64
/** Claimed by one statement, at most. */
const MAX_CLAIMED = 128
const PRUNE_EVERY = "1 hour"

const countBy = (
  messages: Iterable<ClaimedMessage>,
  key: (message: ClaimedMessage) => string
): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(messages, key)].map(([name, those]) => [name, those.length]))

export const layerWebhookDispatcher = Layer.effectDiscard(
  Effect.gen(function* () {
    const messages = yield* WebhookMessages
    const endpoints = yield* WebhookEndpoints
    const web = yield* OutgoingWeb
    const links = yield* ContentLinks
    const { pollerSeconds, publicUrl, webhookRetrySeconds, webhookTimeoutSeconds } = yield* Settings
    const running = new Set<ClaimedMessage>()
    const fibers = yield* FiberSet.make()

    const secretsOf = Effect.fnUntraced(function* (message: ClaimedMessage) {
      const known = yield* endpoints.secrets(message.endpointId)
      // Its first callback may come before anybody asked for the secret.
      if (known.length > 0 || message.endpointId !== callbacksOf(message.organizationId))
        return known
      yield* endpoints.callbacks(message.organizationId)
      return yield* endpoints.secrets(message.endpointId)
    })

    /** Without a request, only a setting tells how receivers reach the gateway. */
    const ownAddresses = ({ organizationId, taskId, task }: ClaimedMessage) =>
      Effect.map(Clock.currentTimeMillis, (now): AddressOf | null => {
        const kind = taskId === null ? null : taskKindOf(taskId)
        if (publicUrl === "" || taskId === null || task === null || kind === null) return null
        const members = [task.memberId]
        return (n) => publicUrl + links.path(kind, { organizationId, members, id: taskId, n }, now)
      })

    const endOf = Effect.fnUntraced(function* (message: ClaimedMessage, sent: Sent) {
      const { status } = sent
      if (status !== null && status >= 200 && status < 300) return { _tag: "Delivered" as const }
      if (status === 410) return { _tag: "Gone" as const }
      const asked = retryAfterSeconds(sent.retryAfter, yield* Clock.currentTimeMillis)
      const seconds = secondsToNextTry(
        webhookRetrySeconds,
        message.tries + 1,
        asked,
        yield* Random.next
      )
      return seconds === null
        ? { _tag: "Failed" as const }
        : { _tag: "Again" as const, afterSeconds: seconds }
    })

    const deliver = Effect.fnUntraced(
      function* (message: ClaimedMessage) {
        const secrets: ReadonlyArray<Redacted.Redacted> = yield* secretsOf(message)
        // Without one it would not be signed: the operator is told by the log, and it is tried again.
        if (secrets.length === 0) return
        const body = messageBody(message, yield* ownAddresses(message))
        const sent = yield* send(
          web,
          message.url,
          { id: message.id, body },
          secrets,
          webhookTimeoutSeconds
        )
        const end: AttemptEnd = yield* endOf(message, sent)
        yield* Metric.update(
          Metric.withAttributes(webhookAttempts, { end: end._tag.toLowerCase() }),
          1
        )
        yield* messages.ended(message, sent, end)
      },
      Effect.catchCause((cause) => Effect.logWarning("a webhook could not be sent", cause))
    )

    const begin = (message: ClaimedMessage) =>
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

    /** True where more may be due. */
    const round = Effect.gen(function* () {
      const limit = Math.min(MAX_CLAIMED, MAX_RUNNING - running.size)
      if (limit <= 0) return false
      const failing = [...running].filter(({ isFailing }) => isFailing).length
      const claimed = yield* messages.claimDue({
        limit,
        failing: Math.max(0, MAX_FAILING - failing),
        perReceiver: MAX_PER_RECEIVER,
        perOrganization: MAX_PER_ORGANIZATION,
        running: countBy(running, ({ receiver }) => receiver),
        runningByOrganization: countBy(running, ({ organizationId }) => organizationId)
      })
      for (const message of claimed) {
        running.add(message)
        yield* begin(message)
      }
      return claimed.length === limit
    })

    yield* Effect.repeat(round, { while: (more) => more }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("webhooks could not be claimed", cause)),
      Effect.andThen(Effect.sleep(`${pollerSeconds} seconds`)),
      Effect.forever,
      Effect.forkScoped
    )
    yield* messages.prune.pipe(
      Effect.catchCause((cause) => Effect.logWarning("old webhooks were not deleted", cause)),
      Effect.andThen(Effect.sleep(PRUNE_EVERY)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
