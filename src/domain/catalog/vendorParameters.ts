/**
 * Vendor-specific fields that clients may add to an order. The row of each protocol lists its own
 * fields; none of them changes what the vendor bills.
 */
import { Schema } from "effect"
import type { FieldFault } from "../requestFields.ts"

const description = Schema.String.annotate({ description: "What it does" })

const kind = <K extends string>(name: K) =>
  Schema.Literal(name).annotate({ description: "The kind of its values" })

/** The type and the allowed values of one vendor field. */
export const VendorParameter = Schema.Union([
  Schema.Struct({
    type: kind("boolean"),
    default: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "What holds where it is left out, if that is known" })
    ),
    description
  }),
  Schema.Struct({
    type: kind("integer"),
    minimum: Schema.Int.annotate({ description: "The least it may be" }),
    maximum: Schema.Int.annotate({ description: "The most it may be" }),
    description
  }),
  Schema.Struct({
    type: kind("number"),
    minimum: Schema.Finite.annotate({ description: "The least it may be" }),
    maximum: Schema.Finite.annotate({ description: "The most it may be" }),
    description
  }),
  Schema.Struct({
    type: kind("text"),
    max_length: Schema.Int.annotate({ description: "Characters it may have" }),
    description
  }),
  Schema.Struct({
    type: kind("choice"),
    values: Schema.Array(Schema.String).annotate({ description: "What it may be" }),
    description
  })
]).annotate({ identifier: "VendorParameter", description: "A field of the vendor's own" })
export type VendorParameter = typeof VendorParameter.Type

/** The vendor parameters, by field name. */
export type VendorParameters = Readonly<Record<string, VendorParameter>>

/** The values of the vendor fields in an order, without missing and null fields. */
export type VendorValues = Readonly<Record<string, boolean | number | string>>

/**
 * Whether PostgreSQL can store a text, which excludes NUL and lone surrogates. The vendor fields
 * that an order depends on are stored with its price.
 */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")

const isWithin = (value: number, { minimum, maximum }: { minimum: number; maximum: number }) =>
  value >= minimum && value <= maximum

/** A description of the expected value; null if the value is valid. */
const expectedOf = (parameter: VendorParameter, value: unknown): string | null => {
  switch (parameter.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "true or false, without quotes"
    case "integer":
      return Number.isInteger(value) && isWithin(Number(value), parameter)
        ? null
        : `a whole number from ${parameter.minimum} to ${parameter.maximum}, without quotes`
    case "number":
      return typeof value === "number" && isWithin(value, parameter)
        ? null
        : `a number from ${parameter.minimum} to ${parameter.maximum}, without quotes`
    case "text":
      return typeof value === "string" &&
        value !== "" &&
        value.length <= parameter.max_length &&
        isStorable(value)
        ? null
        : `a text of 1 to ${parameter.max_length} characters, without NUL`
    case "choice":
      return typeof value === "string" && parameter.values.includes(value)
        ? null
        : `one of ${parameter.values.join(", ")}`
  }
}

/** The faults of every field of the body that is a vendor parameter with an invalid value. */
export const parameterFaults = (
  body: Readonly<Record<string, unknown>>,
  parameters: VendorParameters
): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  for (const name of Object.keys(parameters)) {
    const parameter = parameters[name]
    const value = body[name] ?? null
    const expectation =
      value === null || parameter === undefined ? null : expectedOf(parameter, value)
    if (expectation !== null) faults.push({ path: name, message: `Expected ${expectation}` })
  }
  return faults
}

/** The values of the vendor parameters in a body; missing and invalid ones are left out. */
export const parameterValues = (
  body: Readonly<Record<string, unknown>>,
  parameters: VendorParameters
): Readonly<Record<string, unknown>> => {
  const faults = new Set(parameterFaults(body, parameters).map(({ path }) => path))
  const names = Object.keys(parameters).filter((name) => (body[name] ?? "") !== "")
  return Object.fromEntries(
    names.filter((name) => !faults.has(name)).map((name) => [name, body[name]])
  )
}
