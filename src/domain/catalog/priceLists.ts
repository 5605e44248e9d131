/**
 * The rules of price lists: which version is in force, what it makes of the catalog's prices, and
 * what lists and catalogs forbid each other.
 */
import { Array as Arr, DateTime, Predicate, Schema } from "effect"
import {
  CHARACTERS_PER_QUOTE,
  formatNano,
  MAX_AMOUNT_NANO,
  NANO_PER_UNIT,
  SEARCHES_PER_QUOTE,
  TOKENS_PER_QUOTE
} from "../money/Money.ts"
import { nearestName } from "../nearest.ts"
import type { FieldFault } from "../requestFields.ts"
import type { CatalogDocument, Model } from "./CatalogDocument.ts"
import { findFaults, findWarnings } from "./CatalogRules.ts"
import {
  MAX_FACTOR,
  type PriceList,
  type PriceListTerms,
  type PriceListVersion
} from "./PriceList.ts"
import { Prices } from "./Prices.ts"
import type { ProtocolTables } from "./ProtocolTables.ts"

/** The first moment of a day in the time zone; a version without a day holds from the beginning. */
const startOf = (day: string | null, timeZone: string): number =>
  day === null
    ? Number.NEGATIVE_INFINITY
    : DateTime.toEpochMillis(DateTime.makeZonedUnsafe(day, { timeZone, adjustForTimeZone: true }))

/** The versions of a list with the times from which they hold. */
export interface ScheduledPriceList extends Pick<PriceList, "id" | "name" | "watermark"> {
  readonly versions: Arr.NonEmptyReadonlyArray<PriceListVersion & { readonly fromMillis: number }>
}

export const schedulePriceList = (
  { id, name, watermark, versions }: PriceList,
  timeZone: string
): ScheduledPriceList => ({
  id,
  name,
  watermark,
  versions: Arr.map(versions, (version) => ({
    ...version,
    fromMillis: startOf(version.holdsFrom, timeZone)
  }))
})

export const newestVersion = <V>({
  versions
}: {
  readonly versions: Arr.NonEmptyReadonlyArray<V>
}): V => Arr.lastNonEmpty(versions)

/**
 * The version in force: of those whose day has come, the one that was written last. Null before the
 * first of these days, when the catalog's prices stand.
 */
export const versionAt = (
  { versions }: ScheduledPriceList,
  nowMillis: number
): ScheduledPriceList["versions"][number] | null =>
  versions.findLast(({ fromMillis }) => fromMillis <= nowMillis) ?? null

/** The version in force, and those that come into force later. */
const liveVersions = (
  list: ScheduledPriceList,
  nowMillis: number
): ReadonlyArray<PriceListVersion> => {
  const inForce = versionAt(list, nowMillis)
  return list.versions.filter(
    ({ version, fromMillis }, index) =>
      version >= (inForce?.version ?? 0) &&
      list.versions.slice(index + 1).every((later) => later.fromMillis > fromMillis)
  )
}

// Factors

interface LeafPrice {
  /** The path in the price table, such as `per_second.720p`. */
  readonly path: string
  readonly nano: bigint
}

/** Every amount in a price table is a price. */
function* leavesOf(value: unknown, path = ""): Generator<LeafPrice> {
  if (typeof value === "bigint") {
    yield { path, nano: value }
  } else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) yield* leavesOf(entry, `${path}[${index}]`)
  } else if (Predicate.isObject(value)) {
    for (const [name, entry] of Object.entries(value)) {
      yield* leavesOf(entry, path === "" ? name : `${path}.${name}`)
    }
  }
}

const multiply = (value: unknown, factor: bigint): unknown => {
  if (typeof value === "bigint") return (value * factor) / NANO_PER_UNIT
  if (Array.isArray(value)) return value.map((entry) => multiply(entry, factor))
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, multiply(entry, factor)])
  )
}

const isPrices = Schema.is(Prices)

/** How the catalog writes a price: for how many units, in words, and with how many decimals. */
interface PriceForm {
  readonly units: bigint
  readonly unitLabel: string
  readonly decimals: number
}

const perUnit: PriceForm = { units: 1n, unitLabel: "", decimals: 9 }
const perMillionTokens: PriceForm = {
  units: TOKENS_PER_QUOTE,
  unitLabel: " per million tokens",
  decimals: 3
}

/** The form of a price in the table. A surcharge is for one image, whatever the table's unit is. */
const priceForm = (prices: Prices, { path }: LeafPrice): PriceForm => {
  switch (prices.kind) {
    case "token_video":
    case "tokens":
    case "image_tokens":
      return perMillionTokens
    case "video_table":
      return prices.unit === "token" && !path.startsWith("reference_surcharge")
        ? perMillionTokens
        : perUnit
    case "characters":
      return { units: CHARACTERS_PER_QUOTE, unitLabel: " per million characters", decimals: 3 }
    case "searches":
      return { units: SEARCHES_PER_QUOTE, unitLabel: " per thousand searches", decimals: 6 }
    case "second_video":
    case "image":
    case "audio_seconds":
      return perUnit
  }
}

/** What a price of the table stands for in the catalog: a price per token is written per million. */
const writtenNano = (prices: Prices, leaf: LeafPrice): bigint =>
  leaf.nano * priceForm(prices, leaf).units

const gcd = (one: bigint, other: bigint): bigint => (other === 0n ? one : gcd(other, one % other))

/** The factors next to this one by which every price of the models has an exact product. */
const nearestFactors = (models: ReadonlyArray<Model>, factor: bigint): ReadonlyArray<bigint> => {
  const common = models
    .flatMap(({ prices }) => [...leavesOf(prices)])
    .reduce((divisor, { nano }) => gcd(divisor, nano), 0n)
  const step = NANO_PER_UNIT / gcd(NANO_PER_UNIT, common)
  const below = (factor / step) * step
  return [below, below + step].filter((near) => near > 0n && near <= MAX_FACTOR && near !== factor)
}

const isExact = (prices: Prices, leaf: LeafPrice, factor: bigint): boolean =>
  (leaf.nano * factor) % NANO_PER_UNIT === 0n &&
  (writtenNano(prices, leaf) * factor) / NANO_PER_UNIT <= MAX_AMOUNT_NANO

/** The prices times the factor; null where a product is not exact or too large. */
const multiplied = (prices: Prices, factor: bigint): Prices | null => {
  for (const leaf of leavesOf(prices)) if (!isExact(prices, leaf, factor)) return null
  const products = multiply(prices, factor)
  return isPrices(products) ? products : null
}

/** The prices that the factor does not multiply exactly, with their models and what is wrong. */
const factorFaults = (catalog: Pick<CatalogDocument, "models">, factor: bigint) =>
  catalog.models.flatMap(({ id, prices }, index) => {
    if (prices === undefined) return []
    return [...leavesOf(prices)]
      .filter((leaf) => !isExact(prices, leaf, factor))
      .map((leaf) => {
        const { path, nano } = leaf
        const isTooLarge = (nano * factor) % NANO_PER_UNIT === 0n
        const { decimals, unitLabel } = priceForm(prices, leaf)
        return {
          path: `models[${index}].prices.${path}`,
          model: id,
          pricePath: path,
          price: formatNano(writtenNano(prices, leaf)),
          issue: isTooLarge
            ? `is more than ${formatNano(MAX_AMOUNT_NANO)}`
            : `has more than ${decimals} decimals${unitLabel}`
        }
      })
  })

/** Names the nearest factors that fit every price, for the end of a message. */
const suggestFactors = (models: ReadonlyArray<Model>, factor: bigint): string => {
  const near = nearestFactors(models, factor).map(formatNano)
  return near.length === 0 ? "" : `; the nearest that fits every price: ${near.join(" or ")}`
}

// Own prices

const withOwnPrices = (
  catalog: CatalogDocument,
  prices: NonNullable<PriceListTerms["prices"]>
): CatalogDocument => {
  const pricesById = new Map(Object.entries(prices))
  return {
    ...catalog,
    models: catalog.models.map((model) => {
      const own = pricesById.get(model.id)
      return own === undefined ? model : { ...model, prices: own }
    })
  }
}

/** The faults or warnings of the catalog with the list's prices that it does not have without. */
const causedByList = (
  findings: (catalog: CatalogDocument) => ReadonlyArray<FieldFault>,
  catalog: CatalogDocument,
  prices: NonNullable<PriceListTerms["prices"]>
): ReadonlyArray<FieldFault> => {
  const ofCatalog = new Set(findings(catalog).map(({ path, message }) => `${path} ${message}`))
  return findings(withOwnPrices(catalog, prices)).filter(
    ({ path, message }) => !ofCatalog.has(`${path} ${message}`)
  )
}

/** The model that a path of the catalog is about, and the rest of the path within its prices. */
const listPath = ({ models, mounts }: CatalogDocument, { path, message }: FieldFault) => {
  const [, list, position = "", rest = ""] = /^(models|mounts)\[(\d+)\](.*)$/.exec(path) ?? []
  const index = Number(position)
  const model = list === "models" ? models[index]?.id : mounts[index]?.model
  if (model === undefined) return { path: "prices", message: `${path}: ${message}` }
  return list === "models" && rest.startsWith(".prices")
    ? { path: `prices.${model}${rest.slice(".prices".length)}`, message }
    : { path: `prices.${model}`, message: `${path}: ${message}` }
}

const unknownModels = (
  { models }: CatalogDocument,
  prices: NonNullable<PriceListTerms["prices"]>
): ReadonlyArray<string> => {
  const ids = new Set(models.map(({ id }) => id))
  return Object.keys(prices).filter((id) => !ids.has(id))
}

// What lists and catalogs do to each other

/** The faults of a list under the catalog, by the paths of a list. */
export const priceListFaults = (
  { factor, prices = {} }: PriceListTerms,
  catalog: CatalogDocument,
  protocols: ProtocolTables
): ReadonlyArray<FieldFault> => {
  if (factor !== undefined) {
    const suggestion = suggestFactors(catalog.models, factor)
    return factorFaults(catalog, factor).map(({ model, pricePath, price, issue }, index) => ({
      path: "factor",
      message: `${price}, ${pricePath} of ${JSON.stringify(model)}, times ${formatNano(factor)} ${issue}${index === 0 ? suggestion : ""}`
    }))
  }
  const ids = catalog.models.map(({ id }) => id)
  return [
    ...unknownModels(catalog, prices).map((id) => {
      const aliased = catalog.models.find(({ aliases = [] }) => aliases.includes(id))
      const near = aliased?.id ?? nearestName(id, ids)
      const question = near === null ? "" : `; did you mean ${JSON.stringify(near)}?`
      return { path: `prices.${id}`, message: `no model has this id${question}` }
    }),
    ...causedByList((one) => findFaults(one, protocols), catalog, prices).map((fault) =>
      listPath(catalog, fault)
    )
  ]
}

/** The warnings about a list under the catalog, by the paths of a list. */
export const priceListWarnings = (
  { prices }: PriceListTerms,
  catalog: CatalogDocument,
  protocols: ProtocolTables
): ReadonlyArray<FieldFault> =>
  prices === undefined
    ? []
    : causedByList((one) => findWarnings(one, protocols, new Map()), catalog, prices).map(
        (warning) => listPath(catalog, warning)
      )

const byList = ({ name }: { readonly name: string }) => `the price list ${JSON.stringify(name)}`

/**
 * The faults that a catalog has because of the lists that are or will be in force, by the paths of
 * the catalog.
 */
export const faultsByPriceLists = (
  lists: ReadonlyArray<ScheduledPriceList>,
  catalog: CatalogDocument,
  protocols: ProtocolTables,
  nowMillis: number
): ReadonlyArray<FieldFault> =>
  lists.flatMap((list) =>
    liveVersions(list, nowMillis).flatMap(({ terms: { factor, prices = {} } }) =>
      factor === undefined
        ? causedByList((one) => findFaults(one, protocols), catalog, prices).map(
            ({ path, message }) => ({ path, message: `${message}, by ${byList(list)}` })
          )
        : factorFaults(catalog, factor).map(({ path, price, issue }) => ({
            path,
            message: `${price} times ${formatNano(factor)}, the factor of ${byList(list)}, ${issue}`
          }))
    )
  )

/** Warnings about a catalog from the lists: models that a list prices and the catalog lacks. */
export const warningsByPriceLists = (
  lists: ReadonlyArray<ScheduledPriceList>,
  catalog: CatalogDocument,
  protocols: ProtocolTables,
  nowMillis: number
): ReadonlyArray<FieldFault> =>
  lists.flatMap((list) =>
    liveVersions(list, nowMillis).flatMap(({ terms: { prices = {} } }) => [
      ...unknownModels(catalog, prices).map((id) => ({
        path: "models",
        message: `${byList(list)} has a price of ${JSON.stringify(id)}, which no model has as its id`
      })),
      ...causedByList((one) => findWarnings(one, protocols, new Map()), catalog, prices).map(
        ({ path, message }) => ({ path, message: `${message}, by ${byList(list)}` })
      )
    ])
  )

/** A model as it is priced, and whether a price list prices it. */
export interface PricedModel {
  readonly model: Model
  readonly isListed: boolean
}

/**
 * The model with the prices of a list. A model that the list does not price keeps the catalog's
 * prices. Writes of catalogs and of lists refuse factors without exact products; should there be
 * one all the same, the model has no price, so that orders are refused and not charged wrongly.
 */
export const priceModel = ({ factor, prices = {} }: PriceListTerms, model: Model): PricedModel => {
  if (factor === undefined) {
    const own = Object.hasOwn(prices, model.id) ? prices[model.id] : undefined
    return own === undefined
      ? { model, isListed: false }
      : { model: { ...model, prices: own }, isListed: true }
  }
  const { prices: ofCatalog, ...unpriced } = model
  if (ofCatalog === undefined) return { model, isListed: false }
  const products = multiplied(ofCatalog, factor)
  return { model: products === null ? unpriced : { ...unpriced, prices: products }, isListed: true }
}
