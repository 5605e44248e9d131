/**
 * The parameters of a document's models: those that the document lists, and those that follow from
 * the JSON Schema that the vendor publishes for the input of a model.
 */
import { Predicate } from "effect"
import type { VendorParameter, VendorParameters } from "../catalog/vendorParameters.ts"
import { fieldPointer, overlap } from "./jsonPointer.ts"
import type { FieldRule, QueueDocument, QueueModel, ShotsRule } from "./QueueDocument.ts"

/** The bounds of whole numbers and numbers for which a schema states none. */
const MAX_INTEGER = 2_147_483_647
const MAX_NUMBER = 1_000_000

/**
 * Names that no parameter gets from a schema: such fields change how much is made, or where it is
 * delivered.
 */
const unpricedName =
  /^(?:n|num|number|count|batch)$|^(?:n|num|number_of|batch)_(?:frames?|images?|outputs?|results?|samples?|size|videos?)$|frames?$|(?:^|_)fps$|(?:^|_)(?:a?sync|stream)(?:_|$)|^(?:upscale|scale)(?:_|$)|base64|b64|webhook|callback|megapixels|priority|tier$/i

const numberOr = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isFinite(value) ? value : fallback

/** The schema itself, or the only member of `anyOf` that is not null. */
const withoutNull = (schema: unknown): unknown => {
  if (!Predicate.isObject(schema) || !("anyOf" in schema)) return schema
  const members = Array.isArray(schema.anyOf) ? schema.anyOf : []
  const others = members.filter(
    (member) => !(Predicate.hasProperty(member, "type") && member.type === "null")
  )
  return others.length === 1 && Predicate.isObject(others[0]) ? { ...schema, ...others[0] } : null
}

const textsOf = (value: unknown): ReadonlyArray<string> | null =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")
    ? value
    : null

/** The longest description of a parameter. */
const MAX_DESCRIPTION = 300

const descriptionOf = ({ description }: Readonly<Record<string, unknown>>, name: string): string =>
  typeof description === "string" && description.trim() !== ""
    ? description.trim().replaceAll(/\s+/g, " ").slice(0, MAX_DESCRIPTION).toWellFormed()
    : `The vendor's field ${name}`

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isObject(value)

/** The parameter for a property of a schema; null for lists, objects and what is not understood. */
const parameterOf = (name: string, property: unknown): VendorParameter | null => {
  const schema = withoutNull(property)
  if (!isRecord(schema)) return null
  const description = descriptionOf(schema, name)
  const values = textsOf(schema.enum)
  const { minimum, maximum, maxLength } = schema
  switch (schema.type) {
    case "boolean":
      return typeof schema.default === "boolean"
        ? { type: "boolean", default: schema.default, description }
        : { type: "boolean", description }
    case "integer":
      if (schema.enum !== undefined) return null
      return {
        type: "integer",
        minimum: numberOr(minimum, -MAX_INTEGER - 1),
        maximum: numberOr(maximum, MAX_INTEGER),
        description
      }
    case "number":
      return {
        type: "number",
        minimum: numberOr(minimum, -MAX_NUMBER),
        maximum: numberOr(maximum, MAX_NUMBER),
        description
      }
    case "string":
      if (schema.format === "uri" || schema.format === "binary") return null
      if (values !== null) return { type: "choice", values, description }
      return Number.isSafeInteger(maxLength)
        ? { type: "text", max_length: Number(maxLength), description }
        : { type: "text", description }
    default:
      return null
  }
}

/** The places of the body that a rule writes; shots write their list. */
export const placesOf = (rule: FieldRule | ShotsRule): ReadonlyArray<string> => {
  if (typeof rule === "string") return [rule]
  return "to" in rule ? [rule.to] : [rule.width, rule.height]
}

/** The places of the body that the mapping writes. */
const mappedPlaces = ({ fields, constants = {} }: QueueModel): ReadonlyArray<string> => [
  ...Object.values(fields).flatMap(placesOf),
  ...Object.keys(constants)
]

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  isRecord(schema) && isRecord(schema.properties) ? schema.properties : {}

/** The parameters of a model; what the document lists goes before what its schema has. */
export const parametersOfModel = (
  model: QueueModel,
  { parameters_at = "" }: Pick<QueueDocument, "parameters_at">
): VendorParameters => {
  const { input_schema, input_schema_without = [], parameters = {} } = model
  const places = mappedPlaces(model)
  const isOpen = (name: string): boolean =>
    !unpricedName.test(name) &&
    !input_schema_without.includes(name) &&
    !places.some((place) => overlap(place, fieldPointer(parameters_at, name)))
  const entries = Object.entries(propertiesOf(input_schema)).flatMap(([name, property]) => {
    const parameter = isOpen(name) ? parameterOf(name, property) : null
    return parameter === null ? [] : [[name, parameter] as const]
  })
  return { ...Object.fromEntries(entries), ...parameters }
}
