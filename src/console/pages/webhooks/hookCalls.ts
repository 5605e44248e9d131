/**
 * The calls for the endpoints of one owner: with a member's API key for its organisation, with an
 * operator's token for any owner.
 */
import type { QueryKey } from "@tanstack/react-query"
import {
  callbacksOf,
  type EventType,
  operatorEvents,
  organizationEvents
} from "../../../domain/webhookEvents.ts"
import type {
  DeliveryView,
  EndpointView,
  EndpointWithSecretView
} from "../../../features/webhooks/WebhooksApi.ts"
import type { ApiCall } from "../../gateway/client.ts"
import type { ListPage, PageCursor } from "../../gateway/hooks.tsx"

export type Endpoint = typeof EndpointView.Type
export type EndpointWithSecret = typeof EndpointWithSecretView.Type
export type Delivery = typeof DeliveryView.Type
export type DeliveryState = Delivery["status"]
export const deliveryStates: ReadonlyArray<DeliveryState> = ["pending", "delivered", "failed"]

export interface EndpointForm {
  readonly name: string
  readonly url: string
  readonly event_types: ReadonlyArray<EventType>
}
export type EndpointChange = Partial<EndpointForm> & { readonly enabled?: boolean }
export type Redelivery = { readonly delivery_id: string } | { readonly since: string }

interface DeliveryFilter {
  readonly status?: DeliveryState
  readonly task_id?: string
}

export interface HookCalls {
  /** The prefix of the cache keys. */
  readonly area: QueryKey
  /** The event types that these endpoints can receive. */
  readonly events: ReadonlyArray<EventType>
  readonly mayChange: boolean
  /** The id of the endpoint of callbacks; null for operators, who place no orders. */
  readonly callbacksId: string | null
  readonly list: (page: PageCursor & { readonly limit?: number }) => ApiCall<ListPage<Endpoint>>
  readonly readEndpoint: (id: string) => ApiCall<Endpoint>
  readonly create: (form: EndpointForm) => ApiCall<EndpointWithSecret>
  readonly change: (id: string, change: EndpointChange) => ApiCall<Endpoint>
  readonly remove: (id: string) => ApiCall<unknown>
  readonly rotate: (id: string, keepsOldSecret: boolean) => ApiCall<EndpointWithSecret>
  readonly test: (id: string, type: EventType) => ApiCall<{ readonly status_code: number }>
  readonly deliveries: (
    id: string,
    filter: DeliveryFilter,
    after: PageCursor
  ) => ApiCall<ListPage<Delivery>>
  readonly redeliver: (
    id: string,
    redelivery: Redelivery
  ) => ApiCall<{ readonly redelivered: number }>
}

const PAGE = 20

type OrganizationEvent = (typeof organizationEvents)[number]
const isOrganizations = (type: EventType): type is OrganizationEvent =>
  organizationEvents.some((event) => event === type)

const encodeChange = ({ event_types, ...change }: EndpointChange) => ({
  ...change,
  ...(event_types === undefined ? {} : { event_types: event_types.filter(isOrganizations) })
})

export const callsOfKey: HookCalls = {
  area: ["webhooks"],
  events: organizationEvents,
  mayChange: true,
  callbacksId: "callback",
  list: (page) => (gateway) => gateway.webhooks.listEndpoints({ query: { limit: PAGE, ...page } }),
  readEndpoint: (id) => (gateway) => gateway.webhooks.readEndpoint({ params: { id } }),
  create: (form) => (gateway) =>
    gateway.webhooks.createEndpoint({
      payload: { ...form, event_types: form.event_types.filter(isOrganizations) }
    }),
  change: (id, change) => (gateway) =>
    gateway.webhooks.changeEndpoint({ params: { id }, payload: encodeChange(change) }),
  remove: (id) => (gateway) => gateway.webhooks.deleteEndpoint({ params: { id } }),
  rotate: (id, keepsOldSecret) => (gateway) =>
    gateway.webhooks.rotateSecret({
      params: { id },
      payload: { keep_old_secret_active_for_24_hours: keepsOldSecret }
    }),
  test: (id, type) => (gateway) =>
    gateway.webhooks.testEndpoint({
      params: { id },
      payload: { event_type: isOrganizations(type) ? type : organizationEvents[0] }
    }),
  deliveries: (id, filter, after) => (gateway) =>
    gateway.webhooks.listDeliveries({
      params: { id },
      query: { limit: PAGE, ...filter, ...after }
    }),
  redeliver: (id, redelivery) => (gateway) =>
    gateway.webhooks.redeliver({ params: { id }, payload: redelivery })
}

/** The calls for the endpoints of an organisation, or of the operators where it is null. */
export const callsOfOperator = (organizationId: string | null, mayChange: boolean): HookCalls => {
  const owner = organizationId === null ? {} : { organization_id: organizationId }
  return {
    area: ["operatorWebhooks", organizationId ?? ""],
    events: organizationId === null ? operatorEvents : organizationEvents,
    mayChange,
    callbacksId: organizationId === null ? null : callbacksOf(organizationId),
    list: (page) => (gateway) =>
      gateway.operatorWebhooks.listEndpointsOf({ query: { limit: PAGE, ...owner, ...page } }),
    readEndpoint: (id) => (gateway) => gateway.operatorWebhooks.readAnyEndpoint({ params: { id } }),
    create: (form) => (gateway) =>
      gateway.operatorWebhooks.createEndpointFor({ payload: { ...form, ...owner } }),
    change: (id, payload) => (gateway) =>
      gateway.operatorWebhooks.changeAnyEndpoint({ params: { id }, payload }),
    remove: (id) => (gateway) => gateway.operatorWebhooks.deleteAnyEndpoint({ params: { id } }),
    rotate: (id, keepsOldSecret) => (gateway) =>
      gateway.operatorWebhooks.rotateAnySecret({
        params: { id },
        payload: { keep_old_secret_active_for_24_hours: keepsOldSecret }
      }),
    test: (id, event_type) => (gateway) =>
      gateway.operatorWebhooks.testAnyEndpoint({ params: { id }, payload: { event_type } }),
    deliveries: (id, filter, after) => (gateway) =>
      gateway.operatorWebhooks.listAnyDeliveries({
        params: { id },
        query: { limit: PAGE, ...filter, ...after }
      }),
    redeliver: (id, payload) => (gateway) =>
      gateway.operatorWebhooks.redeliverAny({ params: { id }, payload })
  }
}
