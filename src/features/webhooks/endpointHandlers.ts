/** Handlers of webhook endpoints, which members' and operators' APIs share. */
import { Clock, Effect, Redacted, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { InvalidRequest, type NotFound } from "../../domain/Errors.ts"
import { taskNamed } from "../../domain/orderIds.ts"
import {
  type EventType,
  operatorEvents,
  organizationEvents,
  sampleData
} from "../../domain/webhookEvents.ts"
import { OutgoingWeb } from "../../egress/OutgoingWeb.ts"
import { faultOfUrl } from "../../egress/publicAddresses.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { unixSeconds } from "../../http/handlers/views.ts"
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
  deliveryQuery,
  EndpointView,
  EndpointWithSecretView,
  RedeliverBody,
  RotateBody
} from "./WebhooksApi.ts"

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
  const list = listView(page, view)
  return { ...list, first_id: list.data[0]?.id ?? null, last_id: list.data.at(-1)?.id ?? null }
}

const invalid = (param: string, message: string) =>
  new InvalidRequest({ message: `${param}: ${message}`, param })

interface EndpointFields {
  readonly name?: string
  readonly url?: string
  readonly event_types?: ReadonlyArray<EventType>
}

interface OwnerFields {
  readonly organization_id?: string
}

interface EndpointParams {
  readonly params: { readonly id: string }
}

/** The endpoints that a request may access. */
interface EndpointAccess<E, R> {
  /** The prefix of the handlers' spans. */
  readonly name: string
  /** The owner whose endpoints are created and listed: an organisation's id, or `OPERATORS`. */
  readonly ownerOf: (fields: OwnerFields) => Effect.Effect<string, E, R>
  readonly find: (id: string) => Effect.Effect<WebhookEndpoint, NotFound, R>
}

export const makeEndpointHandlers = Effect.fnUntraced(function* <E, R>({
  name: prefix,
  ownerOf,
  find
}: EndpointAccess<E, R>) {
  const endpoints = yield* WebhookEndpoints
  const messages = yield* WebhookMessages
  const web = yield* OutgoingWeb
  const random = yield* SecureRandom.SecureRandom
  const { webhookTimeoutSeconds } = yield* Settings

  /** Refuses an address that is not public, and events that this owner cannot subscribe to. */
  const checkFields = Effect.fnUntraced(function* (
    owner: string,
    { url, event_types: eventTypes = [] }: EndpointFields
  ) {
    const fault = url === undefined ? null : faultOfUrl(url, web.rules)
    if (fault !== null) return yield* invalid("url", fault)
    const allowed: ReadonlyArray<EventType> =
      owner === OPERATORS ? operatorEvents : organizationEvents
    const refused = eventTypes.findIndex((type) => !allowed.includes(type))
    if (refused >= 0) {
      return yield* invalid(`event_types[${refused}]`, `Expected one of ${allowed.join(", ")}`)
    }
  })

  const distinct = <A>(entries: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(entries)]

  return {
    create: Effect.fn(`${prefix}.create`)(function* ({
      payload
    }: {
      readonly payload: Required<EndpointFields> & OwnerFields
    }) {
      const owner = yield* ownerOf(payload)
      yield* checkFields(owner, payload)
      const { name, url, event_types } = payload
      const eventTypes = distinct(event_types)
      return withSecretView(yield* endpoints.create(owner, { name, url, eventTypes }))
    }),
    list: Effect.fn(`${prefix}.list`)(function* ({
      query
    }: {
      readonly query: Parameters<typeof pageOf>[0] & OwnerFields
    }) {
      const owner = yield* ownerOf(query)
      return pageView(yield* endpoints.list(owner, pageOf(query)), endpointView)
    }),
    read: ({ params }: EndpointParams) => Effect.map(find(params.id), endpointView),
    change: Effect.fn(`${prefix}.change`)(function* ({
      params,
      payload
    }: EndpointParams & {
      readonly payload: EndpointFields & { readonly enabled?: boolean }
    }) {
      const endpoint = yield* find(params.id)
      const { id, organizationId: owner } = endpoint
      yield* checkFields(owner, payload)
      const { event_types: eventTypes, ...change } = payload
      if (Object.keys(payload).length === 0) return endpointView(endpoint)
      const changed = yield* endpoints.change(owner, id, {
        ...change,
        ...(eventTypes === undefined ? {} : { eventTypes: distinct(eventTypes) })
      })
      return endpointView(changed)
    }),
    remove: Effect.fn(`${prefix}.delete`)(function* ({ params }: EndpointParams) {
      const { id, organizationId: owner } = yield* find(params.id)
      yield* endpoints.remove(owner, id)
      return { id, object: "webhook_endpoint.deleted" as const, deleted: true }
    }),
    rotateSecret: Effect.fn(`${prefix}.rotate`)(function* ({
      params,
      payload
    }: EndpointParams & { readonly payload: typeof RotateBody.Type }) {
      const { id, organizationId: owner } = yield* find(params.id)
      const keepsOld = payload.keep_old_secret_active_for_24_hours ?? false
      return withSecretView(yield* endpoints.rotate(owner, id, keepsOld))
    }),
    test: Effect.fn(`${prefix}.test`)(function* ({
      params,
      payload: { event_type: type }
    }: EndpointParams & { readonly payload: { readonly event_type: EventType } }) {
      const { id, url } = yield* find(params.id)
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
      const { status, error } = yield* sendMessage(
        web,
        url,
        message,
        secrets,
        webhookTimeoutSeconds
      )
      if (status === null) return yield* invalid("url", `The receiver gave no answer: ${error}`)
      return {
        object: "webhook_endpoint.test" as const,
        webhook_endpoint_id: id,
        event_type: type,
        success: true as const,
        status_code: status
      }
    }),
    listDeliveries: Effect.fn(`${prefix}.deliveries`)(function* ({
      params,
      query
    }: EndpointParams & { readonly query: Schema.Struct.Type<typeof deliveryQuery> }) {
      const { id } = yield* find(params.id)
      const { status: state = null, task_id: task = null, ...page } = query
      // A text that is no task id matches no message.
      const taskId = task === null ? null : (taskNamed(task)?.id ?? task)
      return pageView(yield* messages.list(id, { state, taskId }, pageOf(page)), deliveryView)
    }),
    redeliver: Effect.fn(`${prefix}.redeliver`)(function* ({
      params,
      payload: { delivery_id: deliveryId, since }
    }: EndpointParams & { readonly payload: typeof RedeliverBody.Type }) {
      const { id } = yield* find(params.id)
      if ((deliveryId === undefined) === (since === undefined)) {
        return yield* invalid("delivery_id", "Expected either delivery_id or since")
      }
      const redelivered =
        deliveryId === undefined
          ? yield* messages.redeliverSince(id, new Date(since ?? 0))
          : yield* Effect.as(messages.redeliver(id, deliveryId), 1)
      return { object: "webhook_redelivery" as const, redelivered }
    })
  }
})
