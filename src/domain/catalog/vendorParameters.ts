/**
 * Descriptions of fields that clients may add to an order. Of vendor-specific fields the row of
 * each protocol lists its own; none of them changes what the vendor bills.
 */
import { Schema } from "effect"
import type { FieldFault } from "../requestFields.ts"

const description = Schema.String.annotate({ description: "What it does" })

const kind = <K extends string>(name: K) =>
  Schema.Literal(name).annotate({ description: "The kind of its values" })

/** The type and the allowed values of one field. */
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
    max_length: Schema.optionalKey(
      Schema.Int.annotate({
        description: "Characters it may have; left out where the gateway sets no bound"
      })
    ),
    description
  }),
  Schema.Struct({
    type: kind("choice"),
    values: Schema.Array(Schema.String).annotate({ description: "What it may be" }),
    description
  }),
  Schema.Struct({
    type: kind("list"),
    values: Schema.Array(Schema.String).annotate({ description: "What its entries may be" }),
    description
  })
]).annotate({ identifier: "VendorParameter", description: "A field that an order may have" })
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

const expectedText = (
  { max_length: most }: Extract<VendorParameter, { readonly type: "text" }>,
  value: unknown
): string | null => {
  const isText = typeof value === "string" && value !== "" && isStorable(value)
  if (isText && value.length <= (most ?? Number.POSITIVE_INFINITY)) return null
  return most === undefined
    ? "a text, without NUL"
    : `a text of 1 to ${most} characters, without NUL`
}

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
      return expectedText(parameter, value)
    case "choice":
      return typeof value === "string" && parameter.values.includes(value)
        ? null
        : `one of ${parameter.values.join(", ")}`
    case "list":
      return Array.isArray(value) && value.every((entry) => parameter.values.includes(entry))
        ? null
        : `a list of ${parameter.values.join(" and ")}`
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

const longer = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? undefined : Math.max(one, other)

/** Merges two parameters into the wider one; returns the first one if their types differ. */
const widest = (one: VendorParameter, other: VendorParameter): VendorParameter => {
  if (
    (one.type === "integer" && other.type === "integer") ||
    (one.type === "number" && other.type === "number")
  ) {
    const minimum = Math.min(one.minimum, other.minimum)
    return { ...one, minimum, maximum: Math.max(one.maximum, other.maximum) }
  }
  if (one.type === "text" && other.type === "text") {
    const { max_length, ...text } = one
    const most = longer(max_length, other.max_length)
    return most === undefined ? text : { ...text, max_length: most }
  }
  return (one.type === "choice" && other.type === "choice") ||
    (one.type === "list" && other.type === "list")
    ? { ...one, values: [...new Set([...one.values, ...other.values])] }
    : one
}

/** The union of the fields of several mounts, although each mount may lack some of them. */
export const parametersTogether = (tables: ReadonlyArray<VendorParameters>): VendorParameters => {
  const merged: Record<string, VendorParameter> = {}
  for (const [name, parameter] of tables.flatMap((table) => Object.entries(table))) {
    const earlier = merged[name]
    merged[name] = earlier === undefined ? parameter : widest(earlier, parameter)
  }
  return merged
}
