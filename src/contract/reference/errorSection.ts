/** The section of the reference on errors, with a heading for each code, to which `doc_url` leads. */
import {
  type ErrorCode,
  type ErrorRow,
  errorTable,
  type RetryRule
} from "../../domain/errorTable.ts"

/** What a client or its developer does about each error. */
const remedies: Readonly<Record<ErrorCode, string>> = {
  modality_mismatch:
    "Send the order to the route of the model's modality, which `GET /v1/models/{id}` tells, or name another model.",
  modality_not_ready: "Choose a model of another modality; this one cannot be ordered yet.",
  video_unsupported_protocol:
    "Choose another model, and tell the operator: the catalog calls this model by a protocol that makes no videos.",
  image_unsupported_protocol:
    "Choose another model, and tell the operator: the catalog calls this model by a protocol that makes no images.",
  video_sku_invalid:
    "Take a value of `allowed`, or `nearest`; `GET /v1/models/{id}` has all limits of the model.",
  billing_unavailable:
    "Choose a value of `priced`, where the error has it, or another model. The operator sets the missing price in the catalog.",
  upstream_error:
    "Read `upstream`, which is what the vendor said. After a refusal of the order itself, change the order; after a failure of the vendor, send it again where `retryable` and `unpaid` are true.",
  insufficient_balance:
    "Have the operator deposit money, wait for open orders to end, or order something that holds less. `POST /v1/quotes` tells the hold.",
  member_cap_exceeded:
    "Have the member's cap raised, or wait for the next month. `GET /v1/balance` shows the cap and what is used.",
  budget_exceeded:
    "Have the budget that the error names raised, or wait for its next period, where it has one.",
  invalid_api_key:
    "Send `Authorization: Bearer KEY` with a key that is neither revoked nor expired; `GET /v1/me` tries one.",
  permission_denied:
    "Use a key with the scope and the models that the message names; `GET /v1/me` shows what the key may do.",
  model_not_found: "Take an id of `GET /v1/models`.",
  task_not_found:
    "Check the id. Tasks are read with a key of the organisation that ordered them, until they are deleted.",
  task_processing: "Wait for the end of the task, then delete it.",
  price_list_in_use:
    "Put its organisations on another list, or on none, with `PATCH /admin/v1/organizations/{id}`.",
  not_found:
    "Check the path and the ids in it; the message names the route that was probably meant, where one is similar.",
  method_not_allowed: "Use a method of `allow`.",
  payload_too_large:
    "Send a smaller body, such as a file id or a URL in place of inline media; where the organisation keeps too many files, delete some.",
  unsupported_media_type:
    "Send the `Content-Type` that the message names, without a `Content-Encoding`.",
  invalid_request:
    "Correct the field that `param` names; `faults` lists all of them, where there are several.",
  idempotency_conflict:
    "Wait `retry_after` seconds and repeat the request with the same key, which then gets the first answer. Where it is null, look for the order in `GET /v1/orders`.",
  idempotency_mismatch:
    "Use a new `Idempotency-Key` for each order, and repeat a request unchanged; a new deposit needs a new reference.",
  precondition_failed:
    "Read the catalog again, make the change on it, and send it with the new `ETag`.",
  channel_unavailable:
    "Wait `retry_after` seconds, where the error has it, or order another model. Without it, the operator has to enable a mount or a channel.",
  rate_limited:
    "Wait `retry_after` seconds, then send fewer requests at a time; SDKs do so by themselves.",
  overloaded: "Wait `retry_after` seconds and send the request again; SDKs do so by themselves.",
  internal_error:
    "Look for the order in `GET /v1/orders` before it is sent again, or send it with its `Idempotency-Key`. Give the operator the answer's `x-request-id`."
}

const retries: Readonly<Record<RetryRule, string>> = {
  no: "No, the same request gets the same answer.",
  later: "Yes, after `retry_after` seconds; where that is null, waiting does not help.",
  "not by itself": "Not by a program; a person decides.",
  "by its fields": "Where `retryable` is true; where `unpaid` is false, it may be paid twice."
}

const wireNameOf = (field: string): string =>
  field === "retryAfterSeconds" ? "retry_after" : field

const entryOf = (code: ErrorCode): string => {
  const { status, type, meaning, fields, retry, mayFollowPaidCall }: ErrorRow = errorTable[code]
  const names = Object.keys(fields).map((field) => `\`${wireNameOf(field)}\``)
  const isPaidTwice = mayFollowPaidCall && retry !== "by its fields"
  return [
    `## ${code}`,
    `${meaning}.`,
    [
      `- **HTTP status:** ${status}${code === "upstream_error" ? ", or the vendor's own" : ""}, type \`${type}\``,
      `- **What to do:** ${remedies[code]}`,
      `- **Send it again:** ${retries[retry]}${isPaidTwice ? " A paid job may have begun." : ""}`,
      ...(names.length === 0 ? [] : [`- **Further fields:** ${names.join(", ")}`])
    ].join("\n")
  ].join("\n\n")
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

export const errorSection = [
  "# Errors",
  ...Object.keys(errorTable).filter(isCode).map(entryOf)
].join("\n\n")
