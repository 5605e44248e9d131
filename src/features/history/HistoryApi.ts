/**
 * The operators' HTTP API of order timelines, of orphans, and of the audit log of administrative
 * writes.
 */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { publicStates } from "../../domain/taskStates.ts"
import { idFilter, timeQuery } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles } from "../../http/api/middlewares.ts"
import { ReferenceSurcharge } from "../../http/api/orders/QuotesApi.ts"
import { AppliedPriceListView, vendorBillFields } from "../../http/api/receipts.ts"
import {
  AttemptView,
  amount,
  arrayOf,
  cancellationFields,
  decimalOrNull,
  deletedObjects,
  flag,
  integer,
  list,
  nullable,
  oneOf,
  pageQuery,
  TaskFailure,
  Timestamp,
  text,
  textOrNull,
  timeOrNull,
  UsageEntry
} from "../../http/api/shared.ts"
import { CallPurpose } from "../../services/CallLog.ts"

export const OrphanView = Schema.Struct({
  id: text("The task, image or text request"),
  organization_id: text("Whose order it was"),
  channel: text("The channel it was sent on"),
  protocol: text("The protocol it was sent by"),
  upstream_model: text("The vendor's name of the model"),
  upstream_id: textOrNull("The vendor's id of the job, where it is known"),
  reason: text(
    "Why an operator should ask the vendor: `unread_answer` where the order is charged for an answer that could not be read"
  ),
  answer: nullable(
    Schema.Struct({
      status: integer("HTTP status"),
      bytes: integer("Bytes of the body that were read"),
      sha256: textOrNull("SHA-256 of the body in hex; null when it was not read to its end"),
      request_id: textOrNull("The vendor's own name of the request, where it told one")
    }),
    "The vendor's answer that could not be used; null where none came"
  ),
  usage: nullable(
    Schema.Struct({
      input_tokens: nullable(Schema.Int, "Input tokens; null where the vendor counts none apart"),
      output_tokens: integer("Output tokens, or those of a video")
    }),
    "What the vendor counted and no such order can have, where that is the reason: the order was charged otherwise"
  ),
  amount_held: amount("What had been held"),
  charge: decimalOrNull(
    "What the order is charged all the same, which a correction gives back; null where the hold was returned"
  ),
  created_at: Timestamp,
  resolved_at: timeOrNull("When an operator settled the case"),
  note: textOrNull("What the operator wrote")
}).annotate({
  identifier: "Orphan",
  description:
    "A job the vendor may have made unpaid, or one that is charged and was not delivered or wrongly counted"
})

const Transition = Schema.Struct({
  state: text("The state it came to"),
  at: Timestamp,
  by: text("What brought it there, such as create, poll or sweep")
})

/**
 * A call to a vendor. Consecutive polls of one gateway with the same result are one entry, with the
 * newest answer. The call that produced an image or a text has the size and the request id of its
 * answer; its `request` and `answer` are null.
 */
const UpstreamCall = Schema.Struct({
  id: text("The call's id; the order's own where its row tells of the call"),
  channel: text("Whose vendor was called"),
  purpose: oneOf(CallPurpose.literals, "What it was for"),
  method: textOrNull("HTTP method"),
  url: textOrNull("Address, without what is secret in it"),
  status: nullable(Schema.Int, "HTTP status; null without an answer"),
  failure: textOrNull("What went wrong on the way"),
  started_at: Timestamp,
  duration_ms: integer("Milliseconds until the answer"),
  bytes: nullable(Schema.Int, "Bytes of the answer"),
  request_id: textOrNull("The vendor's own name of the request, where it told one"),
  repeats: integer("How many calls in a row ended like this one"),
  last_at: Timestamp,
  request: Schema.Unknown.annotateKey({ description: "What was sent, without media and secrets" }),
  answer: Schema.Unknown.annotateKey({ description: "What came back, without media and secrets" })
})

/** A ledger entry. An entry of kind `usage` has the usage record, whose charge is its `amount`. */
const LedgerEntry = Schema.Struct({
  kind: oneOf(
    ["hold", "capture", "overage", "usage", "release"],
    "What moved it; overage is the part of a capture above the hold"
  ),
  amount: amount("How much"),
  at: Timestamp,
  usage: Schema.optionalKey(UsageEntry)
})

const Quote = Schema.Struct({
  kind: oneOf(
    [
      "token_video",
      "second_video",
      "video_table",
      "image",
      "image_tokens",
      "tokens",
      "characters",
      "audio_seconds",
      "searches"
    ],
    "How it is billed"
  ),
  amount: amount("What was held"),
  exposure: Schema.optionalKey(amount("The most it could come to, where that was more")),
  unit_price: amount("Price of a token, second, clip, image, character or search"),
  resolution: Schema.optionalKey(text("Resolution it was priced at")),
  tier: Schema.optionalKey(text("Price tier used")),
  with_video: Schema.optionalKey(flag("Priced with video input")),
  sound: Schema.optionalKey(nullable(Schema.Boolean, "Whether it was ordered with sound")),
  mode: Schema.optionalKey(text("What it was made from")),
  units: Schema.optionalKey(integer("Units held for")),
  reference_surcharge: ReferenceSurcharge,
  smart: Schema.optionalKey(flag("The model chose the length")),
  input_seconds: Schema.optionalKey(integer("Seconds of reference video")),
  output_seconds: Schema.optionalKey(integer("Seconds ordered or prepaid")),
  estimated_tokens: Schema.optionalKey(integer("Tokens held for")),
  images: Schema.optionalKey(integer("Images ordered")),
  input_unit_price: Schema.optionalKey(amount("Of text: price of an input token")),
  input_tokens: Schema.optionalKey(integer("Of text: input tokens held for")),
  output_tokens: Schema.optionalKey(integer("Of text: output tokens held for")),
  text_tokens: Schema.optionalKey(integer("Of images: text tokens held for")),
  image_tokens: Schema.optionalKey(integer("Of images: tokens of input images held for")),
  characters: Schema.optionalKey(integer("Of speech: characters held for")),
  milliseconds: Schema.optionalKey(integer("Of a transcription: measured length of the sound")),
  searches: Schema.optionalKey(integer("Of a ranking: searches held for")),
  documents: Schema.optionalKey(integer("Of a ranking: documents"))
}).annotate({ description: "The price as it was pinned at the order" })

/**
 * The timeline of an order. Fields of tasks are null for image and text requests without a task.
 */
export const TimelineView = Schema.Struct({
  id: text("The task, image or text request"),
  kind: oneOf(["video", "image", "text"], "What was ordered"),
  organization_id: text("Whose order it was"),
  member_id: text("Who ordered it"),
  key_id: textOrNull("The key it was ordered with"),
  model: textOrNull("The model that was ordered"),
  channel: text("The channel it was sent on"),
  protocol: text("The protocol it was sent by"),
  listed_protocol: textOrNull("The protocol the catalog listed the model under"),
  upstream_model: text("The vendor's name of the model"),
  upstream_id: textOrNull("The vendor's id of the job"),
  state: text("Where it stands, inner states included"),
  error: nullable(TaskFailure, "Why it failed"),
  completion_tokens: nullable(Schema.Int, "What the vendor reported"),
  ...vendorBillFields,
  summary: Schema.Unknown.annotateKey({ description: "The order without its text and media" }),
  quote: Quote,
  price_list: nullable(
    AppliedPriceListView,
    "The price list that priced it; null where the catalog's prices stood"
  ),
  created_at: Timestamp,
  submit_deadline: timeOrNull("When an unanswered submit is given up"),
  deadline: Timestamp,
  asked_at: timeOrNull("When the vendor was last asked"),
  next_poll_at: timeOrNull("When it is asked next"),
  unknown_since: timeOrNull("Since when the vendor does not know the task"),
  deleted_at: timeOrNull("When its owner deleted it: its addresses, words and calls are gone"),
  idempotency_key: flag("Whether it came with an Idempotency-Key"),
  transitions: arrayOf(Transition, "Every change of state, oldest first"),
  attempts: arrayOf(AttemptView, "The channels it was sent to, in their order"),
  upstream_calls: arrayOf(
    UpstreamCall,
    "Calls to the vendor, oldest first; of very many, the newest"
  ),
  upstream_calls_total: integer("How many calls there were, listed or not"),
  ledger: arrayOf(LedgerEntry, "What moved for it, oldest first"),
  orphan: nullable(OrphanView, "Set when an operator should ask the vendor about it")
})

export const AuditView = Schema.Struct({
  id: text("The entry's id"),
  at: Timestamp,
  action: text("What was asked for"),
  subject_id: textOrNull("What it was done to"),
  fields: Schema.Unknown.annotateKey({ description: "What the body said, without secrets" }),
  request_id: text("The request's `x-request-id`"),
  operator_id: textOrNull("Who asked; null where it was by GATEWAY_ADMIN_TOKEN"),
  operator_name: text("What the operator was called then"),
  status: integer("HTTP status it was answered with")
})

export class HistoryGroup extends HttpApiGroup.make("history").add(
  HttpApiEndpoint.get("readTask", "/tasks/:id", {
    params: { id: text("The task, image or text request") },
    success: TimelineView,
    error: errors.TaskNotFound
  }).annotateMerge(
    operation("Read a timeline", "Everything that happened to a task, its vendor and its money.")
  ),
  HttpApiEndpoint.delete("deleteTask", "/tasks/:id", {
    params: { id: text("The task of a video, images or speech") },
    success: Schema.Struct({
      id: text("The task's id"),
      object: oneOf(deletedObjects, "What was deleted"),
      deleted: flag("Whether it was deleted")
    }).annotate({ identifier: "DeletedTask" }),
    error: [errors.TaskNotFound, errors.TaskProcessing]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Delete a task",
        "What a task that has ended made, its files and its vendor's words, as its member can. The books stay."
      )
    ),
  HttpApiEndpoint.post("cancelTask", "/tasks/:id/cancel", {
    params: { id: text("The task of a video or images") },
    success: Schema.Struct({
      id: text("The task's id"),
      task_status: oneOf(publicStates, "The state of the task after the vendor was asked"),
      ...cancellationFields
    }).annotate({ identifier: "CancelledTask" }),
    error: errors.TaskNotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation(
        "Cancel a task",
        "Asks the vendor of a running task to cancel it, as its member can. The hold is released when the vendor reports the end."
      )
    ),
  HttpApiEndpoint.get("listOrphans", "/orphans", {
    query: {
      ...pageQuery,
      resolved: Schema.Literals(["true", "false"])
        .annotate({ description: "Whether to list settled cases; open ones when left out" })
        .pipe(Schema.withDecodingDefaultKey(Effect.succeed("false" as const))),
      organization_id: idFilter("organisation"),
      channel: idFilter("channel"),
      reason: Schema.optionalKey(
        plainText().annotate({ description: "Only those for this reason" })
      )
    },
    success: list(OrphanView)
  }).annotateMerge(
    operation(
      "List orphans",
      "Jobs that vendors may have made and nobody paid for, or that are charged and were not delivered."
    )
  ),
  HttpApiEndpoint.post("resolveOrphan", "/orphans/:id/resolve", {
    params: { id: text("The task, image or text request") },
    payload: Schema.Struct({
      note: plainText(500).annotate({ description: "How it was settled" })
    }),
    success: OrphanView,
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["operator", "finance"])
    .annotateMerge(operation("Resolve an orphan", "Notes how the case was settled.")),
  HttpApiEndpoint.get("listAudit", "/audit", {
    query: {
      ...pageQuery,
      operator_id: idFilter("operator"),
      action: Schema.optionalKey(
        plainText().annotate({ description: "Only this, such as `createKey`" })
      ),
      subject_id: Schema.optionalKey(
        plainText().annotate({ description: "Only what was done to this" })
      ),
      ...timeQuery
    },
    success: list(AuditView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation("List the audit", "What was done through this interface, refused or not.")
  )
) {}
