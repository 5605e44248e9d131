/** Shapes several resources share. */
import { Effect, Schema, SchemaTransformation } from "effect"
import { Amount } from "../../domain/Money.ts"
import { plainText } from "../../domain/text.ts"

/** An amount that may be below zero, such as a balance after a settlement above its hold. */
export const SignedAmount = Schema.String.annotate({
  description: "Decimal string of currency units",
  examples: ["95.032"]
})

/** Decimal string or null. */
export const AmountOrNull = Schema.NullOr(Amount)

export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100

/** A number in an address: digits and nothing else. */
export const wholeNumber = (minimum: number, maximum: number) => {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return Schema.String.check(Schema.isPattern(/^\d{1,9}$/, { expected })).pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected })),
      SchemaTransformation.numberFromString
    )
  )
}

export const pageQuery = {
  after: Schema.optionalKey(plainText()),
  limit: wholeNumber(1, MAX_PAGE).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(String(DEFAULT_PAGE)))
  )
}

/** `{"object":"list","data":[...],"has_more"}`, newest first. */
export const list = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(entry),
    has_more: Schema.Boolean
  })

/** ISO 8601 with milliseconds, UTC. */
export const Timestamp = Schema.String.annotate({ examples: ["2026-01-31T12:00:00.000Z"] })

export const UsageEntry = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  modality: Schema.String,
  input: Schema.Int,
  /** Tokens, seconds, or for images their number. */
  output: Schema.Int,
  unit: Schema.String,
  /** Currency units per `unit`, exact. */
  unit_price: Schema.String,
  /** Of a text, per input token; `unit_price` is per output token then. Null for everything else. */
  input_unit_price: Schema.NullOr(Schema.String),
  charge: Schema.String,
  basis: Schema.String,
  task_id: Schema.NullOr(Schema.String),
  created_at: Timestamp
})

/** Makes a repeat of the request answer what the first one was answered. */
const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
)

export const idempotencyHeader = { "idempotency-key": Schema.optionalKey(IdempotencyKey) }
