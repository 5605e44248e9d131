/**
 * The form of price lists. A list has either a factor of all of the catalog's prices, or own prices
 * of named models. The rules are in `priceLists.ts`.
 */
import { Schema } from "effect"
import { NANO_PER_UNIT, PositiveAmount } from "../money/Money.ts"
import { Id } from "./CatalogDocument.ts"
import { Prices } from "./Prices.ts"

/** The name in queries for no price list: the catalog's prices. It is no list's id. */
export const NO_PRICE_LIST = "none"

/** In units of 10^-9, as the factors of lists. */
export const MAX_FACTOR = 1000n * NANO_PER_UNIT

/** A factor in the code is an integer of 10^-9, like an amount. */
const Factor = PositiveAmount.check(
  Schema.isLessThanOrEqualToBigInt(MAX_FACTOR, {
    expected: `a factor of at most ${MAX_FACTOR / NANO_PER_UNIT}`
  })
)

/** What a list says about prices; it has exactly one of the fields. */
export const priceListTerms = {
  factor: Schema.optionalKey(
    Factor.annotate({
      description:
        "Decimal string by which all of the catalog's prices are multiplied, exactly; more than 0, at most 1000, with at most nine decimals",
      examples: [850_000_000n]
    })
  ),
  prices: Schema.optionalKey(
    Schema.Record(Id, Schema.Union(Prices.members)).annotate({
      description:
        "Own prices by the id of the model, in the form of a model's prices; other models keep the catalog's"
    })
  )
}
export const PriceListTerms = Schema.Struct(priceListTerms)
export type PriceListTerms = typeof PriceListTerms.Type

/** Whether the day is in the calendar: `Date` takes the 30th of February for a day of March. */
const isInCalendar = (day: string): boolean => {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}

/** A day of the deployment's time zone. */
export const Day = Schema.String.check(
  Schema.isPattern(/^[12]\d{3}-\d\d-\d\d$/, { expected: "a day such as 2027-01-31" }),
  Schema.makeFilter(isInCalendar, { expected: "a day of the calendar such as 2027-01-31" })
)

/** A list as it was written at one time. */
export const PriceListVersion = Schema.Struct({
  version: Schema.Int,
  holdsFrom: Schema.NullOr(Schema.String),
  terms: PriceListTerms,
  createdAt: Schema.DateFromString,
  /** The operator who wrote it; null where no operator did. */
  author: Schema.NullOr(Schema.String)
})
export type PriceListVersion = typeof PriceListVersion.Type

export const PriceList = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** Whether orders of its organisations are marked by default; null where the list does not say. */
  watermark: Schema.NullOr(Schema.Boolean),
  /** The versions in the order in which they were written. */
  versions: Schema.NonEmptyArray(PriceListVersion)
})
export type PriceList = typeof PriceList.Type

/** The list that priced an order, which may be removed by now. */
export const AppliedPriceList = PriceList.mapFields(({ id, name }) => ({ id, name }))
export type AppliedPriceList = typeof AppliedPriceList.Type
