/** Metadata that a client stores with an order, to filter and group its usage. */
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

/** The metadata field of a request; null and a missing field mean no metadata. */
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

/** One name and value, as a filter of a list. */
export interface Tag {
  readonly name: string
  readonly value: string
}

/** The metadata of a request; null if it has no pairs. */
export const metadataOf = (body: { readonly metadata?: Metadata | null }): Metadata | null => {
  const { metadata = null } = body
  return metadata === null || Object.keys(metadata).length === 0 ? null : metadata
}
