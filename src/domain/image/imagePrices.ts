/**
 * Looks up an image's price in a table by quality and size, and determines the values that must be
 * sent to the vendor so that the price is correct.
 */
import { Result, Schema } from "effect"
import { BillingUnavailable } from "../Errors.ts"
import { PositiveAmount } from "../money/Money.ts"
import { plainText } from "../plainText.ts"
import { type FieldFault, fieldCheck } from "../requestFields.ts"

/** The name of the fallback row or column. */
const ANY = "*"
/** The value that leaves the choice to the vendor. */
export const AUTO = "auto"

const MAX_ENTRIES = 64

/**
 * Normalizes the spellings of a size that vendors treat as equal: `1024*1024` and `01024X1024`
 * become `1024x1024`.
 */
const normalizedName = (name: string): string => {
  const word = name.trim()
  const [, width, height] = /^0*(\d+)\s*[x*×]\s*0*(\d+)$/i.exec(word) ?? []
  return width === undefined || height === undefined ? word : `${width}x${height}`
}
const tierKey = (name: string): string => normalizedName(name).toLowerCase()

/** Faults of the names in a table: names that are invalid or that mean the same as another. */
const namesFaults = (names: ReadonlyArray<string>): ReadonlyArray<FieldFault> => {
  const namesByKey = new Map<string, string>()
  return names.flatMap((name) => {
    const key = tierKey(name)
    const earlierName = namesByKey.get(key)
    namesByKey.set(key, name)
    if (earlierName !== undefined)
      return [{ path: name, message: `Means the same as ${earlierName}` }]
    return Schema.is(plainText(64))(name) ? [] : [{ path: name, message: "Expected a short name" }]
  })
}

const distinctNames = (table: Readonly<Record<string, unknown>>): ReadonlyArray<FieldFault> =>
  namesFaults(Object.keys(table))
const hasPrice = Schema.isMinProperties(1, { expected: "at least one price" })
const maxEntries = Schema.isMaxProperties(MAX_ENTRIES, {
  expected: `at most ${MAX_ENTRIES} entries`
})

const Sizes = Schema.Record(Schema.String, PositiveAmount)
  .check(hasPrice, maxEntries, fieldCheck(distinctNames))
  .annotate({ description: "Prices by size, such as 1024x1024; * is for every other" })

/** Prices in nano-units per image, by quality and then by size. */
export const ImageTable = Schema.Record(Schema.String, Sizes)
  .check(hasPrice, maxEntries, fieldCheck(distinctNames))
  .annotate({
    identifier: "ImagePriceTable",
    description:
      "Prices of an image by quality, such as high, and then by size, such as 1024x1024. An order that names none is looked up at auto; * is for every other"
  })
export type ImageTable = typeof ImageTable.Type

/** Every price of a table with its quality and size, for any representation of amounts. */
export const imageAmounts = <A>(table: Readonly<Record<string, Readonly<Record<string, A>>>>) =>
  Object.entries(table).flatMap(([quality, sizes]) =>
    Object.entries(sizes).map(([size, amount]) => ({ quality, size, amount }))
  )

/** The fields of an order that the price of an image can depend on. */
export const imageDimensions = ["quality", "size"] as const
export type ImageDimension = (typeof imageDimensions)[number]

const isNamed = (table: object): boolean => Object.keys(table).some((name) => name !== ANY)

/** The fields that a price table distinguishes. */
export const pricedDimensions = (
  prices: bigint | ImageTable | undefined
): ReadonlySet<ImageDimension> => {
  if (typeof prices !== "object") return new Set()
  const isPriced: Readonly<Record<ImageDimension, boolean>> = {
    quality: isNamed(prices),
    size: Object.values(prices).some(isNamed)
  }
  return new Set(imageDimensions.filter((dimension) => isPriced[dimension]))
}

/** The quality and size of an order; null for the one that the order does not name. */
export type ImageTier = Readonly<Record<ImageDimension, string | null>>

export interface TierPrice {
  readonly nanoPerImage: bigint
  /** The names of the applied price in the table. */
  readonly tier: Readonly<Record<ImageDimension, string>>
  /** The values that must be sent to the vendor; null if the price does not depend on the field. */
  readonly vendorTier: ImageTier
}

/** The table entry for the requested name, with its name in the table. */
const entryOf = <A>(table: Readonly<Record<string, A>>, requested: string | null) => {
  const requestedKey = tierKey(requested ?? AUTO)
  const entries = Object.entries(table)
  return (
    entries.find(([name]) => name !== ANY && tierKey(name) === requestedKey) ??
    entries.find(([name]) => name === ANY) ??
    null
  )
}

/** The name to send to the vendor, in the spelling of the table. */
const vendorNameOf = (table: object, name: string, requested: string | null): string | null => {
  if (!isNamed(table)) return null
  return name === ANY ? normalizedName(requested ?? AUTO) : name
}

const noPrice = (param: ImageDimension, requested: string | null, table: object, of: string) => {
  const pricedNames = Object.keys(table)
  const what =
    requested === null ? `an order without a ${param}` : `${param} ${JSON.stringify(requested)}`
  return Result.fail(
    new BillingUnavailable({
      message: `No price is configured for ${what}${of}, so this order cannot be billed. Priced are: ${pricedNames.join(", ")}.`,
      param,
      priced: pricedNames
    })
  )
}

export const tierPrice = (
  table: ImageTable,
  { quality, size }: ImageTier
): Result.Result<TierPrice, BillingUnavailable> => {
  const row = entryOf(table, quality)
  if (row === null) return noPrice("quality", quality, table, "")
  const [rowName, sizes] = row
  const entry = entryOf(sizes, size)
  if (entry === null) return noPrice("size", size, sizes, ` at quality ${JSON.stringify(rowName)}`)
  const [sizeName, nanoPerImage] = entry
  return Result.succeed({
    nanoPerImage,
    tier: { quality: rowName, size: sizeName },
    vendorTier: {
      quality: vendorNameOf(table, rowName, quality),
      size: vendorNameOf(sizes, sizeName, size)
    }
  })
}
