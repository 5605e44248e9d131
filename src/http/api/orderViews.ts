/** The views of orders of every kind: for operators, and for the member who ordered. */
import { Schema, Struct } from "effect"
import { publicStates } from "../../domain/taskStates.ts"
import { currency } from "./admin/lists.ts"
import { priceListId, vendorBillFields } from "./receipts.ts"
import {
  amount,
  constant,
  decimalOrNull,
  flag,
  metadata,
  nullable,
  oneOf,
  TaskFailure,
  Timestamp,
  text,
  textOrNull,
  timeOrNull
} from "./shared.ts"

export const OrderView = Schema.Struct({
  id: text("The order's id"),
  object: constant("order", "Always `order`"),
  kind: oneOf(["video", "image", "text"], "What was ordered"),
  organization_id: text("The organisation's id"),
  member_id: text("The member's id"),
  key_id: text("The id of the API key"),
  model: text("The ordered model"),
  modality: text("Its modality"),
  channel: text("The channel that has, or had, the order"),
  protocol: text("The protocol it was sent by"),
  upstream_model: text("The vendor's name of the model"),
  upstream_id: textOrNull("The vendor's id of the job, where it is known"),
  state: oneOf(publicStates, "The state that its client sees"),
  is_task: flag("Whether it is a task, which its client reads by its id"),
  error_code: textOrNull("Why it failed; null for all but failed orders"),
  hold: amount("The hold"),
  charge: amount("The charge; 0 while the order is open, and where it failed"),
  overage: amount("The part of the charge above the hold"),
  returned: amount("The sum of the corrections of the charge"),
  cost: decimalOrNull("The vendor's price of it; null where it is unknown"),
  ...vendorBillFields,
  price_list: priceListId,
  currency,
  metadata: nullable(metadata, "The metadata that the client sent; null without any"),
  prompt_digest: textOrNull(
    "A digest of the prompt, which is not stored: the first 12 characters of its SHA-256 in hex, for a video of the text that its vendor got; null for texts"
  ),
  created_at: Timestamp,
  closed_at: timeOrNull("When the hold was charged or given back; null while the order is open")
}).annotate({ identifier: "Order", description: "An order, with its hold and its charge" })

export const OwnOrderView = Schema.Struct({
  ...Struct.omit(OrderView.fields, [
    "organization_id",
    "member_id",
    "channel",
    "protocol",
    "upstream_model",
    "upstream_id",
    "cost",
    "price_list",
    ...Struct.keys(vendorBillFields)
  ]),
  error_message: textOrNull("Why it failed, in a sentence; null for all but failed orders"),
  error: nullable(TaskFailure, "`error_code` and `error_message`, as in the answer of a task"),
  usage_id: textOrNull("The id of its receipt, at `/v1/usage/{usage_id}`; null without a charge"),
  accepted_at: timeOrNull("When the vendor accepted the task; null for other orders"),
  deleted_at: timeOrNull("When the task was deleted")
}).annotate({
  identifier: "OwnOrder",
  description: "An order of the member, with its hold and its charge"
})
