/**
 * Looks up an image's price in a table by quality and size, and determines the values that must be
 * sent to the vendor so that the price is correct.
 */
import { Result, Schema } from "effect"
import { ANY, makeLineRules } from "../catalog/priceLines.ts"
import { BillingUnavailable } from "../Errors.ts"
import { PositiveAmount } from "../money/Money.ts"
import { plainText } from "../plainText.ts"
import { type FieldFault, fieldCheck } from "../requestFields.ts"

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

const MAX_IMAGE_TOKENS = 1_000_000
export const ImageTokens = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: MAX_IMAGE_TOKENS },
    { expected: `a whole number from 1 to ${MAX_IMAGE_TOKENS}` }
  )
)
const tableOf = <S extends Schema.Top>(value: S) => {
  const sizes = Schema.Record(Schema.String, value).check(
    hasPrice,
    maxEntries,
    fieldCheck(distinctNames)
  )
  return Schema.Record(Schema.String, sizes).check(hasPrice, maxEntries, fieldCheck(distinctNames))
}

/** The most output tokens of an image, by quality and then by size. */
export const ImageTokenTable = tableOf(ImageTokens).annotate({
  identifier: "ImageTokenTable",
  description:
    "The most output tokens of an image by quality and then by size; * is for every other"
})

const PricedName = plainText(64)

const lineFacts = {
  quality: Schema.optionalKey(
    PricedName.annotate({ description: "The quality, such as high; * or left out is any" })
  ),
  size: Schema.optionalKey(
    PricedName.annotate({ description: "The size, such as 1024x1024; * or left out is any" })
  ),
  edit: Schema.optionalKey(
    Schema.Union([Schema.Boolean, Schema.Literal(ANY)]).annotate({
      description:
        "Whether the order has input images: an edit, or reference images; * or left out is either"
    })
  )
}
const LineFacts = Schema.Struct(lineFacts)
type LineFacts = typeof LineFacts.Type
const factNames = ["quality", "size", "edit"] as const
type FactName = (typeof factNames)[number]

/** The facts of a line in words, such as `high 1024x1024 of an edit`. */
const imageLineInWords = ({ quality = ANY, size = ANY, edit = ANY }: LineFacts): string => {
  const words = [
    ...(quality === ANY ? [] : [quality]),
    ...(size === ANY ? [] : [size]),
    ...(edit === ANY ? [] : [edit ? "of an edit" : "without input images"])
  ]
  return words.length === 0 ? "any image" : words.join(" ")
}

const rules = makeLineRules<FactName, LineFacts>({
  names: factNames,
  keyOf: (value) => (typeof value === "string" ? tierKey(value) : value),
  inWords: imageLineInWords
})

/** Prices in nano-units per image, by the facts of the order. */
export const ImageLines = Schema.NonEmptyArray(
  Schema.Struct({ ...lineFacts, price: PositiveAmount })
)
  .check(
    Schema.isMaxLength(MAX_ENTRIES, { expected: `at most ${MAX_ENTRIES} lines` }),
    Schema.makeFilter(rules.faults)
  )
  .annotate({
    identifier: "ImagePriceLines",
    description:
      "Prices of an image by quality, size and whether it is an edit; of the lines that apply to an order, the most specific one counts. An order that names no quality or size is looked up at auto"
  })
export type ImageLines = typeof ImageLines.Type

/** The prices of an image: one for every image, a table, or lines. */
export type ImagePriceForm = bigint | ImageTable | ImageLines

/** Whether the prices of an image are a list of lines. */
export const isImageLines = <T>(prices: T): prices is Extract<T, ReadonlyArray<unknown>> =>
  Array.isArray(prices)

type TableOf<A> = Readonly<Record<string, Readonly<Record<string, A>>>>
type LinesOf<A> = ReadonlyArray<LineFacts & { readonly price: A }>

/** Every price of a table with its quality and size, for any representation of amounts. */
export const tableAmounts = <A>(table: TableOf<A>) =>
  Object.entries(table).flatMap(([quality, sizes]) =>
    Object.entries(sizes).map(([size, amount]) => ({ quality, size, amount }))
  )

/** Every price of an image with the names of its facts, for any representation of amounts. */
export const imageAmounts = <A extends string | bigint>(
  prices: A | TableOf<A> | LinesOf<A> | undefined
): ReadonlyArray<{ readonly names: ReadonlyArray<string>; readonly amount: A }> => {
  if (prices === undefined) return []
  if (typeof prices !== "object") return [{ names: [], amount: prices }]
  return isImageLines(prices)
    ? prices.map((line) => ({ names: [imageLineInWords(line)], amount: line.price }))
    : tableAmounts(prices).map(({ quality, size, amount }) => ({ names: [quality, size], amount }))
}

/** The fields of an order that the price of an image can depend on. */
export const imageDimensions = ["quality", "size"] as const
export type ImageDimension = (typeof imageDimensions)[number]

const isNamed = (table: object): boolean => Object.keys(table).some((name) => name !== ANY)

/** The fields that a price table distinguishes. */
export const pricedDimensions = (
  prices: ImagePriceForm | TableOf<number> | number | undefined
): ReadonlySet<ImageDimension> => {
  if (typeof prices !== "object") return new Set()
  if (isImageLines(prices)) {
    const named = prices.flatMap(rules.namedFacts)
    return new Set(imageDimensions.filter((dimension) => named.includes(dimension)))
  }
  const isPriced: Readonly<Record<ImageDimension, boolean>> = {
    quality: isNamed(prices),
    size: Object.values(prices).some(isNamed)
  }
  return new Set(imageDimensions.filter((dimension) => isPriced[dimension]))
}

/** The quality and size of an order; null for the one that the order does not name. */
type NamedTier = Readonly<Record<ImageDimension, string | null>>

/** The facts of an order that the price of an image can depend on. */
export interface ImageTier extends NamedTier {
  /** Whether the order has input images. */
  readonly edit: boolean
}

/** The facts of a tier in the form in which quotes store them; a fact that is not set is missing. */
export const orderedTierFields = {
  /** The ordered quality and size. */
  quality: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.String),
  /** Whether the order has input images; missing if it has none. */
  edit: Schema.optionalKey(Schema.Boolean)
}
const OrderedTier = Schema.Struct(orderedTierFields)

export const orderedTier = ({ quality, size, edit }: ImageTier): typeof OrderedTier.Type => ({
  ...(quality === null ? {} : { quality }),
  ...(size === null ? {} : { size }),
  ...(edit ? { edit: true } : {})
})

export interface TierPrice {
  readonly nanoPerImage: bigint
  /** The names of the applied price in the table. */
  readonly tier: Readonly<Record<ImageDimension, string>> & { readonly edit?: boolean }
  /** The values that must be sent to the vendor; null if the price does not depend on the field. */
  readonly vendorTier: NamedTier
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

/** The price by the most specific line that applies to the order. */
const priceByLines = (
  lines: ImageLines,
  requested: ImageTier
): Result.Result<TierPrice, BillingUnavailable> => {
  const { quality, size, edit } = requested
  const facts: LineFacts = { quality: quality ?? AUTO, size: size ?? AUTO, edit }
  const priced = lines.map(imageLineInWords)
  return Result.map(
    Result.fromOption(
      rules.lineFor(lines, facts),
      () =>
        new BillingUnavailable({
          message: `No price is configured for ${imageLineInWords(facts)}, so this order cannot be billed. Priced are: ${priced.join("; ")}.`,
          param: "model",
          priced
        })
    ),
    (line) => {
      const pricedFields = pricedDimensions(lines)
      const vendorName = (dimension: ImageDimension): string | null => {
        if (!pricedFields.has(dimension)) return null
        const name = line[dimension] ?? ANY
        return name === ANY ? normalizedName(requested[dimension] ?? AUTO) : name
      }
      return {
        nanoPerImage: line.price,
        tier: {
          quality: line.quality ?? ANY,
          size: line.size ?? ANY,
          ...(typeof line.edit === "boolean" ? { edit: line.edit } : {})
        },
        vendorTier: { quality: vendorName("quality"), size: vendorName("size") }
      }
    }
  )
}

export const tierPrice = (
  prices: ImageTable | ImageLines,
  requested: ImageTier
): Result.Result<TierPrice, BillingUnavailable> =>
  isImageLines(prices) ? priceByLines(prices, requested) : priceByTable(prices, requested)

/** An entry of a table by quality and size, with its names and the values for the vendor. */
export interface TierEntry<A> extends Pick<TierPrice, "tier" | "vendorTier"> {
  readonly value: A
}

const priceByTable = (
  table: ImageTable,
  requested: ImageTier
): Result.Result<TierPrice, BillingUnavailable> =>
  Result.map(tierEntry(table, requested), ({ value, ...names }) => ({
    nanoPerImage: value,
    ...names
  }))

/** Looks up an entry of a table by the quality and the size of an order. */
export const tierEntry = <A>(
  table: TableOf<A>,
  { quality, size }: ImageTier
): Result.Result<TierEntry<A>, BillingUnavailable> => {
  const row = entryOf(table, quality)
  if (row === null) return noPrice("quality", quality, table, "")
  const [rowName, sizes] = row
  const entry = entryOf(sizes, size)
  if (entry === null) return noPrice("size", size, sizes, ` at quality ${JSON.stringify(rowName)}`)
  const [sizeName, value] = entry
  return Result.succeed({
    value,
    tier: { quality: rowName, size: sizeName },
    vendorTier: {
      quality: vendorNameOf(table, rowName, quality),
      size: vendorNameOf(sizes, sizeName, size)
    }
  })
}
