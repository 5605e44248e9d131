/** The operators' HTTP API of lists of all orders, and of orders that are tasks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Modality } from "../../domain/catalog/Modality.ts"
import { JobId, plainText } from "../../domain/plainText.ts"
import { publicStates, TaskState } from "../../domain/taskStates.ts"
import {
  currency,
  idFilter,
  listWithTotals,
  stateFilter,
  timeQuery,
  totalsQuery
} from "../../http/api/admin/lists.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { OrderView } from "../../http/api/orderViews.ts"
import {
  amount,
  constant,
  integer,
  Timestamp,
  textOrNull,
  timeOrNull,
  usageQuery
} from "../../http/api/shared.ts"
import { MAX_COUNTED_DAYS } from "../../services/OrderLists.ts"

export const TaskEntryView = Schema.Struct({
  ...OrderView.fields,
  object: constant("task", "Always `task`"),
  task_state: TaskState.annotate({ description: "The state, inner states included" }),
  deadline: Timestamp,
  asked_at: timeOrNull("When the vendor was last polled"),
  next_poll_at: timeOrNull("When the vendor is polled next"),
  summary: Schema.Unknown.annotateKey({ description: "The order without its text and media" })
}).annotate({ identifier: "TaskEntry", description: "An order that is a task" })

export const OrderTotalsView = Schema.Struct({
  count: integer("The number of orders"),
  processing: integer("The number of open orders"),
  succeeded: integer("The number of charged orders"),
  failed: integer("The number of failed orders"),
  held: amount("The holds of open orders"),
  charge: amount("What was charged"),
  returned: amount("The corrections made in this time, also those of earlier orders"),
  cost: amount("The vendors' prices of the charged orders, as far as they are known"),
  without_cost: integer("The number of charges with an unknown cost, which count as 0"),
  reported_cost: amount("What vendors report to bill for them, at `bill_unit_price`"),
  without_reported_cost: integer("The number of charges without it, which count as 0"),
  currency
}).annotate({ identifier: "OrderTotals" })

const listOf = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    ...listWithTotals(entry, OrderTotalsView).fields,
    next: textOrNull("The `after` of the next page; null on the last one")
  })

const orderQuery = {
  ...usageQuery,
  organization_id: idFilter("organisation"),
  member_id: idFilter("member"),
  key_id: idFilter("key"),
  model: idFilter("model"),
  modality: Schema.optionalKey(Modality.annotate({ description: "Only those of this modality" })),
  channel: idFilter("channel"),
  price_list: Schema.optionalKey(
    plainText().annotate({
      description:
        "Only orders that the price list with this id priced; `none` for those by the catalog's prices"
    })
  ),
  state: stateFilter(publicStates),
  ...timeQuery,
  upstream_id: Schema.optionalKey(
    JobId.annotate({ description: "Only the task with this id at the vendor" })
  ),
  prompt_digest: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[0-9a-f]{12}$/, {
        expected: "12 hex digits, as in an order's prompt_digest"
      })
    ).annotate({ description: "Only videos and images whose prompt has this digest" })
  ),
  ...totalsQuery
}

export const taskQuery = {
  ...orderQuery,
  task_state: Schema.optionalKey(
    TaskState.annotate({ description: "Only those in this state, which may be an inner one" })
  )
}

const PAGES =
  "A page looks at a few thousand orders at most: where filters leave few of them it may have fewer entries than asked for, even none, while `has_more` is true; `after` with the value of `next` goes on."
const SUMS = `Totals go by whole days, of a \`price_list\` by at most ${MAX_COUNTED_DAYS} of them`

export class OrderListsGroup extends HttpApiGroup.make("orderLists").add(
  HttpApiEndpoint.get("listOrders", "/orders", {
    query: orderQuery,
    success: listOf(OrderView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "List orders",
      `Videos, images and texts of one organisation or of all, newest first. ${PAGES} ${SUMS}, and there are none of an \`upstream_id\` or a \`prompt_digest\`.`
    )
  ),
  HttpApiEndpoint.get("listTasks", "/tasks", {
    query: taskQuery,
    success: listOf(TaskEntryView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "List tasks",
      `Orders that are tasks, newest first. ${PAGES} ${SUMS}; of tasks that have ended there are those of videos alone, with \`modality=video\`, and there are none of a \`task_state\`, an \`upstream_id\` or a \`prompt_digest\`.`
    )
  )
) {}
