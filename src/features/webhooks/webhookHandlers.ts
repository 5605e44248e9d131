import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { organizationEvents } from "../../domain/webhookEvents.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { strictly } from "../../http/api/shared.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"
import {
  EndpointChangeBody,
  EndpointTestBody,
  NewEndpointBody,
  RedeliverBody,
  RotateBody,
  WebhooksGroup
} from "./WebhooksApi.ts"
import { makeWebhookAnswers } from "./webhookAnswers.ts"

/** Stands for the receiver of the organisation's callbacks. */
const CALLBACK = "callback"

const asNew = bodyOf(NewEndpointBody, strictly)
const asChange = bodyOf(EndpointChangeBody, strictly)
const asRotation = bodyOf(RotateBody, strictly)
const asTest = bodyOf(EndpointTestBody, strictly)
const asRedelivery = bodyOf(RedeliverBody, strictly)

export const layerWebhookHandlers = HttpApiBuilder.group(
  customerApi(WebhooksGroup),
  "webhooks",
  Effect.fn(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const answers = yield* makeWebhookAnswers

    /** The caller's organisation's. */
    const own = Effect.fnUntraced(function* (id: string) {
      const { organizationId } = yield* CurrentCaller
      return yield* id === CALLBACK
        ? endpoints.callbacks(organizationId)
        : endpoints.find(organizationId, id)
    })

    const written = handlers
      .handleRaw(
        "createEndpoint",
        Effect.fn("webhooks.create")(function* () {
          const body = yield* asNew
          const { organizationId } = yield* CurrentCaller
          return yield* answers.create(organizationId, body)
        })
      )
      .handleRaw(
        "changeEndpoint",
        Effect.fn("webhooks.change")(function* ({ params }) {
          const body = yield* asChange
          return yield* answers.change(yield* own(params.id), body)
        })
      )
      .handleRaw(
        "rotateSecret",
        Effect.fn("webhooks.rotate")(function* ({ params }) {
          const body = yield* asRotation
          return yield* answers.rotate(yield* own(params.id), body)
        })
      )
      .handleRaw(
        "testEndpoint",
        Effect.fn("webhooks.test")(function* ({ params }) {
          const body = yield* asTest
          return yield* answers.test(yield* own(params.id), body)
        })
      )
      .handleRaw(
        "redeliver",
        Effect.fn("webhooks.redeliver")(function* ({ params }) {
          const body = yield* asRedelivery
          return yield* answers.redeliver(yield* own(params.id), body)
        })
      )
    return written.handleAll({
      listEventTypes: () => Effect.succeed({ object: "list" as const, data: organizationEvents }),
      listEndpoints: Effect.fn("webhooks.list")(function* ({ query }) {
        const { organizationId } = yield* CurrentCaller
        return yield* answers.list(organizationId, query)
      }),
      readEndpoint: ({ params }) => Effect.map(own(params.id), answers.read),
      deleteEndpoint: Effect.fn("webhooks.delete")(function* ({ params }) {
        return yield* answers.remove(yield* own(params.id))
      }),
      listDeliveries: Effect.fn("webhooks.deliveries")(function* ({ params, query }) {
        return yield* answers.deliveries(yield* own(params.id), query)
      })
    })
  })
)
