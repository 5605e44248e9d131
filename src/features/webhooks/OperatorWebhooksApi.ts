/** The operators' own receivers of webhooks, and those of every organisation. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { operatorEvents, organizationEvents } from "../../domain/webhookEvents.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, LookUp } from "../../http/api/middlewares.ts"
import { listWithEnds, pageQuery } from "../../http/api/shared.ts"
import {
  DeletedEndpointView,
  DeliveryView,
  deliveryQuery,
  EndpointView,
  EndpointWithSecretView,
  endpointBodies,
  endpointParams,
  RedeliverBody,
  RedeliveryView,
  RotateBody,
  TestView
} from "./WebhooksApi.ts"

const bodies = endpointBodies([...organizationEvents, ...operatorEvents])

const owner = Schema.optionalKey(
  plainText().annotate({ description: "Whose it is; left out, the operators' own" })
)

export const NewAnyEndpointBody = Schema.Struct({ ...bodies.created, organization_id: owner })
export const AnyEndpointChangeBody = bodies.Change
export const AnyEndpointTestBody = bodies.Test

export class OperatorWebhooksGroup extends HttpApiGroup.make("operatorWebhooks").add(
  HttpApiEndpoint.post("createEndpointFor", "/webhook_endpoints", {
    payload: NewAnyEndpointBody,
    success: EndpointWithSecretView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Create a webhook endpoint",
        `The operators' own is told of ${operatorEvents.join(", ")}; an organisation's of what is its.`
      )
    ),
  HttpApiEndpoint.get("listEndpointsOf", "/webhook_endpoints", {
    query: { ...pageQuery, organization_id: owner },
    success: listWithEnds(EndpointView),
    error: [errors.InvalidRequest, errors.NotFound]
  }).annotateMerge(operation("List webhook endpoints", "Of the operators, or an organisation.")),
  HttpApiEndpoint.get("readAnyEndpoint", "/webhook_endpoints/:id", {
    params: endpointParams,
    success: EndpointView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(
      operation("Read a webhook endpoint", "Of the operators or of any organisation.")
    ),
  HttpApiEndpoint.post("changeAnyEndpoint", "/webhook_endpoints/:id", {
    params: endpointParams,
    payload: AnyEndpointChangeBody,
    success: EndpointView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(operation("Change a webhook endpoint", "What is left out stays as it is.")),
  HttpApiEndpoint.delete("deleteAnyEndpoint", "/webhook_endpoints/:id", {
    params: endpointParams,
    success: DeletedEndpointView,
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(operation("Delete a webhook endpoint", "With the messages to it.")),
  HttpApiEndpoint.post("rotateAnySecret", "/webhook_endpoints/:id/rotate_secret", {
    params: endpointParams,
    payload: RotateBody,
    success: EndpointWithSecretView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation("Rotate a secret", "Answers a new one, which is shown in this answer alone.")
    ),
  HttpApiEndpoint.post("testAnyEndpoint", "/webhook_endpoints/:id/test", {
    params: endpointParams,
    payload: AnyEndpointTestBody,
    success: TestView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(operation("Test a webhook endpoint", "Sends a sample of an event now, once.")),
  HttpApiEndpoint.get("listAnyDeliveries", "/webhook_endpoints/:id/deliveries", {
    params: endpointParams,
    query: deliveryQuery,
    success: listWithEnds(DeliveryView),
    error: [errors.InvalidRequest, errors.NotFound]
  }).annotateMerge(
    operation("List deliveries", "The messages to an endpoint and their attempts, newest first.")
  ),
  HttpApiEndpoint.post("redeliverAny", "/webhook_endpoints/:id/redeliver", {
    params: endpointParams,
    payload: RedeliverBody,
    success: RedeliveryView,
    error: [errors.InvalidRequest, errors.NotFound]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation("Send again", "One message, or all since a time, under their old ids.")
    )
) {}
