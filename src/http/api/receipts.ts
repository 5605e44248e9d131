/** The receipt of a charge, for its member and for operators. */
import { Schema } from "effect"
import { billUnits } from "../../domain/money/vendorBill.ts"
import {
  AudioInputs,
  CharacterInputs,
  currency,
  formula,
  ImageInputs,
  ImageTokenInputs,
  SearchInputs,
  SecondVideoInputs,
  TableVideoInputs,
  TextInputs,
  TokenVideoInputs,
  tier
} from "./orders/QuotesApi.ts"
import {
  AttemptView,
  arrayOf,
  chargeParts,
  constant,
  decimal,
  decimalOrNull,
  integer,
  metadata,
  oneOf,
  text,
  textOrNull,
  time
} from "./shared.ts"

const Entry = Schema.Struct({
  id: text(
    "Id of the entry in the organisation's journal",
    "tr_vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
  ),
  kind: oneOf(
    ["hold", "capture", "release", "correction"],
    "`hold` reserves money, `capture` charges it, `release` gives the hold back, and `correction` gives back what was charged wrongly",
    "capture"
  ),
  amount: decimal("Positive; `debit` and `credit` say the direction", "5.0094"),
  debit: text("Account the amount leaves", "pool"),
  credit: text("Account the amount enters", "revenue"),
  at: time("When it was booked, ISO 8601 in UTC")
})

const Correction = Schema.Struct({
  id: text("Id of the entry in the organisation's journal"),
  amount: decimal("What was given back", "1.25"),
  reason: text("The reason", "The video had no sound"),
  reference: text("The operator's own reference", "ticket 17"),
  at: time("When it was booked, ISO 8601 in UTC")
})

export const ReceiptView = Schema.Struct({
  object: constant("receipt", "Always `receipt`"),
  id: text("Id of the usage record", "us_vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"),
  task_id: textOrNull(
    "The charged video task; null for other orders",
    "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
  ),
  model: text("The model ordered", "film-1"),
  modality: text("Its modality", "video"),
  currency,
  hold: decimal("The amount that was held before the vendor was called", "4.968"),
  exposure: Schema.optionalKey(
    decimal("The most it could cost; absent where that was the hold", "12.096")
  ),
  charge: decimal("What was charged", "5.0094"),
  difference: decimal("Charge less hold; negative when less was charged than held", "0.0414"),
  overage: decimal("The part of the charge above the hold; never negative", "0.0414"),
  unit: text(
    "The unit of billing: `token`, `second`, `clip`, `image`, `character` or `search`",
    "token"
  ),
  unit_price: decimal("Currency units per `unit`, exact", "0.000046"),
  units: integer("How many were charged; of text, the output tokens", 108900),
  input_units: integer("Of text, the input tokens that were charged; 0 for everything else", 0),
  input_unit_price: decimalOrNull(
    "Of text, currency units per input token; null for everything else"
  ),
  parts: chargeParts,
  basis: text(
    "How the units were determined: `upstream_usage`, `largest_plausible`, `formula`, `ordered_seconds`, `ordered_clip`, `requested_images`, `requested_characters`, `requested_searches`, or `unread_answer` where the vendor answered with success that could not be read",
    "upstream_usage"
  ),
  resolution: Schema.optionalKey(text("The resolution that was billed; absent for images", "720p")),
  tier: Schema.optionalKey(tier),
  inputs: Schema.Union([
    TokenVideoInputs,
    TableVideoInputs,
    SecondVideoInputs,
    ImageTokenInputs,
    ImageInputs,
    TextInputs,
    AudioInputs,
    SearchInputs,
    CharacterInputs
  ]).annotate({
    description: "The inputs of the calculation of the hold, as they were when it was taken"
  }),
  formula,
  corrected: decimal("The sum of the corrections", "0"),
  corrections: arrayOf(Correction, "The corrections of the charge"),
  entries: arrayOf(Entry, "The journal entries of this charge, oldest first"),
  explanation: text(
    "Why this was charged, in one sentence",
    "The vendor reported 108900 completion tokens at 0.000046 CNY each; 4.968 was held, so 0.0414 more was charged than held."
  ),
  metadata,
  created_at: time("When it was charged, ISO 8601 in UTC")
}).annotate({ identifier: "Receipt", description: "One charge, explained" })
export type ReceiptView = typeof ReceiptView.Type

export const vendorCost = textOrNull(
  "The vendor's price of it, in currency units; null where the mount has no cost"
)

export const AppliedPriceListView = Schema.Struct({
  id: text("The list's id"),
  name: text("Its name")
}).annotate({
  identifier: "AppliedPriceList",
  description: "The price list that priced the order"
})

/** The price list in operators' lists, where an order is one row. */
export const priceListId = textOrNull(
  "The id of the price list that priced it; null where the catalog's prices stood"
)

/** What the vendor itself says that it bills, beside the cost. */
export const vendorBillFields = {
  vendor_bill: Schema.NullOr(
    Schema.Struct({
      amount: decimal("How many", "3"),
      unit: oneOf(billUnits, "What the vendor bills in")
    })
  ).annotate({ description: "What the vendor reported to bill, or null" }),
  reported_cost: decimalOrNull("That at the mount's `bill_unit_price`; null where unknown"),
  cost_difference: decimalOrNull("`reported_cost` less `cost`; null where unknown")
}

export const OperatorReceiptView = Schema.Struct({
  ...ReceiptView.fields,
  cost: vendorCost,
  price_list: Schema.optionalKey(AppliedPriceListView),
  ...vendorBillFields,
  attempts: arrayOf(
    AttemptView,
    "The channels it was sent to, in their order; the last one made it"
  )
}).annotate({
  identifier: "OperatorReceipt",
  description: "One charge, and the channels it was sent to"
})
export type OperatorReceiptView = typeof OperatorReceiptView.Type
