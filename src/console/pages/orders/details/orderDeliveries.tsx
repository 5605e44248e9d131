/** The webhooks that told of an order, as steps of its timeline. */
import { Anchor, Text } from "@mantine/core"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ApiCall } from "../../../gateway/client.ts"
import { type PageCursor, useApiQuery } from "../../../gateway/hooks.tsx"
import type { Delivery, Endpoint, HookCalls } from "../../webhooks/hookCalls.ts"
import type { LifeStep } from "./OrderLife.tsx"

interface Order {
  readonly id: string
  readonly created_at: string
}
interface EndpointDelivery {
  readonly endpoint: Endpoint
  readonly delivery: Delivery
}

/** Pages of deliveries that are searched in each endpoint. */
const MAX_PAGES = 5
const EVERY_MILLIS = 5_000

/**
 * The deliveries of an order to one endpoint. They are listed newest first, so the search ends at
 * those that are older than the order.
 */
const deliveriesTo =
  (
    calls: HookCalls,
    endpoint: Endpoint,
    order: Order,
    cursor: PageCursor = {},
    pages = MAX_PAGES
  ): ApiCall<ReadonlyArray<EndpointDelivery>> =>
  (gateway) =>
    Effect.flatMap(
      calls.deliveries(endpoint.id, undefined, cursor)(gateway),
      ({ data, has_more }) => {
        const matches = data
          .filter(({ task_id }) => task_id === order.id)
          .map((delivery) => ({ endpoint, delivery }))
        const last = data.at(-1)
        const hasOlder = last !== undefined && last.created_at >= order.created_at
        if (!has_more || !hasOlder || pages === 1) return Effect.succeed(matches)
        const older = deliveriesTo(calls, endpoint, order, { after: last.id }, pages - 1)
        return Effect.map(older(gateway), (rest) => [...matches, ...rest])
      }
    )

const deliveriesOf =
  (calls: HookCalls, order: Order): ApiCall<ReadonlyArray<EndpointDelivery>> =>
  (gateway) =>
    Effect.gen(function* () {
      const { data } = yield* calls.list({})(gateway)
      const found = yield* Effect.forEach(data, (endpoint) =>
        deliveriesTo(calls, endpoint, order)(gateway)
      )
      return found.flat()
    })

interface Options {
  /** Whether the session may read the endpoints. */
  readonly isEnabled: boolean
  /** The address of an endpoint's page. */
  readonly hrefOf: (endpoint: Endpoint) => string
}

export const useDeliverySteps = (
  calls: HookCalls,
  order: Order,
  { isEnabled, hrefOf }: Options
): ReadonlyArray<LifeStep> => {
  const { t } = useTranslation("orders")
  const { t: webhooks } = useTranslation("webhooks")
  const { data = [] } = useApiQuery(
    [...calls.area, "ofOrder", order.id],
    deliveriesOf(calls, order),
    {
      isEnabled,
      intervalMillis: EVERY_MILLIS,
      isFinal: (deliveries) =>
        deliveries.length > 0 && deliveries.every(({ delivery }) => delivery.status !== "pending")
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
            <Anchor component={Link} href={hrefOf(endpoint)} size="sm">
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
