/**
 * The response of a replay: what a month's orders would have been charged and would have cost under
 * a catalog.
 */
import { Schema } from "effect"
import { amount, arrayOf, integer, text } from "../../http/api/shared.ts"

const sumFields = {
  count: integer("Charged orders"),
  charge_before: amount("What was charged for them; corrections since do not count"),
  charge_after: amount("What would have been charged; nothing for the `unpriced`"),
  difference: amount("`charge_after` less `charge_before`"),
  cost_before: amount("What vendors bill for them; nothing for the `without_cost_before`"),
  cost_after: amount(
    "What the channels that made them would have billed; nothing for the `unpriced` and the `without_cost`"
  ),
  margin_before: amount("`charge_before` less `cost_before`"),
  margin_after: amount("`charge_after` less `cost_after`"),
  unpriced: integer(
    "Orders that the catalog has no price for: their model or its price is gone, or it counts what is not kept with them"
  ),
  without_cost_before: integer("Orders whose mount told no cost"),
  without_cost: integer(
    "Orders with a price whose model is not mounted any more on the channel that made them, or without a cost for them"
  )
}

export const CatalogReplay = Schema.Struct({
  month: text("The month", "2026-10"),
  currency: text("The currency of the amounts"),
  price_list: Schema.optionalKey(
    text(
      "The price list by which all of them are reckoned, or `none`; absent where each is by the list that its organisation is on"
    )
  ),
  organization_id: Schema.optionalKey(text("Whose orders they are; absent where all are")),
  data: arrayOf(
    Schema.Struct({ model: text("The model"), ...sumFields }).annotate({
      identifier: "ReplayedModel",
      description: "The orders of one model"
    }),
    "By model, in order of their names"
  ),
  totals: Schema.Struct(sumFields).annotate({ description: "All of them" })
}).annotate({
  identifier: "CatalogReplay",
  description: "The charged orders of a month of the deployment's time zone, under the catalog"
})
