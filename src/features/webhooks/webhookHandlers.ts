import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { organizationEvents } from "../../domain/webhookEvents.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { makeEndpointHandlers } from "./endpointHandlers.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"
import { WebhooksGroup } from "./WebhooksApi.ts"

/** The id in a path that means the organisation's endpoint of callbacks. */
const CALLBACK = "callback"

export const layerWebhookHandlers = HttpApiBuilder.group(
  customerApi(WebhooksGroup),
  "webhooks",
  Effect.fn(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const organization = Effect.map(CurrentCaller, ({ organizationId }) => organizationId)
    const forMembers = yield* makeEndpointHandlers({
      name: "webhooks",
      ownerOf: () => organization,
      find: (id) =>
        Effect.flatMap(organization, (organizationId) =>
          id === CALLBACK ? endpoints.callbacks(organizationId) : endpoints.find(organizationId, id)
        )
    })
    return handlers.handleAll({
      listEventTypes: () => Effect.succeed({ object: "list" as const, data: organizationEvents }),
      createEndpoint: forMembers.create,
      listEndpoints: forMembers.list,
      readEndpoint: forMembers.read,
      changeEndpoint: forMembers.change,
      deleteEndpoint: forMembers.remove,
      rotateSecret: forMembers.rotateSecret,
      testEndpoint: forMembers.test,
      listDeliveries: forMembers.listDeliveries,
      redeliver: forMembers.redeliver
    })
  })
)
