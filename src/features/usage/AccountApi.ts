/** The HTTP API of a member's own account: pool, month, usage, and the receipt of each charge. */
import { Effect, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { chargeUnits } from "../../domain/money/charges.ts"
import { sumSteps } from "../../domain/money/usageSums.ts"
import { plainText } from "../../domain/plainText.ts"
import { BudgetView } from "../../http/api/admin/budgets.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { LookUp, RequiredScope } from "../../http/api/middlewares.ts"
import { currency } from "../../http/api/orders/QuotesApi.ts"
import { ReceiptView } from "../../http/api/receipts.ts"
import {
  amount,
  arrayOf,
  CSV_DESCRIPTION,
  constant,
  decimalOrNull,
  exposureFields,
  integer,
  list,
  MAX_TAG,
  nullable,
  oneOf,
  poolFields,
  TIME_FORMAT,
  text,
  time,
  timeOrNull,
  UsageEntry,
  usageQuery
} from "../../http/api/shared.ts"
import { allScopes, Scope } from "../../services/Access.ts"

const applicableBudgetFields = [
  ...(["id", "scope", "period", "amount"] as const),
  ...(["used", "available", "is_member_cap", "resets_at"] as const)
] as const

/** A budget as the holder of a key sees it: what it bounds, and what is left. */
const ApplicableBudgetView = BudgetView.mapFields(Struct.pick(applicableBudgetFields)).annotate({
  identifier: "ApplicableBudget",
  description: "A budget that orders must fit into"
})

const BalanceView = Schema.Struct({
  currency: text("Currency of the amounts"),
  ...poolFields,
  ...exposureFields,
  month: Schema.Struct({
    cap: decimalOrNull("The member's cap; null is none"),
    used: amount("Charged in it"),
    held: amount("Held in it")
  }).annotate({ description: "The member's current calendar month" }),
  budgets: arrayOf(
    ApplicableBudgetView,
    "The budgets into each of which an order with this key must fit"
  )
}).annotate({
  identifier: "Balance",
  description: "The organisation's pool, the member's month and the budgets of the key's orders"
})

/** The groups of a member's series, which covers only the member's own orders. */
const memberSeriesGroups = ["model", "modality", "key", "tag"] as const

/** The query of a series of usage. */
export const seriesQuery = <const Groups extends ReadonlyArray<string>>(groups: Groups) => ({
  from: Schema.optionalKey(
    plainText().annotate({
      description: `The beginning. ${TIME_FORMAT}; some 48 hours, 31 days or 12 months back when left out`
    })
  ),
  to: Schema.optionalKey(
    plainText().annotate({
      description: `The end: a day is included, a time is not. ${TIME_FORMAT}; now when left out`
    })
  ),
  interval: oneOf(
    sumSteps,
    "The length of the time of a line, in the deployment's time zone; `day` when left out"
  ).pipe(Schema.withDecodingDefaultKey(Effect.succeed("day" as const))),
  by: Schema.optionalKey(
    oneOf(
      groups,
      "The field that the lines are grouped by; `tag` groups by the values of the name in `tag`"
    )
  ),
  tag: Schema.optionalKey(
    plainText(MAX_TAG).annotate({
      description: "Only orders with this in their `metadata`: a name, or `name=text`"
    })
  )
})

/**
 * The fields of a line. Of `model`, `modality`, `key` and `tag`, a line has only the field that the
 * series is grouped by.
 */
export const seriesFields = {
  start: time("When the hour, day or month begins, ISO 8601 in UTC"),
  model: Schema.optionalKey(text("The model")),
  modality: Schema.optionalKey(text("The modality")),
  key: Schema.optionalKey(text("The key's id")),
  tag: Schema.optionalKey(text("The text of the tag")),
  count: integer("The number of charges of orders of this time"),
  failed: integer("The number of orders of this time that ended without a charge"),
  charge: amount("The charges of orders of this time"),
  returned: amount("The corrections made in this time"),
  units: nullable(Schema.Int, "The charged units; null where they are of several kinds"),
  unit: nullable(
    oneOf(chargeUnits, "The unit of billing"),
    "The unit of billing; null where there are several, or nothing was charged"
  ),
  currency
}

/** A complete series, without pages. */
export const series = <S extends Schema.Top>(line: S) =>
  Schema.Struct({
    object: constant("list", "Always `list`"),
    data: arrayOf(line, "The lines in order of time and name; a line of nothing is left out")
  })

const SeriesLine = Schema.Struct(seriesFields).annotate({
  identifier: "UsageSum",
  description: "The usage of a time"
})

const KeyHolderView = Schema.Struct({
  object: constant("key", "Always `key`"),
  id: text("The key's id", "key_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"),
  name: text("The key's name", "production"),
  organization_id: text("The organisation's id"),
  organization_name: text("The organisation's name"),
  member_id: text("The id of the member whose key it is"),
  member_name: text("The member's name"),
  scopes: arrayOf(Scope, "What it may do"),
  models: nullable(Schema.Array(Schema.String), "The models it may order; null is all"),
  requests_per_minute: nullable(Schema.Int, "Its rate; null is the gateway's default"),
  expires_at: timeOrNull("When it expires; null is never"),
  currency
}).annotate({ identifier: "KeyHolder", description: "A key, its member and its permissions" })

export class AccountGroup extends HttpApiGroup.make("account").add(
  HttpApiEndpoint.get("usage", "/usage", {
    query: usageQuery,
    success: list(UsageEntry)
  })
    .annotate(RequiredScope, "usage")
    .annotateMerge(
      operation(
        "List usage",
        `The member's own charges, the newest order first, whenever it was charged. ${CSV_DESCRIPTION}`
      )
    ),
  HttpApiEndpoint.get("series", "/usage/series", {
    query: seriesQuery(memberSeriesGroups),
    success: series(SeriesLine),
    error: errors.InvalidRequest
  })
    .annotate(RequiredScope, "usage")
    .annotateMerge(
      operation("Read a series of usage", "Usage of the member by time, oldest first.")
    ),
  HttpApiEndpoint.get("balance", "/balance", { success: BalanceView })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "usage")
    .annotateMerge(
      operation(
        "Read the balance",
        "The balance of the pool, the member's month, and the budgets that apply to the key."
      )
    ),
  HttpApiEndpoint.get("readKey", "/me", { success: KeyHolderView })
    .annotate(LookUp, true)
    .annotate(RequiredScope, allScopes)
    .annotateMerge(
      operation(
        "Read the key",
        "The member and the permissions of the request's key. Any key may read this."
      )
    ),
  HttpApiEndpoint.get("receipt", "/usage/:id", {
    params: { id: text("Id of the usage record") },
    success: ReceiptView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotate(RequiredScope, "usage")
    .annotateMerge(
      operation("Read a receipt", "The hold and the charge of one order, with their calculation.")
    )
) {}
