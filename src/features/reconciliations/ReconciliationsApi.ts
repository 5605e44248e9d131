/** The HTTP API by which operators compare vendors' usage lists with the books. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, BodyLimit, LookUp } from "../../http/api/middlewares.ts"
import {
  constant,
  decimalOrNull,
  flag,
  integer,
  list,
  nullable,
  oneOf,
  pageQuery,
  Timestamp,
  text,
  textOrNull,
  time,
  timeOrNull
} from "../../http/api/shared.ts"
import { entryKinds } from "./reconciliation.ts"
import {
  decimalSigns,
  delimiters,
  listEncodings,
  listFormatNames,
  thousandsSigns
} from "./vendorLists.ts"

const namesOf = <K extends string>(signs: Readonly<Record<K, string>>): ReadonlyArray<K> =>
  (Object.keys(signs) as ReadonlyArray<string>).filter((name): name is K => name in signs)

const column = (what: string) =>
  Schema.optionalKey(plainText().annotate({ description: `Name of the column with ${what}` }))
const choice = <const L extends string>(names: ReadonlyArray<L>, description: string) =>
  Schema.optionalKey(oneOf(names, description))

export const reconciliationQuery = {
  channel: plainText().annotate({ description: "The channel whose vendor made the list" }),
  from: text("The first day, or a time; days are those of the deployment's zone", "2026-10-01"),
  to: text("The last day, which is included, or the time it ends at", "2026-10-31"),
  format: choice(
    listFormatNames,
    "Columns of a bill that is described to the public, by protocol; what is named beside it counts instead"
  ),
  id: column("the vendor's id of the task or of the request; needed where no format has it"),
  amount: column("what the vendor bills"),
  units: column("the tokens, seconds or images; one of amount and units is needed"),
  currency: column("the currency, which must be the deployment's"),
  decimal: choice(namesOf(decimalSigns), "What stands before decimals; `point` when left out"),
  thousands: choice(namesOf(thousandsSigns), "What groups digits; nothing when left out"),
  encoding: choice(
    listEncodings,
    "How the list is encoded; when left out what its byte order mark says, or UTF-8"
  ),
  delimiter: choice(
    namesOf(delimiters),
    "What separates cells; when left out what is most between the names"
  )
}

const here = "what the mounts' costs say the vendor bills"
const reported = "What the vendor reported to bill, at `bill_unit_price`"
const Total = Schema.Struct({
  count: integer("Entries: ids of the list, or charged orders without one"),
  amount_here: decimalOrNull(`By our books: ${here}; null where the list has no amounts`),
  amount_there: decimalOrNull("By the list; null where it has no amounts"),
  units_here: textOrNull("By our books: units that were charged; null where the list has none"),
  units_there: textOrNull("By the list; null where it has none"),
  reported: text(`${reported}; nothing for orders without a report`, "4.98")
}).annotate({ description: "Entries of a kind, summed up" })

export const ReconciliationView = Schema.Struct({
  object: constant("reconciliation", "Always `reconciliation`"),
  id: text("The reconciliation's id"),
  channel: text("The channel"),
  from: time("When the period begins"),
  to: time("When it has ended"),
  created_at: Timestamp,
  created_by: text("Who made it"),
  lines: integer("Lines of the list, without the first one"),
  currency: text("The currency of the amounts"),
  totals: Schema.Struct({
    matched: Total,
    different: Total,
    missing_there: Total,
    missing_here: Total,
    orphan: Total
  }).annotate({ description: "What came of it, by kind" })
}).annotate({
  identifier: "Reconciliation",
  description: "A vendor's list compared with the books, as they were then"
})
export type ReconciliationView = typeof ReconciliationView.Type

export const ReconciledEntryView = Schema.Struct({
  id: text("Its number in the reconciliation", "17"),
  kind: oneOf(
    entryKinds,
    "`different`: amount or units are not the same. `missing_there`: charged in the period, and not listed. `missing_here`: listed, and not charged. `orphan`: listed, and a job of ours that was given up. `matched`: the same"
  ),
  reason: textOrNull(
    "Of `missing_here`: `unknown`, `open`, `released` or `other_channel`; of an orphan why it is one; `no_cost` where the order's mount told no cost, `no_id` where the vendor told no id"
  ),
  vendor_id: textOrNull("The vendor's id; null where none was told"),
  line: nullable(Schema.Int, "The first line with it; null where it is not listed"),
  lines: integer("Lines with it, which count together"),
  order_id: textOrNull("The order; null where none is known"),
  organization_id: textOrNull("Whose order it is"),
  orders: integer("Charged orders with this id, which count together"),
  amount_here: decimalOrNull(`By our books: ${here}; null where that is not known`),
  amount_there: decimalOrNull("By the list"),
  units_here: textOrNull("By our books: units that were charged"),
  units_there: textOrNull("By the list"),
  reported: decimalOrNull(`${reported}; null where that is not known`),
  closed_at: timeOrNull("When the order was closed")
}).annotate({ identifier: "ReconciledEntry", description: "An id of the list, or an order" })
export type ReconciledEntryView = typeof ReconciledEntryView.Type

const params = { id: plainText().annotate({ description: "The reconciliation's id" }) }

export class ReconciliationsGroup extends HttpApiGroup.make("reconciliations").add(
  HttpApiEndpoint.post("reconcile", "/reconciliations", {
    query: reconciliationQuery,
    payload: Schema.String.annotate({
      description: "The list: names of columns in the first line, then a line an entry"
    }).pipe(HttpApiSchema.asText({ contentType: "text/csv" })),
    success: ReconciliationView,
    error: [errors.InvalidRequest, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotate(BodyLimit, "list")
    .annotateMerge(
      operation(
        "Reconcile a vendor's list",
        "Compares a vendor's usage list with the charged orders of its channel. A list with a fault is refused as a whole, with the line of each, and nothing of it is kept. Lines of one id count together. Only orders closed in the period can be missing there; a line finds its task whenever that was closed."
      )
    ),
  HttpApiEndpoint.get("listReconciliations", "/reconciliations", {
    query: {
      ...pageQuery,
      channel: Schema.optionalKey(plainText().annotate({ description: "Only of this channel" }))
    },
    success: list(ReconciliationView),
    error: errors.InvalidRequest
  }).annotateMerge(operation("List reconciliations", "Of all channels, or of one.")),
  HttpApiEndpoint.get("readReconciliation", "/reconciliations/:id", {
    params,
    success: ReconciliationView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read a reconciliation", "Its totals, as they were then.")),
  HttpApiEndpoint.get("listReconciledEntries", "/reconciliations/:id/entries", {
    params,
    query: {
      ...pageQuery,
      kind: Schema.optionalKey(oneOf(entryKinds, "Only entries of this kind"))
    },
    success: list(ReconciledEntryView),
    error: [errors.NotFound, errors.InvalidRequest]
  }).annotateMerge(
    operation(
      "List the entries of a reconciliation",
      "What differs or is missing first, and each kind in the order of the list. With `Accept: text/csv` all of them come as CSV, however many, from `after` on."
    )
  ),
  HttpApiEndpoint.delete("removeReconciliation", "/reconciliations/:id", {
    params,
    success: Schema.Struct({
      id: text("The reconciliation's id"),
      object: constant("reconciliation.deleted", "Always `reconciliation.deleted`"),
      deleted: flag("Whether it was removed")
    }),
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(operation("Remove a reconciliation", "With its entries."))
) {}
