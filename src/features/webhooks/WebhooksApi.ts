/** The HTTP API of webhook endpoints, with the field names of the `openai` package. */
import { Context, Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { type EventType, organizationEvents } from "../../domain/webhookEvents.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { LookUp, RequiredScope } from "../../http/api/middlewares.ts"
import {
  arrayOf,
  constant,
  flag,
  integer,
  listWithEnds,
  nullable,
  oneOf,
  pageQuery,
  strictParsing,
  Timestamp,
  text,
  textOrNull,
  timeOrNull
} from "../../http/api/shared.ts"

const unixTime = (description: string) => integer(`${description}, Unix seconds`, 1767225600)

const endpointFields = {
  id: text("The endpoint's id", "whe_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"),
  object: constant("webhook_endpoint", "Always `webhook_endpoint`"),
  name: text("What its owner calls it", "production"),
  url: text(
    "Where messages are sent; empty for the endpoint `callback`",
    "https://example.com/hooks"
  ),
  event_types: arrayOf(Schema.String, "What it is told of"),
  signing_secret_hint: textOrNull("How its secret ends", "whsec_...Fk4="),
  created_at: unixTime("When it was created"),
  updated_at: unixTime("When it was changed, or its secret was"),
  status: oneOf(["enabled", "disabled"], "A disabled one is told nothing", "enabled"),
  disabled_reason: textOrNull("Why it is disabled; null while it is not"),
  failing_since: nullable(
    unixTime("Since the first failure after the last success"),
    "Null while it works"
  )
}

export const EndpointView = Schema.Struct(endpointFields).annotate({
  identifier: "WebhookEndpoint",
  description: "A receiver of webhooks"
})

export const EndpointWithSecretView = Schema.Struct({
  ...endpointFields,
  signing_secret: text("Signs what is sent to it; shown here and never again", "whsec_MfKQ9r8G...")
}).annotate({
  identifier: "WebhookEndpointWithSecret",
  description: "A receiver of webhooks, with its new secret"
})

const DeletedEndpointView = Schema.Struct({
  id: endpointFields.id,
  object: constant("webhook_endpoint.deleted", "Always `webhook_endpoint.deleted`"),
  deleted: flag("Whether it was deleted")
})

const Name = plainText().annotate({ description: "What its owner calls it" })
const MAX_URL = 2048
const WebhookUrl = plainText(MAX_URL).annotate({
  description: "An https address, which must be public"
})

export const RotateBody = Schema.Struct({
  keep_old_secret_active_for_24_hours: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether both secrets sign for 24 hours; false when left out"
    })
  )
})

const TestView = Schema.Struct({
  object: constant("webhook_endpoint.test", "Always `webhook_endpoint.test`"),
  webhook_endpoint_id: endpointFields.id,
  event_type: text("The event that a sample was sent of", "video.completed"),
  success: Schema.Literal(true).annotate({
    description: "An answer came; `status_code` tells which"
  }),
  status_code: integer("The receiver's HTTP status", 200)
})

const Attempt = Schema.Struct({
  at: Timestamp,
  status: nullable(Schema.Int, "The receiver's HTTP status; null where no answer came"),
  duration_ms: integer("How long it took", 42),
  answer: textOrNull("How the answer begins, 1 kB at most"),
  error: textOrNull("Why no answer came")
})

export const deliveryStates = ["pending", "delivered", "failed"] as const

export const DeliveryView = Schema.Struct({
  id: text("The `webhook-id` of the message", "msg_0199c8f05b7e7c3a9d2e3f1a2b4c5d6e"),
  object: constant("webhook_delivery", "Always `webhook_delivery`"),
  type: text("What it tells of", "video.completed"),
  task_id: textOrNull("The task it tells of, if any"),
  url: textOrNull("Of a callback: the order's `callback_url`"),
  status: oneOf(deliveryStates, "Whether it arrived", "delivered"),
  created_at: Timestamp,
  next_attempt_at: timeOrNull("When it is sent next; null when it is not"),
  attempts: arrayOf(Attempt, "The last attempts, the newest last")
}).annotate({ identifier: "WebhookDelivery", description: "A message to an endpoint" })

export const deliveryQuery = {
  ...pageQuery,
  status: Schema.optionalKey(oneOf(deliveryStates, "Those in this state alone")),
  task_id: Schema.optionalKey(plainText().annotate({ description: "Those about this task alone" }))
}

export const RedeliverBody = Schema.Struct({
  delivery_id: Schema.optionalKey(
    plainText().annotate({ description: "Of the one to send again" })
  ),
  since: Schema.optionalKey(
    Schema.String.annotate({ description: "All that happened since then are sent again" }).check(
      Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)), {
        expected: "an ISO 8601 time such as 2026-01-31T12:00:00Z"
      })
    )
  )
}).annotate({ description: "Either of the two" })

const RedeliveryView = Schema.Struct({
  object: constant("webhook_redelivery", "Always `webhook_redelivery`"),
  redelivered: integer("How many are sent again", 1)
})

const endpointParams = {
  id: plainText().annotate({
    description: "The endpoint's id, or `callback` for that of the organisation's callbacks"
  })
}

const eventTypesOf = <const Types extends ReadonlyArray<EventType>>(types: Types) =>
  Schema.Array(Schema.Literals(types))
    .check(Schema.isMinLength(1), Schema.isMaxLength(types.length))
    .annotate({ description: "What it is told of" })

/** The body that creates an endpoint; it may subscribe to the listed types of events. */
export const newEndpointFields = <const Types extends ReadonlyArray<EventType>>(types: Types) => ({
  name: Name,
  url: WebhookUrl,
  event_types: eventTypesOf(types)
})

type Action =
  | "read"
  | "change"
  | "remove"
  | "rotateSecret"
  | "test"
  | "listDeliveries"
  | "redeliver"

/**
 * The routes for one webhook endpoint, which members' and operators' APIs share. They differ in
 * their identifiers and in the events that an endpoint may subscribe to.
 */
export const endpointRoutes = <
  const Ids extends Readonly<Record<Action, string>>,
  const Types extends ReadonlyArray<EventType>
>(
  ids: Ids,
  eventTypes: Types,
  readDescription: string,
  /** Annotations of the routes that change or send something. */
  writing: Context.Context<never>
) => {
  const identifier = <A extends Action>(action: A): Ids[A] => ids[action]
  const ChangeBody = Schema.Struct({
    name: Schema.optionalKey(Name),
    url: Schema.optionalKey(WebhookUrl),
    event_types: Schema.optionalKey(eventTypesOf(eventTypes)),
    enabled: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Whether it is told; true also after failures" })
    )
  })
  const TestBody = Schema.Struct({
    event_type: Schema.Literals(eventTypes).annotate({
      description: "The event that a sample is sent of"
    })
  })
  return [
    HttpApiEndpoint.get(identifier("read"), "/webhook_endpoints/:id", {
      params: endpointParams,
      success: EndpointView,
      error: errors.NotFound
    })
      .annotate(LookUp, true)
      .annotateMerge(operation("Read a webhook endpoint", readDescription)),
    HttpApiEndpoint.post(identifier("change"), "/webhook_endpoints/:id", {
      params: endpointParams,
      payload: ChangeBody,
      success: EndpointView,
      error: [errors.InvalidRequest, errors.NotFound]
    })
      .annotateMerge(writing)
      .annotateMerge(operation("Change a webhook endpoint", "What is left out stays as it is.")),
    HttpApiEndpoint.delete(identifier("remove"), "/webhook_endpoints/:id", {
      params: endpointParams,
      success: DeletedEndpointView,
      error: errors.NotFound
    })
      .annotateMerge(writing)
      .annotateMerge(operation("Delete a webhook endpoint", "With the messages to it.")),
    HttpApiEndpoint.post(identifier("rotateSecret"), "/webhook_endpoints/:id/rotate_secret", {
      params: endpointParams,
      payload: RotateBody,
      success: EndpointWithSecretView,
      error: [errors.InvalidRequest, errors.NotFound]
    })
      .annotateMerge(writing)
      .annotateMerge(
        operation("Rotate a secret", "Answers a new one, which is shown in this answer alone.")
      ),
    HttpApiEndpoint.post(identifier("test"), "/webhook_endpoints/:id/test", {
      params: endpointParams,
      payload: TestBody,
      success: TestView,
      error: [errors.InvalidRequest, errors.NotFound]
    })
      .annotateMerge(writing)
      .annotateMerge(operation("Test a webhook endpoint", "Sends a sample of an event now, once.")),
    HttpApiEndpoint.get(identifier("listDeliveries"), "/webhook_endpoints/:id/deliveries", {
      params: endpointParams,
      query: deliveryQuery,
      success: listWithEnds(DeliveryView),
      error: [errors.InvalidRequest, errors.NotFound]
    }).annotateMerge(
      operation("List deliveries", "The messages to an endpoint and their attempts, newest first.")
    ),
    HttpApiEndpoint.post(identifier("redeliver"), "/webhook_endpoints/:id/redeliver", {
      params: endpointParams,
      payload: RedeliverBody,
      success: RedeliveryView,
      error: [errors.InvalidRequest, errors.NotFound]
    })
      .annotateMerge(writing)
      .annotateMerge(
        operation("Send again", "One message, or all since a time, under their old ids.")
      )
  ] as const
}

export class WebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("listEventTypes", "/webhook_event_types", {
      success: Schema.Struct({
        object: constant("list", "Always `list`"),
        data: arrayOf(Schema.String, "What an endpoint may be told of")
      })
    })
      .annotate(LookUp, true)
      .annotateMerge(operation("List event types", "What webhooks tell an organisation of.")),
    HttpApiEndpoint.post("createEndpoint", "/webhook_endpoints", {
      payload: Schema.Struct(newEndpointFields(organizationEvents)),
      success: EndpointWithSecretView,
      error: errors.InvalidRequest
    }).annotateMerge(
      operation(
        "Create a webhook endpoint",
        "It is told of the organisation's events from now on. Its secret is shown in this answer alone."
      )
    ),
    HttpApiEndpoint.get("listEndpoints", "/webhook_endpoints", {
      query: pageQuery,
      success: listWithEnds(EndpointView),
      error: errors.InvalidRequest
    }).annotateMerge(operation("List webhook endpoints", "The organisation's, newest first.")),
    ...endpointRoutes(
      {
        read: "readEndpoint",
        change: "changeEndpoint",
        remove: "deleteEndpoint",
        rotateSecret: "rotateSecret",
        test: "testEndpoint",
        listDeliveries: "listDeliveries",
        redeliver: "redeliver"
      },
      organizationEvents,
      "How it is set up and doing.",
      Context.empty()
    )
  )
  .annotateEndpoints(RequiredScope, "webhooks")
  .annotate(HttpApi.PayloadParseOptions, strictParsing) {}
