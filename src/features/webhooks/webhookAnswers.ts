/** What is done with receivers of webhooks, for organisations and operators alike. */
import { Clock, Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { InvalidRequest } from "../../domain/Errors.ts"
import {
  type EventType,
  operatorEvents,
  organizationEvents,
  sampleData
} from "../../domain/webhookEvents.ts"
import { OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import { faultOfUrl } from "../../egress/publicAddresses.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import type { Page } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type Delivery, WebhookMessages } from "../../services/delivery/WebhookMessages.ts"
import { messageBody } from "./messageBody.ts"
import { sendMessage } from "./sendMessage.ts"
import {
  OPERATORS,
  type WebhookEndpoint,
  WebhookEndpoints,
  type WithSecret
} from "./WebhookEndpoints.ts"
import type {
  DeliveryView,
  EndpointView,
  EndpointWithSecretView,
  RedeliverBody
} from "./WebhooksApi.ts"

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)

const endpointView = (endpoint: WebhookEndpoint): typeof EndpointView.Type => ({
  id: endpoint.id,
  object: "webhook_endpoint",
  name: endpoint.name,
  url: endpoint.url,
  event_types: endpoint.eventTypes,
  signing_secret_hint: endpoint.secretHint,
  created_at: unixSeconds(endpoint.createdAt),
  updated_at: unixSeconds(endpoint.updatedAt),
  status: endpoint.disabledAt === null ? "enabled" : "disabled",
  disabled_reason: endpoint.disabledReason,
  failing_since: endpoint.failingSince === null ? null : unixSeconds(endpoint.failingSince)
})

const withSecretView = ({ endpoint, secret }: WithSecret): typeof EndpointWithSecretView.Type => ({
  ...endpointView(endpoint),
  signing_secret: Redacted.value(secret)
})

const deliveryView = (delivery: Delivery): typeof DeliveryView.Type => ({
  id: delivery.id,
  object: "webhook_delivery",
  type: delivery.type,
  task_id: delivery.taskId,
  url: delivery.callbackUrl,
  status: delivery.state,
  created_at: delivery.happenedAt.toISOString(),
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  attempts: delivery.attempts.map((attempt) => ({
    at: attempt.at.toISOString(),
    status: attempt.status,
    duration_ms: attempt.durationMs,
    answer: attempt.answer,
    error: attempt.error
  }))
})

const pageView = <A, View extends { readonly id: string }>(
  page: Page<A>,
  view: (entry: A) => View
) => {
  const shown = listView(page, view)
  const { data } = shown
  return { ...shown, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

const invalid = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

interface EndpointBody {
  readonly name?: string
  readonly url?: string
  readonly event_types?: ReadonlyArray<EventType>
}

/** Operations on endpoints; `owner` is an organisation or `OPERATORS`. */
export const makeWebhookAnswers = Effect.gen(function* () {
  const endpoints = yield* WebhookEndpoints
  const messages = yield* WebhookMessages
  const web = yield* OutgoingWeb
  const random = yield* SecureRandom.SecureRandom
  const { webhookTimeoutSeconds } = yield* Settings

  /** The body's fields as the store has them, where they are such as this owner may set. */
  const checked = Effect.fnUntraced(function* (owner: string, body: EndpointBody) {
    const { name, url, event_types: eventTypes } = body
    const fault = url === undefined ? null : faultOfUrl(url, web.rules)
    if (fault !== null) return yield* invalid("url", fault)
    const own: ReadonlyArray<EventType> = owner === OPERATORS ? operatorEvents : organizationEvents
    const foreign = eventTypes?.findIndex((type) => !own.includes(type)) ?? -1
    if (foreign >= 0) {
      return yield* invalid(`event_types[${foreign}]`, `Expected one of ${own.join(", ")}`)
    }
    return {
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      ...(eventTypes === undefined ? {} : { eventTypes: [...new Set(eventTypes)] })
    }
  })

  return {
    create: Effect.fnUntraced(function* (owner: string, body: Required<EndpointBody>) {
      yield* checked(owner, body)
      const { name, url, event_types } = body
      const eventTypes = [...new Set(event_types)]
      return withSecretView(yield* endpoints.create(owner, { name, url, eventTypes }))
    }),
    list: (owner: string, query: Parameters<typeof pageOf>[0]) =>
      Effect.map(endpoints.list(owner, pageOf(query)), (page) => pageView(page, endpointView)),
    read: endpointView,
    change: Effect.fnUntraced(function* (
      { id, organizationId: owner }: WebhookEndpoint,
      { enabled, ...body }: EndpointBody & { readonly enabled?: boolean }
    ) {
      const change = {
        ...(yield* checked(owner, body)),
        ...(enabled === undefined ? {} : { enabled })
      }
      const isNone = Object.keys(change).length === 0
      const changed = isNone ? endpoints.find(owner, id) : endpoints.change(owner, id, change)
      return endpointView(yield* changed)
    }),
    remove: ({ id, organizationId: owner }: WebhookEndpoint) =>
      Effect.as(endpoints.remove(owner, id), {
        id,
        object: "webhook_endpoint.deleted" as const,
        deleted: true
      }),
    rotate: (
      { id, organizationId: owner }: WebhookEndpoint,
      {
        keep_old_secret_active_for_24_hours: keepOld = false
      }: {
        readonly keep_old_secret_active_for_24_hours?: boolean
      }
    ) => Effect.map(endpoints.rotate(owner, id, keepOld), withSecretView),
    test: Effect.fnUntraced(function* (
      { id, url }: WebhookEndpoint,
      { event_type: type }: { readonly event_type: EventType }
    ) {
      if (url === "") return yield* invalid("id", "Callbacks have no address that could be tested")
      const body = messageBody({
        type,
        happenedAt: new Date(yield* Clock.currentTimeMillis),
        taskId: null,
        dialect: null,
        task: null,
        data: sampleData[type]
      })
      const message = { id: `msg_${(yield* random.uuidV7()).replaceAll("-", "")}`, body }
      const secrets = yield* endpoints.secrets(id)
      const sent = yield* sendMessage(web, url, message, secrets, webhookTimeoutSeconds)
      if (sent.status === null) {
        return yield* invalid("url", `The receiver gave no answer: ${sent.error}`)
      }
      return {
        object: "webhook_endpoint.test" as const,
        webhook_endpoint_id: id,
        event_type: type,
        success: true as const,
        status_code: sent.status
      }
    }),
    deliveries: (
      { id }: WebhookEndpoint,
      query: Parameters<typeof pageOf>[0] & { readonly status?: Delivery["state"] }
    ) =>
      Effect.map(messages.list(id, query.status ?? null, pageOf(query)), (page) =>
        pageView(page, deliveryView)
      ),
    redeliver: Effect.fnUntraced(function* (
      { id }: WebhookEndpoint,
      { delivery_id, since }: typeof RedeliverBody.Type
    ) {
      if ((delivery_id === undefined) === (since === undefined)) {
        return yield* invalid("delivery_id", "Expected either delivery_id or since")
      }
      const redelivered =
        delivery_id === undefined
          ? yield* messages.redeliverSince(id, new Date(since ?? 0))
          : yield* Effect.as(messages.redeliver(id, delivery_id), 1)
      return { object: "webhook_redelivery" as const, redelivered }
    })
  }
})
