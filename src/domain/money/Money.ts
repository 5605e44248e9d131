/**
 * Exact money. Every amount is a `bigint` of 10^-9 currency units ("nano-units"); the API uses
 * decimal strings. Nothing is rounded: a decimal with too many digits is refused.
 */
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

const NANO_DIGITS = 9
export const NANO_PER_UNIT = 10n ** BigInt(NANO_DIGITS)

/**
 * The largest amount of a single field: far above any balance, far below the maximum of
 * PostgreSQL's bigint.
 */
export const MAX_AMOUNT_NANO = 1_000_000_000n * NANO_PER_UNIT

const decimal = /^(0|[1-9]\d{0,9})(?:\.(\d{1,9}))?$/

/** Formats nano-units without trailing zeros: `4968000000n` is `"4.968"`, `0n` is `"0"`. */
export const formatNano = (amountNano: bigint): string => {
  const sign = amountNano < 0n ? "-" : ""
  const digits = (amountNano < 0n ? -amountNano : amountNano)
    .toString()
    .padStart(NANO_DIGITS + 1, "0")
  const integerDigits = digits.slice(0, -NANO_DIGITS)
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, "")
  return fraction === "" ? `${sign}${integerDigits}` : `${sign}${integerDigits}.${fraction}`
}

/** Parses a plain non-negative decimal (no sign, no exponent, at most nine decimals). */
export const parseNano = (text: string): Result.Result<bigint, string> => {
  const match = decimal.exec(text)
  if (match === null) {
    return Result.fail('a decimal string such as "12.5", with at most 9 decimals')
  }
  const [, whole = "0", fraction = ""] = match
  const amountNano = BigInt(whole) * NANO_PER_UNIT + BigInt(fraction.padEnd(NANO_DIGITS, "0"))
  return amountNano > MAX_AMOUNT_NANO
    ? Result.fail(`at most ${formatNano(MAX_AMOUNT_NANO)}`)
    : Result.succeed(amountNano)
}

const expected = (what: string) => new SchemaIssue.InvalidValue({ message: `Expected ${what}` })

/** A non-negative amount: a decimal string in the API, nano-units in the code. */
export const Amount = Schema.String.annotate({
  description: "Decimal string of currency units with at most nine decimals",
  examples: ["4.968"]
}).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect({
      decode: (text: string) => Effect.fromResult(Result.mapError(parseNano(text), expected)),
      encode: (amountNano: bigint) => Effect.succeed(formatNano(amountNano))
    })
  )
)

/** An amount greater than zero. */
export const PositiveAmount = Amount.check(
  Schema.isGreaterThanBigInt(0n, { expected: "an amount greater than 0" })
)

export const TOKENS_PER_QUOTE = 1_000_000n

/**
 * A price of many units in the API, nano-units of a single unit in the code. A price whose value of
 * one unit is not a whole number of nano-units is refused, so that price times units is always
 * exact. `decimals` is the number of decimals that such a price can have.
 */
const priceOfMany = (
  many: bigint,
  {
    of,
    decimals,
    example
  }: { readonly of: string; readonly decimals: number; readonly example: string }
) =>
  Schema.String.annotate({
    description: `Decimal string: currency units per ${of}, at most ${decimals} decimals`,
    examples: [example]
  }).pipe(
    Schema.decodeTo(
      Schema.BigInt,
      SchemaTransformation.transformEffect({
        decode: (text: string) =>
          parseNano(text).pipe(
            Result.flatMap((price) =>
              price % many === 0n
                ? Result.succeed(price / many)
                : Result.fail(`a price per ${of} with at most ${decimals} decimals`)
            ),
            Result.mapError(expected),
            Effect.fromResult
          ),
        encode: (nanoPerUnit: bigint) => Effect.succeed(formatNano(nanoPerUnit * many))
      })
    )
  )

export const PerMillionTokens = priceOfMany(TOKENS_PER_QUOTE, {
  of: "million tokens",
  decimals: 3,
  example: "46"
})

export const CHARACTERS_PER_QUOTE = 1_000_000n

export const PerMillionCharacters = priceOfMany(CHARACTERS_PER_QUOTE, {
  of: "million characters",
  decimals: 3,
  example: "100"
})

export const SEARCHES_PER_QUOTE = 1_000n

export const PerThousandSearches = priceOfMany(SEARCHES_PER_QUOTE, {
  of: "thousand searches",
  decimals: 6,
  example: "14"
})
