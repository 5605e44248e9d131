/** Webhook endpoints and messages in memory. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { callbacksOf } from "../../domain/webhookEvents.ts"
import {
  MAX_ENDPOINTS,
  noSuchEndpoint,
  OLD_SECRET_HOURS,
  tooManyEndpoints,
  WebhookEndpoints
} from "../../features/webhooks/WebhookEndpoints.ts"
import { hintOf, makeSecret } from "../../features/webhooks/webhookSecrets.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  LEASE_MARGIN_SECONDS,
  MAX_LISTED_ATTEMPTS,
  type MessageClaims,
  noSuchDelivery,
  WebhookMessages
} from "../../services/delivery/WebhookMessages.ts"
import { dateOrNull, type MemoryState, MemoryStore, pageOf } from "../memory/MemoryStore.ts"
import { notifyEndpoints, taskSnapshot } from "./notifications.ts"
import type { StoredEndpoint, StoredMessage } from "./storedWebhooks.ts"

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS

export const layerWebhookEndpointsMemory = Layer.effect(
  WebhookEndpoints,
  Effect.gen(function* () {
    const { webhookEndpoints, webhookMessages } = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom

    const find = (owner: string | null, id: string) =>
      Effect.suspend(() => {
        const endpoint = webhookEndpoints.get(id)
        return endpoint === undefined || (owner !== null && endpoint.organizationId !== owner)
          ? Effect.fail(noSuchEndpoint(id))
          : Effect.succeed(endpoint)
      })
    const endpointsOf = (owner: string) =>
      [...webhookEndpoints.values()].filter(
        ({ organizationId, url }) => organizationId === owner && url !== ""
      )
    /** Finds an endpoint; an endpoint without an address is not found. */
    const findWithUrl = (owner: string, id: string) =>
      Effect.filterOrFail(
        find(owner, id),
        ({ url }) => url !== "",
        () => noSuchEndpoint(id)
      )

    const insert = Effect.fnUntraced(function* (
      organizationId: string,
      id: string,
      { name, url, eventTypes }: Pick<StoredEndpoint, "name" | "url" | "eventTypes">
    ) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const secret = yield* makeSecret(random)
      const endpoint: StoredEndpoint = {
        organizationId,
        id,
        name,
        url,
        eventTypes,
        secret,
        secretHint: hintOf(secret),
        old: null,
        createdAt: now,
        updatedAt: now,
        failingSince: null,
        disabledAt: null,
        disabledReason: null
      }
      webhookEndpoints.set(id, endpoint)
      return { endpoint, secret }
    })

    return WebhookEndpoints.of({
      create: Effect.fn("WebhookEndpoints.create")(function* (owner, endpoint) {
        if (endpointsOf(owner).length >= MAX_ENDPOINTS) return yield* tooManyEndpoints
        return yield* insert(owner, `whe_${yield* random.uuidV7()}`, endpoint)
      }),
      list: (owner, page) => Effect.suspend(() => pageOf(endpointsOf(owner), page)),
      find,
      change: Effect.fn("WebhookEndpoints.change")(function* (owner, id, { enabled, ...change }) {
        const endpoint = yield* findWithUrl(owner, id)
        const now = new Date(yield* Clock.currentTimeMillis)
        const enabledFields = { failingSince: null, disabledAt: null, disabledReason: null }
        const disabledFields = {
          disabledAt: endpoint.disabledAt ?? now,
          disabledReason: endpoint.disabledReason ?? "its owner asked for it"
        }
        const changedEndpoint = {
          ...endpoint,
          ...change,
          updatedAt: now,
          ...(enabled === true ? enabledFields : {}),
          ...(enabled === false ? disabledFields : {})
        }
        webhookEndpoints.set(id, changedEndpoint)
        return changedEndpoint
      }),
      remove: Effect.fn("WebhookEndpoints.remove")(function* (owner, id) {
        yield* findWithUrl(owner, id)
        webhookEndpoints.delete(id)
        for (const { endpointId, id: message } of webhookMessages.values()) {
          if (endpointId === id) webhookMessages.delete(message)
        }
      }),
      rotate: Effect.fn("WebhookEndpoints.rotate")(function* (owner, id, keepsOld) {
        const endpoint = yield* find(owner, id)
        const now = yield* Clock.currentTimeMillis
        const secret = yield* makeSecret(random)
        const until = now + OLD_SECRET_HOURS * HOUR_MILLIS
        const rotatedEndpoint = {
          ...endpoint,
          secret,
          secretHint: hintOf(secret),
          old: keepsOld ? { secret: endpoint.secret, until } : null,
          updatedAt: new Date(now)
        }
        webhookEndpoints.set(id, rotatedEndpoint)
        return { endpoint: rotatedEndpoint, secret }
      }),
      callbacks: Effect.fn("WebhookEndpoints.callbacks")(function* (organizationId) {
        const id = callbacksOf(organizationId)
        const endpoint = { name: "callbacks", url: "", eventTypes: [] }
        const storedEndpoint = webhookEndpoints.get(id)
        return storedEndpoint ?? (yield* insert(organizationId, id, endpoint)).endpoint
      }),
      secrets: (id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const endpoint = webhookEndpoints.get(id)
          if (endpoint === undefined) return []
          const { secret, old } = endpoint
          return old !== null && old.until > now ? [secret, old.secret] : [secret]
        })
    })
  })
)

/**
 * The messages that may be claimed: receivers take turns, and the messages of one receiver are in
 * the order of their due times.
 */
const claimable = (
  { webhookEndpoints, webhookMessages }: MemoryState,
  claims: MessageClaims,
  now: number
) => {
  const dueMessages = [...webhookMessages.values()]
    .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= now)
    .toSorted((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0))
  const countByOrganization = new Map(claims.runningByOrganization)
  let failingCount = 0
  return [...Map.groupBy(dueMessages, ({ receiver }) => receiver)]
    .flatMap(([receiver, messages]) => {
      const endpoint = webhookEndpoints.get(receiver)
      const isFailing = (endpoint?.failingSince ?? null) !== null
      const activePermits = isFailing ? 1 : claims.maxPerReceiver
      const permits = endpoint?.disabledAt != null ? 0 : activePermits
      return messages
        .slice(0, Math.max(0, permits - (claims.runningByReceiver.get(receiver) ?? 0)))
        .map((message, turn) => ({ message, turn, isFailing }))
    })
    .toSorted((a, b) => a.turn - b.turn)
    .filter(({ message: { organizationId }, isFailing }) => {
      const count = (countByOrganization.get(organizationId) ?? 0) + 1
      countByOrganization.set(organizationId, count)
      return (
        count <= claims.maxPerOrganization && (!isFailing || ++failingCount <= claims.maxFailing)
      )
    })
    .slice(0, claims.limit)
}

export const layerWebhookMessagesMemory = Layer.effect(
  WebhookMessages,
  Effect.gen(function* () {
    const state = yield* MemoryStore
    const { organizations, webhookEndpoints, webhookMessages } = state
    const { webhookPatienceDays, webhookTimeoutSeconds, callLogDays } = yield* Settings
    const leaseMillis = (webhookTimeoutSeconds + LEASE_MARGIN_SECONDS) * 1000

    const messagesTo = (endpointId: string) =>
      [...webhookMessages.values()].filter((message) => message.endpointId === endpointId)

    const taskOf = ({ organizationId, taskId }: StoredMessage) =>
      taskSnapshot(organizations.get(organizationId), taskId ?? "")

    const dialectOf = ({ organizationId, taskId }: StoredMessage) => {
      const task = organizations.get(organizationId)?.orders.get(taskId ?? "")?.task ?? null
      return task === null ? null : (task.ordered.dialect ?? "own")
    }

    const makeDue = (message: StoredMessage, now: number) =>
      Object.assign(message, { state: "pending", nextAttemptAt: now, tries: 0, endedAt: null })

    const disableEndpoint = (endpoint: StoredEndpoint, reason: string, now: number): void => {
      const { id, name, organizationId, url } = endpoint
      webhookEndpoints.set(id, { ...endpoint, disabledAt: new Date(now), disabledReason: reason })
      for (const message of messagesTo(id)) {
        if (message.state !== "pending") continue
        Object.assign(message, { state: "failed", nextAttemptAt: null, endedAt: now })
      }
      const data = { id, name, url, reason }
      const event = { type: "webhook_endpoint.disabled", taskId: null, data }
      notifyEndpoints(state, organizationId, organizationId, event, now, () => true)
    }

    /**
     * Updates the endpoint after an attempt: marks the endpoint as failing or working, and disables
     * it where its attempts keep failing or it answered 410 Gone.
     */
    const updateEndpoint = (
      id: string,
      end: "Delivered" | "Gone" | "Failed" | "Again",
      now: number
    ): void => {
      const storedEndpoint = webhookEndpoints.get(id)
      if (storedEndpoint === undefined || storedEndpoint.disabledAt !== null) return
      const failingSince =
        end === "Delivered" ? null : (storedEndpoint.failingSince ?? new Date(now))
      const endpoint = { ...storedEndpoint, failingSince }
      webhookEndpoints.set(id, endpoint)
      if (end === "Delivered") return
      const oldestMillis = now - webhookPatienceDays * DAY_MILLIS
      if (end === "Gone") disableEndpoint(endpoint, "it answered 410 Gone", now)
      else if (
        storedEndpoint.failingSince !== null &&
        storedEndpoint.failingSince.getTime() <= oldestMillis
      ) {
        disableEndpoint(endpoint, "it failed for too long", now)
      }
    }

    return WebhookMessages.of({
      claimDue: (claims) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          claimable(state, claims, now).map(({ message, isFailing }) => {
            message.lease++
            message.nextAttemptAt = now + leaseMillis
            const url = message.callbackUrl ?? webhookEndpoints.get(message.endpointId)?.url ?? ""
            const isCallback = message.callbackUrl !== null
            return {
              ...message,
              url,
              isCallback,
              isFailing,
              dialect: dialectOf(message),
              task: taskOf(message)
            }
          })
        ),
      recordAttempt: ({ id, lease, isCallback, endpointId }, attempt, end) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const message = webhookMessages.get(id)
          if (message?.state !== "pending" || message.lease !== lease) return
          const { status, durationMs, answer, error } = attempt
          const at = new Date(now - durationMs)
          message.attempts.push({ at, status, durationMs, answer, error })
          message.tries++
          if (end._tag === "Again") message.nextAttemptAt = now + end.afterSeconds * 1000
          else {
            message.state = end._tag === "Delivered" ? "delivered" : "failed"
            message.nextAttemptAt = null
            message.endedAt = now
          }
          if (!isCallback) updateEndpoint(endpointId, end._tag, now)
        }),
      list: (endpointId, { state, taskId }, page) =>
        Effect.map(
          Effect.suspend(() =>
            pageOf(
              messagesTo(endpointId),
              page,
              (message) =>
                (state === null || message.state === state) &&
                (taskId === null || message.taskId === taskId)
            )
          ),
          ({ data, hasMore }) => ({
            hasMore,
            data: data.map((message) => ({
              ...message,
              nextAttemptAt: dateOrNull(message.nextAttemptAt),
              attempts: message.attempts.slice(-MAX_LISTED_ATTEMPTS)
            }))
          })
        ),
      redeliver: Effect.fn("WebhookMessages.redeliver")(function* (endpointId, id) {
        const message = webhookMessages.get(id)
        if (message?.endpointId !== endpointId) {
          return yield* noSuchDelivery(id)
        }
        makeDue(message, yield* Clock.currentTimeMillis)
      }),
      redeliverSince: (endpointId, since) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const messages = messagesTo(endpointId).filter(({ happenedAt }) => happenedAt >= since)
          for (const message of messages) makeDue(message, now)
          return messages.length
        }),
      prune: Effect.map(Clock.currentTimeMillis, (now) => {
        const old = [...webhookMessages.values()].filter(
          ({ endedAt }) => endedAt !== null && endedAt < now - callLogDays * DAY_MILLIS
        )
        for (const { id } of old) webhookMessages.delete(id)
        return old.length
      })
    })
  })
)
