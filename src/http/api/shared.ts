/** Shapes several resources share. */
import { Effect, Schema, SchemaTransformation } from "effect"
import { Amount } from "../../domain/money/Money.ts"
import { plainText } from "../../domain/plainText.ts"

/** An amount that may be below zero, such as a balance after a settlement above its hold. */
export const SignedAmount = Schema.String.annotate({
  description: "Decimal string of currency units",
  examples: ["95.032"]
})

export const amount = (description: string) =>
  SignedAmount.annotate({ description: `${description}, in currency units` })

/** A pool as its members and operators see it. */
export const poolFields = {
  balance: amount("What the pool has"),
  held: amount("What open orders hold of it"),
  available: amount("What can still be ordered for")
}

/** Decimal string or null. */
export const AmountOrNull = Schema.NullOr(Amount)

/** How the operator's bodies are read: an unknown field may be a mistyped one. */
export const strictly = { onExcessProperty: "error", errors: "all" } as const

export const DEFAULT_PAGE = 20
export const MAX_PAGE = 100

/** A number in an address: digits and nothing else. */
export const wholeNumber = (minimum: number, maximum: number, description: string) => {
  const expected = `a whole number from ${minimum} to ${maximum}`
  return Schema.String.check(Schema.isPattern(/^\d{1,9}$/, { expected }))
    .annotate({ description: `${description}: ${expected}` })
    .pipe(
      Schema.decodeTo(
        Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected })),
        SchemaTransformation.numberFromString
      )
    )
}

export const pageQuery = {
  after: Schema.optionalKey(
    plainText().annotate({ description: "Id of the last entry of the page before" })
  ),
  limit: wholeNumber(1, MAX_PAGE, `Entries of a page, ${DEFAULT_PAGE} when left out`).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(String(DEFAULT_PAGE)))
  )
}

/** `{"object":"list","data":[...],"has_more"}`, newest first. */
export const list = <S extends Schema.Top>(entry: S) =>
  Schema.Struct({
    object: Schema.Literal("list").annotate({ description: "Tells that it is a list" }),
    data: Schema.Array(entry).annotate({ description: "The entries, newest first" }),
    has_more: Schema.Boolean.annotate({ description: "Whether a further page exists" })
  })

/** ISO 8601 with milliseconds, UTC. */
export const Timestamp = Schema.String.annotate({
  description: "ISO 8601 time, UTC",
  examples: ["2026-01-31T12:00:00.000Z"]
})

/** A text that is only ever answered, and what it says. */
export const told = (description: string) => Schema.String.annotate({ description })
export const toldOrNull = (description: string) =>
  Schema.NullOr(Schema.String).annotate({ description })
export const counted = (description: string) => Schema.Int.annotate({ description })

export const UsageEntry = Schema.Struct({
  id: told("The record's id"),
  model: told("The model that was ordered"),
  modality: told("Its modality"),
  input: counted("Input units that were charged"),
  output: counted("Tokens, seconds, or for images their number"),
  unit: told("What is counted: token, second or image"),
  unit_price: told("Currency units per output unit, exact"),
  input_unit_price: toldOrNull("Of text: currency units per input token; null for all else"),
  charge: told("What was charged, in currency units"),
  basis: told("What the number of units comes from, such as upstream_usage or requested_images"),
  task_id: toldOrNull("The video task; null for synchronous orders"),
  created_at: Timestamp
}).annotate({ identifier: "UsageRecord", description: "One charge" })

/** Makes a repeat of the request answer what the first one was answered. */
const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]{1,255}$/, { expected: "1 to 255 visible ASCII characters" })
).annotate({
  description:
    "1 to 255 visible ASCII characters that stand for this request: a repeat is answered what the first one was"
})

export const idempotencyHeader = { "idempotency-key": Schema.optionalKey(IdempotencyKey) }
