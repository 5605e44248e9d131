/** Lists of all orders, and of those that are tasks, for operators. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Modality } from "../../domain/catalog/Modality.ts"
import { JobId } from "../../domain/plainText.ts"
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
import {
  amount,
  constant,
  decimalOrNull,
  flag,
  integer,
  metadata,
  nullable,
  oneOf,
  Timestamp,
  text,
  textOrNull,
  timeOrNull,
  usageQuery
} from "../../http/api/shared.ts"

export const OrderView = Schema.Struct({
  id: text("The order's id"),
  object: constant("order", "Always `order`"),
  kind: oneOf(["video", "image", "text"], "What was ordered"),
  organization_id: text("Whose order it is"),
  member_id: text("Who ordered it"),
  key_id: text("The key it was ordered with"),
  model: text("The model that was ordered"),
  modality: text("Its modality"),
  channel: text("The channel it is at, or was made at"),
  protocol: text("The protocol it was sent by"),
  upstream_model: text("The vendor's name of the model"),
  upstream_id: textOrNull("The vendor's id of the job, where it is known"),
  state: oneOf(publicStates, "Where it stands, as its client is told"),
  is_task: flag("Whether it is a task, which its client reads by its id"),
  error_code: textOrNull("Why a task failed; null of all else"),
  hold: amount("What was set aside for it"),
  charge: amount("What was charged; 0 while it is open and where nothing came of it"),
  overage: amount("What was charged above the hold"),
  returned: amount("What was given back of the charge since"),
  cost: decimalOrNull("What the vendor bills for it; null where that is not known"),
  currency,
  metadata: nullable(metadata, "What the client noted with it; null where that was nothing"),
  prompt_digest: textOrNull(
    "What stands for the prompt, which is not kept: the first 12 characters of its SHA-256 in hex, of a video's text as its vendor got it; null of texts"
  ),
  created_at: Timestamp,
  closed_at: timeOrNull("When it was charged or given back; null while it is open")
}).annotate({ identifier: "Order", description: "An order, and what it came to" })

export const TaskEntryView = Schema.Struct({
  ...OrderView.fields,
  object: constant("task", "Always `task`"),
  task_state: TaskState.annotate({ description: "Where it stands, inner states included" }),
  deadline: Timestamp,
  asked_at: timeOrNull("When the vendor was last asked"),
  next_poll_at: timeOrNull("When it is asked next"),
  summary: Schema.Unknown.annotateKey({ description: "The order without its text and media" })
}).annotate({ identifier: "TaskEntry", description: "An order that is a task" })

export const OrderTotalsView = Schema.Struct({
  count: integer("Orders"),
  processing: integer("Those that are open"),
  succeeded: integer("Those that were charged"),
  failed: integer("Those that were given back"),
  held: amount("What is set aside for those that are open"),
  charge: amount("What was charged"),
  returned: amount("What was given back of charges in this time, also of earlier orders"),
  cost: amount("What vendors bill for what was charged, as far as it is known"),
  without_cost: integer("Charges whose cost is not known, which count as costing nothing"),
  currency
}).annotate({ identifier: "OrderTotals" })

const listOf = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    ...listWithTotals(entry, OrderTotalsView).fields,
    next: textOrNull("What `after` is on the next page; null on the last one")
  })

const orderQuery = {
  ...usageQuery,
  organization_id: idFilter("organisation"),
  member_id: idFilter("member"),
  key_id: idFilter("key"),
  model: idFilter("model"),
  modality: Schema.optionalKey(Modality.annotate({ description: "Only those of this modality" })),
  channel: idFilter("channel"),
  state: stateFilter(publicStates),
  ...timeQuery,
  upstream_id: Schema.optionalKey(
    JobId.annotate({ description: "Only tasks that the vendor calls by this" })
  ),
  prompt_digest: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[0-9a-f]{12}$/, {
        expected: "12 hex digits, as in an order's prompt_digest"
      })
    ).annotate({ description: "Only videos and images of the prompt that this stands for" })
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
const SUMS = "Totals go by whole days"

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
