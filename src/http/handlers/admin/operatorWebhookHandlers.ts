import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Access } from "../../../services/Access.ts"
import { OPERATORS, WebhookEndpoints } from "../../../services/delivery/WebhookEndpoints.ts"
import {
  AnyEndpointChangeBody,
  AnyEndpointTestBody,
  NewAnyEndpointBody
} from "../../api/admin/OperatorWebhooksApi.ts"
import { GatewayApi } from "../../api/GatewayApi.ts"
import { strictly } from "../../api/shared.ts"
import { RedeliverBody, RotateBody } from "../../api/WebhooksApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { makeWebhookAnswers } from "../webhookAnswers.ts"

const asNew = bodyOf(NewAnyEndpointBody, strictly)
const asChange = bodyOf(AnyEndpointChangeBody, strictly)
const asRotation = bodyOf(RotateBody, strictly)
const asTest = bodyOf(AnyEndpointTestBody, strictly)
const asRedelivery = bodyOf(RedeliverBody, strictly)

export const layerOperatorWebhookHandlers = HttpApiBuilder.group(
  GatewayApi,
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
