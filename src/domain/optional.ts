/** Fields that may be left out or null, which mean the same. */
import { Schema } from "effect"

/** `expected` is what an error says the field should have been, such as "a whole number of seconds". */
export const optional = <S extends Schema.Top>(schema: S, expected: string) =>
  Schema.optionalKey(Schema.NullOr(schema).annotate({ expected: `${expected}, or null` }))

/** JSON's own `true` and `false`. */
export const optionalBoolean = optional(Schema.Boolean, "true or false, without quotes")

/** A whole number, within the bounds if any. */
export const optionalWholeNumber = (
  expected: string,
  bounds?: { readonly minimum: number; readonly maximum: number }
) => {
  const whole = Schema.Number.check(Schema.isInt({ expected }))
  return optional(
    bounds === undefined ? whole : whole.check(Schema.isBetween(bounds, { expected })),
    `${expected}, without quotes`
  )
}
