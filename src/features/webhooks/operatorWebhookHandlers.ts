import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { operatorApi } from "../../http/api/contractOf.ts"
import { Access } from "../../services/Access.ts"
import { makeEndpointHandlers } from "./endpointHandlers.ts"
import { OperatorWebhooksGroup } from "./OperatorWebhooksApi.ts"
import { OPERATORS, WebhookEndpoints } from "./WebhookEndpoints.ts"

export const layerOperatorWebhookHandlers = HttpApiBuilder.group(
  operatorApi(OperatorWebhooksGroup),
  "operatorWebhooks",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const endpoints = yield* WebhookEndpoints
    const forOperators = yield* makeEndpointHandlers({
      name: "operatorWebhooks",
      // Fails for an organisation that does not exist, so that it gets no endpoint.
      ownerOf: ({ organization_id: id }) =>
        id === undefined ? Effect.succeed(OPERATORS) : Effect.as(access.organization(id), id),
      find: (id) => endpoints.find(null, id)
    })
    return handlers.handleAll({
      createEndpointFor: forOperators.create,
      listEndpointsOf: forOperators.list,
      readAnyEndpoint: forOperators.read,
      changeAnyEndpoint: forOperators.change,
      deleteAnyEndpoint: forOperators.remove,
      rotateAnySecret: forOperators.rotateSecret,
      testAnyEndpoint: forOperators.test,
      listAnyDeliveries: forOperators.listDeliveries,
      redeliverAny: forOperators.redeliver
    })
  })
)
