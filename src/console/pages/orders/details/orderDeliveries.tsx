/** The webhooks that told of an order, as steps of its timeline. */
import { Anchor, Text } from "@mantine/core"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ApiCall } from "../../../gateway/client.ts"
import { failureOf } from "../../../gateway/failures.ts"
import { useApiQuery } from "../../../gateway/hooks.tsx"
import type { Delivery, Endpoint, HookCalls } from "../../webhooks/hookCalls.ts"
import type { LifeStep } from "./OrderLife.tsx"

interface EndpointDelivery {
  readonly endpoint: Endpoint
  readonly delivery: Delivery
}

/** The maximum length of a page: every endpoint of an organisation fits one. */
const MAX_PAGE = 100
const CONCURRENCY = 5
const EVERY_MILLIS = 5_000

/** The endpoint of callbacks; none before the first callback. */
const callbacksOf =
  ({ callbacksId, readEndpoint }: HookCalls): ApiCall<ReadonlyArray<Endpoint>> =>
  (gateway) =>
    callbacksId === null
      ? Effect.succeed([])
      : readEndpoint(callbacksId)(gateway).pipe(
          Effect.map((endpoint) => [endpoint]),
          Effect.catchIf(
            (error) => failureOf(error).code === "not_found",
            () => Effect.succeed([])
          )
        )

/** The messages about an order to each endpoint: an endpoint has one or two of them. */
const deliveriesOf =
  (calls: HookCalls, task_id: string): ApiCall<ReadonlyArray<EndpointDelivery>> =>
  (gateway) =>
    Effect.gen(function* () {
      const { data } = yield* calls.list({ limit: MAX_PAGE })(gateway)
      const endpoints = [...data, ...(yield* callbacksOf(calls)(gateway))]
      const deliveries = yield* Effect.forEach(
        endpoints,
        (endpoint) =>
          Effect.map(calls.deliveries(endpoint.id, { task_id }, {})(gateway), (page) =>
            page.data.map((delivery) => ({ endpoint, delivery }))
          ),
        { concurrency: CONCURRENCY }
      )
      return deliveries.flat()
    })

interface Options {
  readonly orderId: string
  /** Whether the order may still end, which writes its messages. */
  readonly isOpen: boolean
  /** Whether the session may read the endpoints. */
  readonly isEnabled: boolean
  /** The address of an endpoint's page. */
  readonly hrefOf: (endpoint: Endpoint) => string
}

export const useDeliverySteps = (
  calls: HookCalls,
  { orderId, isOpen, isEnabled, hrefOf }: Options
): ReadonlyArray<LifeStep> => {
  const { t } = useTranslation("orders")
  const { t: webhooks } = useTranslation("webhooks")
  const { data = [] } = useApiQuery(
    [...calls.area, "ofOrder", orderId, isOpen],
    deliveriesOf(calls, orderId),
    {
      isEnabled,
      intervalMillis: EVERY_MILLIS,
      isFinal: (deliveries) =>
        !isOpen && deliveries.every(({ delivery }) => delivery.status !== "pending")
    }
  )
  return data
    .toSorted((one, other) => one.delivery.created_at.localeCompare(other.delivery.created_at))
    .map(({ endpoint, delivery }) => {
      const last = delivery.attempts.at(-1)
      const answer =
        last === undefined
          ? null
          : last.status === null
            ? last.error
            : t("life.answered", { status: last.status })
      return {
        key: `webhook ${delivery.id}`,
        stepStyle: delivery.status === "failed" ? "undelivered" : "notified",
        title: t("life.webhook", { type: delivery.type }),
        at: delivery.created_at,
        details: (
          <>
            <Anchor component={Link} href={hrefOf(endpoint)} size="sm" underline="always">
              {endpoint.name}
            </Anchor>
            {" · "}
            {webhooks(`deliveryStates.${delivery.status}`)}
            {answer === null ? null : <Text span size="sm" className="said">{` · ${answer}`}</Text>}
          </>
        )
      }
    })
}
