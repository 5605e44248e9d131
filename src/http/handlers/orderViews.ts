/** Views of orders in lists, for operators and for members. */
import { formatNano } from "../../domain/money/Money.ts"
import { orderPrefixes } from "../../domain/orderIds.ts"
import type { ListedOrder } from "../../services/OrderLists.ts"
import { usageId } from "../../services/UsageLog.ts"
import { isoOrNull } from "./views.ts"

/** The state of the hold for each state of an order that clients see. */
export const orderStates = {
  processing: "open",
  succeeded: "captured",
  failed: "released"
} as const
const publicStateOf = { open: "processing", captured: "succeeded", released: "failed" } as const

const kindOf = (id: string) => {
  if (id.startsWith(orderPrefixes.video)) return "video" as const
  return id.startsWith(orderPrefixes.image) ? ("image" as const) : ("text" as const)
}

/** The fields of an order, without its owner, its vendor and its cost. */
export const orderView = (currency: string) => (order: ListedOrder) => ({
  id: order.id,
  object: "order" as const,
  kind: kindOf(order.id),
  key_id: order.keyId,
  model: order.model,
  modality: order.modality,
  state: publicStateOf[order.state],
  is_task: order.isTask,
  error_code: order.errorCode,
  hold: formatNano(order.holdNano),
  charge: formatNano(order.chargeNano),
  overage: formatNano(order.overageNano),
  returned: formatNano(order.returnedNano),
  currency,
  metadata: order.metadata,
  prompt_digest: order.promptDigest,
  created_at: order.createdAt.toISOString(),
  closed_at: isoOrNull(order.closedAt)
})

/** The view of an order for its member. */
export const makeOwnOrderView = (currency: string) => {
  const commonView = orderView(currency)
  return (order: ListedOrder) => ({
    ...commonView(order),
    error_message: order.errorMessage,
    error:
      order.errorCode === null
        ? null
        : { code: order.errorCode, message: order.errorMessage ?? "" },
    usage_id: order.state === "captured" ? usageId(order.id) : null,
    accepted_at: isoOrNull(order.acceptedAt),
    deleted_at: isoOrNull(order.erasedAt)
  })
}
