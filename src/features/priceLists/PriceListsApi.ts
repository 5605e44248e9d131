/** The operators' HTTP API of price lists. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Day, priceListTerms } from "../../domain/catalog/PriceList.ts"
import { fieldCheck } from "../../domain/requestFields.ts"
import { Name } from "../../http/api/admin/bodies.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, BodyLimit, LookUp } from "../../http/api/middlewares.ts"
import {
  arrayOf,
  constant,
  decimalOrNull,
  flag,
  integer,
  list,
  nullable,
  pageQuery,
  Timestamp,
  text,
  textOrNull
} from "../../http/api/shared.ts"

const watermark = Schema.NullOr(Schema.Boolean).annotate({
  description:
    "Whether orders of its organisations are marked as made by AI, where neither the order nor the organisation says; null is the gateway's default"
})

const PriceListBody = Schema.Struct({
  name: Name,
  ...priceListTerms,
  holds_from: Schema.optionalKey(
    Schema.NullOr(Day).annotate({
      description:
        "The day of the deployment's time zone from which it holds, such as 2027-01-31; null or left out is at once. Until then the prices before it stand"
    })
  ),
  watermark: Schema.optionalKey(watermark)
}).check(
  fieldCheck(({ factor, prices }) => {
    if (factor === undefined && prices === undefined) {
      return [{ path: "factor", message: "Expected a factor, or prices of models" }]
    }
    return factor !== undefined && prices !== undefined
      ? [{ path: "prices", message: "Expected either a factor or prices, not both" }]
      : []
  })
)

const termFields = {
  version: integer("Counts the versions of the list"),
  factor: decimalOrNull("By which the catalog's prices are multiplied; null where it has `prices`"),
  prices: nullable(
    priceListTerms.prices.schema,
    "Own prices by model; null where it has a `factor`"
  ),
  holds_from: textOrNull("The day from which the version holds; null is from when it was written")
}

export const PriceListView = Schema.Struct({
  object: constant("price_list", "Always `price_list`"),
  id: text("The list's id"),
  name: text("Its name"),
  ...termFields,
  is_in_force: flag("Whether this version holds already"),
  until_then: nullable(
    Schema.Struct(termFields),
    "The version that holds before the day of this one; null where this one holds already, or the catalog's prices stand until then"
  ),
  watermark,
  organizations: integer("How many organisations are on it"),
  created_at: Timestamp,
  updated_at: Timestamp,
  updated_by: textOrNull("The operator who wrote this version")
}).annotate({
  identifier: "PriceList",
  description: "Prices that stand over the catalog's for the organisations on the list"
})
export type PriceListView = typeof PriceListView.Type

export const WrittenPriceList = Schema.Struct({
  ...PriceListView.fields,
  warnings: arrayOf(
    Schema.Struct({
      path: text("Path of the field"),
      message: text("What is the matter with it")
    }),
    "What is allowed but cannot be ordered at these prices"
  )
})

const params = idParams("price list")

export class PriceListsGroup extends HttpApiGroup.make("priceLists").add(
  HttpApiEndpoint.post("createPriceList", "/price-lists", {
    payload: PriceListBody,
    success: WrittenPriceList,
    error: bodyErrors
  })
    .annotate(AllowedRoles, ["operator"])
    .annotate(BodyLimit, "media")
    .annotateMerge(
      operation(
        "Create a price list",
        "A factor of all of the catalog's prices, or own prices of models. `PATCH /admin/v1/organizations/{id}` puts organisations on it."
      )
    ),
  HttpApiEndpoint.get("listPriceLists", "/price-lists", {
    query: pageQuery,
    success: list(PriceListView),
    error: errors.InvalidRequest
  }).annotateMerge(operation("List price lists", "With how many organisations are on each.")),
  HttpApiEndpoint.get("readPriceList", "/price-lists/:id", {
    params,
    success: PriceListView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read a price list", "Its newest version.")),
  HttpApiEndpoint.put("replacePriceList", "/price-lists/:id", {
    params,
    payload: PriceListBody,
    success: WrittenPriceList,
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotate(BodyLimit, "media")
    .annotateMerge(
      operation(
        "Replace a price list",
        "On every gateway within a second. What is left out falls back to its default. Before the day of the new version the one before stands; orders keep the price of their hold."
      )
    ),
  HttpApiEndpoint.delete("removePriceList", "/price-lists/:id", {
    params,
    success: Schema.Struct({
      id: text("The list's id"),
      object: constant("price_list.deleted", "Always `price_list.deleted`"),
      deleted: flag("Whether it was removed")
    }),
    error: [errors.NotFound, errors.PriceListInUse]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation("Remove a price list", "Only where no organisation is on it; its orders stay.")
    )
) {}
