import { Schema } from "effect"

/**
 * A field that may be left out or null, which mean the same. `expected` is what an error says the
 * field should have been, such as "a whole number of seconds".
 */
export const optional = <S extends Schema.Top>(schema: S, expected: string) =>
  Schema.optionalKey(Schema.NullOr(schema).annotate({ expected: `${expected}, or null` }))
