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
 * A price per million tokens in the API, nano-units per single token in the code. A price whose
 * per-token value is not a whole number of nano-units (more than three decimals) is refused, so
 * that price times tokens is always exact.
 */
export const PerMillionTokens = Schema.String.annotate({
  description: "Decimal string: currency units per million tokens, at most three decimals",
  examples: ["46"]
}).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect({
      decode: (text: string) =>
        parseNano(text).pipe(
          Result.flatMap((perMillion) =>
            perMillion % TOKENS_PER_QUOTE === 0n
              ? Result.succeed(perMillion / TOKENS_PER_QUOTE)
              : Result.fail("a price per million tokens with at most 3 decimals")
          ),
          Result.mapError(expected),
          Effect.fromResult
        ),
      encode: (perToken: bigint) => Effect.succeed(formatNano(perToken * TOKENS_PER_QUOTE))
    })
  )
)
