/** The operators' HTTP API of sums of usage and costs over all organisations. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { sumGroups } from "../../domain/money/usageSums.ts"
import { plainText } from "../../domain/plainText.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import {
  amount,
  decimalOrNull,
  integer,
  list,
  oneOf,
  pageQuery,
  text,
  wholeNumber
} from "../../http/api/shared.ts"
import { series, seriesFields, seriesQuery } from "./AccountApi.ts"

const MAX_COSTS = 1000

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true
const day = (description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.makeFilter(isDay, { expected: "a day such as 2026-01-31" })
  )

/** Amounts that only operators see. */
const costFields = {
  cost: amount("What vendors bill for it, as far as their mounts tell"),
  without_cost: integer("Charges whose mount told no cost, which count as costing nothing"),
  reported_cost: amount("What vendors report to bill, at `bill_unit_price`"),
  without_reported_cost: integer("Charges without it, which count as 0"),
  margin: decimalOrNull(
    "Charges less what was given back of charges, and less costs, in currency units; null where the cost of a charge is unknown"
  )
}

/**
 * A line of costs. Of `model`, `channel`, `organization` and `day`, a line has only the field that
 * the costs are grouped by.
 */
export const CostView = Schema.Struct({
  model: Schema.optionalKey(text("The model")),
  channel: Schema.optionalKey(text("The channel that made it")),
  organization: Schema.optionalKey(text("The organisation's id")),
  day: Schema.optionalKey(text("The day it was ordered", "2026-01-31")),
  count: integer("Charges"),
  charge: amount("What was charged"),
  returned: amount("What was given back of charges in this time"),
  ...costFields,
  currency: text("The currency of the amounts")
}).annotate({ identifier: "Costs", description: "Charges and costs of one name" })

const SumView = Schema.Struct({
  ...seriesFields,
  member: Schema.optionalKey(text("The member's id")),
  organization: Schema.optionalKey(text("The organisation's id")),
  channel: Schema.optionalKey(text("The channel that made it")),
  ...costFields
}).annotate({
  identifier: "OperatorUsageSum",
  description: "What the orders of a time came to and cost"
})

const ownerFilter = (whose: string) =>
  Schema.optionalKey(plainText().annotate({ description: `Only of this ${whose}` }))

export class UsageSumsGroup extends HttpApiGroup.make("usageSums").add(
  HttpApiEndpoint.get("readSeries", "/usage/series", {
    query: {
      ...seriesQuery(sumGroups),
      organization_id: ownerFilter("organisation"),
      member_id: ownerFilter("member"),
      key_id: ownerFilter("key"),
      model: ownerFilter("model"),
      channel: ownerFilter("channel")
    },
    success: series(SumView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "Read a series of usage",
      "What orders came to, by time; the oldest first. An order counts when it was ordered, and what was given back of a charge when it was given back."
    )
  ),
  HttpApiEndpoint.get("readCosts", "/costs", {
    query: {
      from: day("The first day"),
      to: day("The last day, which is included"),
      by: oneOf(["model", "channel", "organization", "day"], "What the sums are of"),
      after: pageQuery.after,
      limit: wholeNumber(1, MAX_COSTS, `Entries of a page, ${MAX_COSTS} when left out`).pipe(
        Schema.withDecodingDefaultKey(Effect.succeed(String(MAX_COSTS)))
      )
    },
    success: list(CostView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "Read the costs",
      "What was charged for the orders of some days of the deployment's time zone, and what vendors bill for it, by name."
    )
  )
) {}
