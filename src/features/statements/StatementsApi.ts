/** The HTTP API of monthly statements, to read, to print and to verify. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Month } from "../../domain/money/months.ts"
import { adjustmentKinds } from "../../domain/money/transfers.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { RequiredScope } from "../../http/api/middlewares.ts"
import {
  amount,
  arrayOf,
  constant,
  integer,
  list,
  nullable,
  oneOf,
  pageQuery,
  text,
  textOrNull,
  time
} from "../../http/api/shared.ts"
import { focusVersions } from "./focusRows.ts"

const charged = {
  count: integer("Charges of the orders of the month"),
  gross: amount("What was charged for the orders of the month"),
  returned: amount("What was given back of charges in the month"),
  net: amount("What was charged less what was given back")
}

const totals = {
  count: integer("How many there were"),
  amount: amount("What they come to")
}
const moved = (what: string) => Schema.Struct(totals).annotate({ description: what })

const transfer = {
  id: text("Id of the entry in the journal"),
  amount: amount("How much; above zero"),
  reference: text("What the operator calls it"),
  at: time("When it was made, ISO 8601 in UTC")
}

const sealFields = {
  at: time("When the month was sealed"),
  sha256: text("SHA-256 of the month's entries as CSV, in hex"),
  entries: integer("Entries it has, the opening and the closing line apart")
}

const Charges = Schema.Struct({
  ...charged,
  by_model: arrayOf(
    Schema.Struct({ model: text("The model"), ...charged }),
    "By model, the largest first"
  ),
  by_member: arrayOf(
    Schema.Struct({
      member_id: text("The member's id"),
      name: text("What the member is called now"),
      ...charged
    }),
    "By member, the largest first"
  ),
  by_tag: arrayOf(
    Schema.Struct({
      name: text("A name in the `metadata` of the orders"),
      value: text("Its text"),
      ...charged
    }),
    "By what clients noted with their orders, the largest first. An order with two notes stands in two lines; of very many lines the largest 1,000 are told"
  )
}).annotate({ description: "Charges of the month, as a whole and by what they are of" })

export const StatementView = Schema.Struct({
  object: constant("statement", "Always `statement`"),
  organization_id: text("Whose it is"),
  organization_name: text("What the organisation is called now"),
  month: Month,
  time_zone: text("The zone whose calendar it goes by", "UTC"),
  currency: text("The currency of the amounts"),
  from: time("When the month begins"),
  to: time("When the next one begins"),
  opening_balance: amount("What the pool had before"),
  closing_balance: amount("What the pool has after"),
  deposits: Schema.Struct({
    ...totals,
    data: arrayOf(
      Schema.Struct(transfer),
      "Each of them, the oldest first; the month's deposits and adjustments are listed up to 1,000 together"
    )
  }).annotate({ description: "Money that came in" }),
  charges: Charges,
  adjustments: Schema.Struct({
    credits: moved("What was given"),
    corrections: moved("What was given back of charges"),
    withdrawals: moved("What was taken out"),
    data: arrayOf(
      Schema.Struct({
        ...transfer,
        kind: oneOf(adjustmentKinds, "What it is"),
        reason: text("Why"),
        author: text("Who made it"),
        usage_id: textOrNull("The charge that a correction is about; null for the others")
      }),
      "Each of them, the oldest first"
    )
  }).annotate({ description: "What operators moved, by kind" }),
  open_orders: integer("Orders that are not closed yet, and may still be charged to the month"),
  open_amount: amount("What they hold"),
  sealed: nullable(
    Schema.Struct(sealFields),
    "What proves that the month is as it was; null until it is over and has no open order"
  )
}).annotate({ identifier: "Statement", description: "A month of an organisation's money" })
export type StatementView = typeof StatementView.Type

export const SealedMonthView = Schema.Struct({
  month: Month,
  opening_balance: StatementView.fields.opening_balance,
  closing_balance: StatementView.fields.closing_balance,
  sealed: Schema.Struct(sealFields).annotate({ description: "What proves that it is as it was" })
}).annotate({ identifier: "SealedMonth", description: "A month that does not change any more" })

export const sealedMonthsQuery = {
  after: Schema.optionalKey(Month.annotate({ description: "The last month of the page before" })),
  limit: pageQuery.limit
}

const AS_FILE =
  "With `Accept: text/csv` every entry of the month, whose SHA-256 is the seal's; with " +
  "`Accept: text/html` a page to print."

export const statementOperation = operation(
  "Read a statement",
  `A charge stands in the month its order was taken in, a deposit, credit, withdrawal or correction in the month it was made in. A month is sealed when it is over and has no open order; what comes later stands in the next one. ${AS_FILE}`
)

export const focusOperation = operation(
  "Read a month as FOCUS",
  "What the month's orders were charged, with corrections and credits, in the columns of the FinOps Open Cost and Usage Specification 1.2 or 1.3, as CSV. Deposits and withdrawals are payments, and stand in the statement alone."
)

export const focusQuery = {
  version: Schema.optionalKey(
    oneOf(focusVersions, "The version of the specification; 1.2 when left out", "1.3")
  )
}

export const sealedMonthsOperation = operation(
  "List sealed months",
  "The months that are over and do not change any more."
)

export const csvFile = HttpApiSchema.StreamUint8Array({ contentType: "text/csv" })

const params = { month: Month }

export class StatementsGroup extends HttpApiGroup.make("statements").add(
  HttpApiEndpoint.get("listStatements", "/statements", {
    query: sealedMonthsQuery,
    success: list(SealedMonthView),
    error: errors.InvalidRequest
  })
    .annotate(RequiredScope, "statements")
    .annotateMerge(sealedMonthsOperation),
  HttpApiEndpoint.get("readStatement", "/statements/:month", {
    params,
    success: StatementView,
    error: [errors.NotFound, errors.InvalidRequest]
  })
    .annotate(RequiredScope, "statements")
    .annotateMerge(statementOperation),
  HttpApiEndpoint.get("readFocus", "/statements/:month/focus", {
    params,
    query: focusQuery,
    success: csvFile,
    error: [errors.NotFound, errors.InvalidRequest]
  })
    .annotate(RequiredScope, "statements")
    .annotateMerge(focusOperation)
) {}
