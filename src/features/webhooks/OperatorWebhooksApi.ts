/** The operators' HTTP API of webhook endpoints: their own, and those of every organisation. */
import { Context, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { operatorEvents, organizationEvents } from "../../domain/webhookEvents.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles } from "../../http/api/middlewares.ts"
import { listWithEnds, pageQuery } from "../../http/api/shared.ts"
import {
  EndpointView,
  EndpointWithSecretView,
  endpointRoutes,
  newEndpointFields
} from "./WebhooksApi.ts"

const eventTypes = [...organizationEvents, ...operatorEvents] as const

const organizationId = Schema.optionalKey(
  plainText().annotate({ description: "Whose it is; left out, the operators' own" })
)

const writing = Context.make(AllowedRoles, ["operator"])

export class OperatorWebhooksGroup extends HttpApiGroup.make("operatorWebhooks").add(
  HttpApiEndpoint.post("createEndpointFor", "/webhook_endpoints", {
    payload: Schema.Struct({ ...newEndpointFields(eventTypes), organization_id: organizationId }),
    success: EndpointWithSecretView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotateMerge(writing)
    .annotateMerge(
      operation(
        "Create a webhook endpoint",
        `The operators' own is told of ${operatorEvents.join(", ")}; an organisation's of what is its.`
      )
    ),
  HttpApiEndpoint.get("listEndpointsOf", "/webhook_endpoints", {
    query: { ...pageQuery, organization_id: organizationId },
    success: listWithEnds(EndpointView),
    error: [errors.InvalidRequest, errors.NotFound]
  }).annotateMerge(operation("List webhook endpoints", "Of the operators, or an organisation.")),
  ...endpointRoutes(
    {
      read: "readAnyEndpoint",
      change: "changeAnyEndpoint",
      remove: "deleteAnyEndpoint",
      rotateSecret: "rotateAnySecret",
      test: "testAnyEndpoint",
      listDeliveries: "listAnyDeliveries",
      redeliver: "redeliverAny"
    },
    eventTypes,
    "Of the operators or of any organisation.",
    writing
  )
) {}
