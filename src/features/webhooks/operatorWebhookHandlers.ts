import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { operatorApi } from "../../http/api/contractOf.ts"
import { strictly } from "../../http/api/shared.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { Access } from "../../services/Access.ts"
import {
  AnyEndpointChangeBody,
  AnyEndpointTestBody,
  NewAnyEndpointBody,
  OperatorWebhooksGroup
} from "./OperatorWebhooksApi.ts"
import { OPERATORS, WebhookEndpoints } from "./WebhookEndpoints.ts"
import { RedeliverBody, RotateBody } from "./WebhooksApi.ts"
import { makeWebhookAnswers } from "./webhookAnswers.ts"

const asNew = bodyOf(NewAnyEndpointBody, strictly)
const asChange = bodyOf(AnyEndpointChangeBody, strictly)
const asRotation = bodyOf(RotateBody, strictly)
const asTest = bodyOf(AnyEndpointTestBody, strictly)
const asRedelivery = bodyOf(RedeliverBody, strictly)

export const layerOperatorWebhookHandlers = HttpApiBuilder.group(
  operatorApi(OperatorWebhooksGroup),
  "operatorWebhooks",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const endpoints = yield* WebhookEndpoints
    const answers = yield* makeWebhookAnswers

    const any = (id: string) => endpoints.find(null, id)
    /** Those of an organisation are not made before it is. */
    const ownerOf = ({ organization_id: id }: { readonly organization_id?: string }) =>
      id === undefined ? Effect.succeed(OPERATORS) : Effect.as(access.organization(id), id)

    const written = handlers
      .handleRaw(
        "createEndpointFor",
        Effect.fn("operatorWebhooks.create")(function* () {
          const body = yield* asNew
          return yield* answers.create(yield* ownerOf(body), body)
        })
      )
      .handleRaw(
        "changeAnyEndpoint",
        Effect.fn("operatorWebhooks.change")(function* ({ params }) {
          const body = yield* asChange
          return yield* answers.change(yield* any(params.id), body)
        })
      )
      .handleRaw(
        "rotateAnySecret",
        Effect.fn("operatorWebhooks.rotate")(function* ({ params }) {
          const body = yield* asRotation
          return yield* answers.rotate(yield* any(params.id), body)
        })
      )
      .handleRaw(
        "testAnyEndpoint",
        Effect.fn("operatorWebhooks.test")(function* ({ params }) {
          const body = yield* asTest
          return yield* answers.test(yield* any(params.id), body)
        })
      )
      .handleRaw(
        "redeliverAny",
        Effect.fn("operatorWebhooks.redeliver")(function* ({ params }) {
          const body = yield* asRedelivery
          return yield* answers.redeliver(yield* any(params.id), body)
        })
      )
    return written.handleAll({
      listEndpointsOf: Effect.fn("operatorWebhooks.list")(function* ({ query }) {
        return yield* answers.list(yield* ownerOf(query), query)
      }),
      readAnyEndpoint: ({ params }) => Effect.map(any(params.id), answers.read),
      deleteAnyEndpoint: Effect.fn("operatorWebhooks.delete")(function* ({ params }) {
        return yield* answers.remove(yield* any(params.id))
      }),
      listAnyDeliveries: Effect.fn("operatorWebhooks.deliveries")(function* ({ params, query }) {
        return yield* answers.deliveries(yield* any(params.id), query)
      })
    })
  })
)
