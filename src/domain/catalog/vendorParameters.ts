/**
 * Descriptions of fields that clients may add to an order. Of vendor-specific fields the row of
 * each protocol lists its own; none of them changes what the vendor bills.
 */
import { Schema } from "effect"
import { isStorable } from "../plainText.ts"
import type { FieldFault } from "../requestFields.ts"

const optional = Schema.optionalKey

const defaultOf = <S extends Schema.Top>(schema: S) =>
  optional(schema.annotate({ description: "What holds where it is left out, if that is known" }))

/** What fields of every type have. */
const shared = {
  title: optional(Schema.String.annotate({ description: "Its name for people, if it has one" })),
  required: optional(
    Schema.Literal(true).annotate({ description: "Set where every order must have it" })
  ),
  description: Schema.String.annotate({ description: "What it does" })
}

const kind = <K extends string>(name: K) =>
  Schema.Literal(name).annotate({ description: "The kind of its values" })

const ListParameter = Schema.Struct({
  type: kind("list"),
  values: optional(
    Schema.Array(Schema.String).annotate({
      description: "What its entries may be; any texts when left out"
    })
  ),
  max_items: optional(
    Schema.Int.annotate({
      description: "Entries it may have; left out where the gateway sets no bound"
    })
  ),
  default: defaultOf(Schema.Array(Schema.String)),
  ...shared
})
type ListParameter = typeof ListParameter.Type

/** The type and the allowed values of one field. */
export const VendorParameter = Schema.Union([
  Schema.Struct({ type: kind("boolean"), default: defaultOf(Schema.Boolean), ...shared }),
  Schema.Struct({
    type: kind("integer"),
    minimum: Schema.Int.annotate({ description: "The least it may be" }),
    maximum: Schema.Int.annotate({ description: "The most it may be" }),
    values: optional(
      Schema.Array(Schema.Int).annotate({
        description: "What it may be, where not every whole number in between"
      })
    ),
    default: defaultOf(Schema.Int),
    ...shared
  }),
  Schema.Struct({
    type: kind("number"),
    minimum: Schema.Finite.annotate({ description: "The least it may be" }),
    maximum: Schema.Finite.annotate({ description: "The most it may be" }),
    default: defaultOf(Schema.Finite),
    ...shared
  }),
  Schema.Struct({
    type: kind("text"),
    max_length: optional(
      Schema.Int.annotate({
        description: "Characters it may have; left out where the gateway sets no bound"
      })
    ),
    default: defaultOf(Schema.String),
    ...shared
  }),
  Schema.Struct({
    type: kind("choice"),
    values: Schema.Array(Schema.String).annotate({ description: "What it may be" }),
    default: defaultOf(Schema.String),
    ...shared
  }),
  ListParameter
]).annotate({ identifier: "VendorParameter", description: "A field that an order may have" })
export type VendorParameter = typeof VendorParameter.Type

/** The vendor parameters, by field name. */
export type VendorParameters = Readonly<Record<string, VendorParameter>>

/** The values of the vendor fields in an order, without missing and null fields. */
export type VendorValues = Readonly<
  Record<string, boolean | number | string | ReadonlyArray<string>>
>

const isWithin = (value: number, { minimum, maximum }: { minimum: number; maximum: number }) =>
  value >= minimum && value <= maximum

const expectedText = (
  { max_length: most }: Extract<VendorParameter, { readonly type: "text" }>,
  value: unknown
): string | null => {
  // The vendor fields that an order depends on are stored with its price.
  const isText = typeof value === "string" && value !== "" && isStorable(value)
  if (isText && value.length <= (most ?? Number.POSITIVE_INFINITY)) return null
  return most === undefined
    ? "a text, without NUL"
    : `a text of 1 to ${most} characters, without NUL`
}

const expectedInteger = (
  { values, minimum, maximum }: Extract<VendorParameter, { readonly type: "integer" }>,
  value: unknown
): string | null => {
  const isInteger = Number.isInteger(value) && isWithin(Number(value), { minimum, maximum })
  if (isInteger && (values?.includes(Number(value)) ?? true)) return null
  return values === undefined
    ? `a whole number from ${minimum} to ${maximum}, without quotes`
    : `one of ${values.join(", ")}, without quotes`
}

/** The most entries of a list for which a parameter states no bound. */
const MAX_ITEMS = 100

const expectedList = (
  { values, max_items: most = MAX_ITEMS }: ListParameter,
  value: unknown
): string | null => {
  const isEntry = (entry: unknown): boolean =>
    typeof entry === "string" && (values?.includes(entry) ?? (entry !== "" && isStorable(entry)))
  if (Array.isArray(value) && value.length <= most && value.every(isEntry)) return null
  return values === undefined
    ? `a list of at most ${most} texts, without NUL`
    : `a list of ${values.join(" and ")}, of at most ${most} entries`
}

/** A description of the expected value; null if the value is valid. */
const expectedOf = (parameter: VendorParameter, value: unknown): string | null => {
  switch (parameter.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "true or false, without quotes"
    case "integer":
      return expectedInteger(parameter, value)
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
      return expectedList(parameter, value)
  }
}

/**
 * The faults of every field of the body that is a vendor parameter with an invalid value, and of
 * those that are required and missing.
 */
export const parameterFaults = (
  body: Readonly<Record<string, unknown>>,
  parameters: VendorParameters
): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  for (const name of Object.keys(parameters)) {
    const parameter = parameters[name]
    const value = body[name] ?? null
    if (parameter === undefined || (value === null && parameter.required !== true)) continue
    const expectation = expectedOf(parameter, value)
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

const together = <V>(
  one: ReadonlyArray<V> | undefined,
  other: ReadonlyArray<V> | undefined
): ReadonlyArray<V> | undefined =>
  one === undefined || other === undefined ? undefined : [...new Set([...one, ...other])]

const widestBounds = (
  one: { readonly minimum: number; readonly maximum: number },
  other: { readonly minimum: number; readonly maximum: number }
) => ({
  minimum: Math.min(one.minimum, other.minimum),
  maximum: Math.max(one.maximum, other.maximum)
})

const widestList = (
  { values: oneValues, max_items: oneMost, ...list }: ListParameter,
  other: ListParameter
): ListParameter => {
  const values = together(oneValues, other.values)
  const most = longer(oneMost, other.max_items)
  return {
    ...list,
    ...(values === undefined ? {} : { values }),
    ...(most === undefined ? {} : { max_items: most })
  }
}

/** Merges two parameters into the wider one; returns the first one if their types differ. */
const widest = (one: VendorParameter, other: VendorParameter): VendorParameter => {
  if (one.type === "integer" && other.type === "integer") {
    const { values: oneValues, ...integer } = one
    const values = together(oneValues, other.values)
    const bounds = { ...integer, ...widestBounds(one, other) }
    return values === undefined ? bounds : { ...bounds, values }
  }
  if (one.type === "number" && other.type === "number") {
    return { ...one, ...widestBounds(one, other) }
  }
  if (one.type === "text" && other.type === "text") {
    const { max_length, ...text } = one
    const most = longer(max_length, other.max_length)
    return most === undefined ? text : { ...text, max_length: most }
  }
  if (one.type === "choice" && other.type === "choice") {
    return { ...one, values: [...new Set([...one.values, ...other.values])] }
  }
  return one.type === "list" && other.type === "list" ? widestList(one, other) : one
}

/**
 * The union of the fields of several mounts, although each mount may lack some of them. A field is
 * required if each mount requires it.
 */
export const parametersTogether = (tables: ReadonlyArray<VendorParameters>): VendorParameters => {
  const merged: Record<string, VendorParameter> = {}
  for (const [name, parameter] of tables.flatMap((table) => Object.entries(table))) {
    const earlier = merged[name]
    merged[name] = earlier === undefined ? parameter : widest(earlier, parameter)
  }
  for (const [name, { required, ...optionalParameter }] of Object.entries(merged)) {
    if (required === true && tables.some((table) => table[name]?.required !== true)) {
      merged[name] = optionalParameter
    }
  }
  return merged
}
