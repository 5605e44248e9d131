/** What a client notes with an order, to find its usage by and to sum it up. */
import { Schema } from "effect"
import { plainText, storable } from "../plainText.ts"
import { optional } from "../requestFields.ts"

const MAX_PAIRS = 16
const MAX_NAME = 64
const MAX_VALUE = 512

const isName = Schema.is(plainText(MAX_NAME))

const Value = Schema.String.check(
  Schema.isMaxLength(MAX_VALUE, { expected: `a text of at most ${MAX_VALUE} characters` }),
  Schema.makeFilter((text) => storable(text) === text, {
    expected: "a text without NUL and halves of characters"
  })
)

/** Names and texts; null and nothing at all are no pairs. */
export const MetadataField = optional(
  Schema.Record(Schema.String, Value).check(
    Schema.makeFilter((pairs) => Object.keys(pairs).length <= MAX_PAIRS, {
      expected: `at most ${MAX_PAIRS} pairs`
    }),
    Schema.makeFilter((pairs) => Object.keys(pairs).every(isName), {
      expected: `names of 1 to ${MAX_NAME} characters, without control characters`
    })
  ),
  "an object of texts"
).annotate({
  description: `Up to ${MAX_PAIRS} names with texts, for the client's own use: kept with the usage, which can be listed by them`,
  examples: [{ project: "lighthouse" }]
})

export type Metadata = Readonly<Record<string, string>>

/** One pair, as a list is asked for it. */
export interface Tag {
  readonly name: string
  readonly value: string
}

/** Null where there is no pair. */
export const metadataOf = (body: { readonly metadata?: Metadata | null }): Metadata | null => {
  const { metadata = null } = body
  return metadata === null || Object.keys(metadata).length === 0 ? null : metadata
}
