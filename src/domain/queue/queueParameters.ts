/**
 * The parameters of a document's models: those that the document lists, and those that follow from
 * the JSON Schema that the vendor publishes for the input of a model.
 */
import type { VendorParameter, VendorParameters } from "../catalog/vendorParameters.ts"
import { imageFieldNames } from "../image/ImageRequest.ts"
import { billEffectOf } from "../unpricedWork.ts"
import { videoFieldNames } from "../video/VideoBody.ts"
import { readInputSchema, resolveSchema, type SchemaNode } from "./inputSchema.ts"
import { fieldPointer, overlap } from "./jsonPointer.ts"
import type { FieldRule, QueueDocument, QueueModel, ShotsRule } from "./QueueDocument.ts"

/** The bounds of whole numbers and numbers for which a schema states none. */
const MAX_INTEGER = 2_147_483_647
const MAX_NUMBER = 1_000_000

const textsOf = (value: unknown): ReadonlyArray<string> | null =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")
    ? value
    : null

const integersOf = (value: unknown): ReadonlyArray<number> | null =>
  Array.isArray(value) && value.length > 0 && value.every((item) => Number.isSafeInteger(item))
    ? value
    : null

/** The longest title and description of a parameter. */
const MAX_TITLE = 80
const MAX_DESCRIPTION = 300

const shortText = (value: unknown, most: number): string | null => {
  const text = typeof value === "string" ? value.trim().replaceAll(/\s+/g, " ") : ""
  return text === "" ? null : text.slice(0, most).toWellFormed()
}

const titleOf = ({ title }: SchemaNode) => {
  const text = shortText(title, MAX_TITLE)
  return text === null ? {} : { title: text }
}

/** The type of a schema's values beside null; null if there are several. */
const typeOf = ({ type, enum: values, const: constant }: SchemaNode): unknown => {
  const types = Array.isArray(type) ? type.filter((name) => name !== "null") : [type]
  if (types.length !== 1) return null
  // A vendor may leave out the type beside the values.
  const [first] = constant === undefined ? (Array.isArray(values) ? values : []) : [constant]
  if (types[0] !== undefined || first === undefined) return types[0]
  return typeof first === "string" ? "string" : "integer"
}

const numberOr = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isFinite(value) ? value : fallback

/** The least and the most integer, where a bound may be excluded. */
const integerBounds = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaNode) => ({
  minimum: Math.max(
    Math.ceil(numberOr(minimum, -MAX_INTEGER - 1)),
    Math.floor(numberOr(exclusiveMinimum, -MAX_INTEGER - 2)) + 1
  ),
  maximum: Math.min(
    Math.floor(numberOr(maximum, MAX_INTEGER)),
    Math.ceil(numberOr(exclusiveMaximum, MAX_INTEGER + 1)) - 1
  )
})

/** What parameters of every type have. */
type Shared = Pick<VendorParameter, "title" | "required" | "description">

/** The parameter for a list of texts; null for other lists. */
const listOf = (root: unknown, schema: SchemaNode, shared: Shared): VendorParameter | null => {
  const items = resolveSchema(root, schema.items)
  if (items === null || typeOf(items) !== "string" || isFile(items)) return null
  const values = textsOf(items.enum)
  if (items.enum !== undefined && values === null) return null
  const { maxItems, default: usual } = schema
  const defaults = Array.isArray(usual) && usual.length === 0 ? [] : textsOf(usual)
  return {
    type: "list",
    ...(values === null ? {} : { values }),
    ...(Number.isSafeInteger(maxItems) ? { max_items: Number(maxItems) } : {}),
    ...(defaults === null ? {} : { default: defaults }),
    ...shared
  }
}

const isFile = ({ format }: SchemaNode): boolean => format === "uri" || format === "binary"

/** The members of `anyOf` and `oneOf` beside null, or the schema itself. */
const alternativesOf = (root: unknown, schema: SchemaNode): ReadonlyArray<SchemaNode> => {
  const { anyOf, oneOf, ...annotations } = schema
  const members = anyOf ?? oneOf
  if (!Array.isArray(members)) return [schema]
  return members.flatMap((member) => {
    const alternative = resolveSchema(root, member)
    return alternative === null || alternative.type === "null"
      ? []
      : [{ ...alternative, ...annotations }]
  })
}

/** The values to which a schema restricts itself; undefined if it does not. */
const allowedBy = ({ const: constant, enum: values }: SchemaNode): unknown =>
  constant === undefined ? values : [constant]

const integerOf = (schema: SchemaNode, shared: Shared): VendorParameter | null => {
  const allowed = allowedBy(schema)
  const values = integersOf(allowed)
  if (allowed !== undefined && values === null) return null
  const usual = Number.isSafeInteger(schema.default) ? { default: Number(schema.default) } : {}
  return values === null
    ? { type: "integer", ...integerBounds(schema), ...usual, ...shared }
    : {
        type: "integer",
        minimum: Math.min(...values),
        maximum: Math.max(...values),
        values,
        ...usual,
        ...shared
      }
}

const numberOf = (schema: SchemaNode, shared: Shared): VendorParameter | null => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, default: usual } = schema
  if (allowedBy(schema) !== undefined) return null
  return {
    type: "number",
    minimum: numberOr(minimum ?? exclusiveMinimum, -MAX_NUMBER),
    maximum: numberOr(maximum ?? exclusiveMaximum, MAX_NUMBER),
    ...(typeof usual === "number" ? { default: usual } : {}),
    ...shared
  }
}

const textOf = (schema: SchemaNode, shared: Shared): VendorParameter | null => {
  const allowed = allowedBy(schema)
  const values = textsOf(allowed)
  if (isFile(schema) || (allowed !== undefined && values === null)) return null
  const usual = typeof schema.default === "string" ? { default: schema.default } : {}
  if (values !== null) return { type: "choice", values, ...usual, ...shared }
  return Number.isSafeInteger(schema.maxLength)
    ? { type: "text", max_length: Number(schema.maxLength), ...usual, ...shared }
    : { type: "text", ...usual, ...shared }
}

const booleanOf = ({ default: usual }: SchemaNode, shared: Shared): VendorParameter =>
  typeof usual === "boolean"
    ? { type: "boolean", default: usual, ...shared }
    : { type: "boolean", ...shared }

/** The parameter for one alternative; null for objects, files and what is not understood. */
const typedParameter = (
  root: unknown,
  schema: SchemaNode,
  shared: Shared
): VendorParameter | null => {
  switch (schema.allOf === undefined ? typeOf(schema) : null) {
    case "boolean":
      return booleanOf(schema, shared)
    case "integer":
      return integerOf(schema, shared)
    case "number":
      return numberOf(schema, shared)
    case "string":
      return textOf(schema, shared)
    case "array":
      return listOf(root, schema, shared)
    default:
      return null
  }
}

/**
 * The parameter for a property of a schema, which is that of its first alternative that has one;
 * null if none has.
 */
const parameterOf = (
  root: unknown,
  name: string,
  property: unknown,
  isRequired: boolean
): VendorParameter | null => {
  const schema = resolveSchema(root, property)
  if (schema === null) return null
  const shared: Shared = {
    ...titleOf(schema),
    ...(isRequired && schema.default === undefined ? { required: true } : {}),
    description: shortText(schema.description, MAX_DESCRIPTION) ?? `The vendor's field ${name}`
  }
  for (const alternative of alternativesOf(root, schema)) {
    const parameter = typedParameter(root, alternative, shared)
    if (parameter !== null) return parameter
  }
  return null
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

/** The names of the gateway's own fields in orders of a model. */
export const gatewayFieldNames = ({ modality }: QueueModel): ReadonlyArray<string> =>
  modality === "video" ? videoFieldNames : imageFieldNames

/**
 * The fields of the schema that no order can have: mapped ones, those left out, and those that may
 * change the bill. A length or a resolution with the name of the gateway's field stays, so that it is
 * a fault of the document: the vendor's default may be another one than what is billed.
 */
const isClosed = (
  model: QueueModel,
  { parameters_at = "" }: Pick<QueueDocument, "parameters_at">
): ((name: string) => boolean) => {
  const { input_schema_without = [] } = model
  const places = mappedPlaces(model)
  const gatewayFields = gatewayFieldNames(model)
  const isPriced = (name: string): boolean => {
    const effect = billEffectOf(name)
    return effect === "amount" || (effect !== null && !gatewayFields.includes(name))
  }
  return (name) =>
    isPriced(name) ||
    input_schema_without.includes(name) ||
    places.some((place) => overlap(place, fieldPointer(parameters_at, name)))
}

/** The parameters of a model; what the document lists goes before what its schema has. */
export const parametersOfModel = (
  model: QueueModel,
  document: Pick<QueueDocument, "parameters_at">
): VendorParameters => {
  const { input_schema, parameters = {} } = model
  const input = readInputSchema(input_schema)
  if (input === null) return parameters
  const isClosedName = isClosed(model, document)
  const entries = input.properties.flatMap(([name, property]) => {
    const parameter = isClosedName(name)
      ? null
      : parameterOf(input_schema, name, property, input.required.includes(name))
    return parameter === null ? [] : [[name, parameter] as const]
  })
  return { ...Object.fromEntries(entries), ...parameters }
}

/** The fields that the schema requires and that neither the mapping nor a parameter writes. */
export const fieldsLacked = (
  model: QueueModel,
  document: Pick<QueueDocument, "parameters_at">
): ReadonlyArray<string> => {
  const { parameters_at = "" } = document
  const input = readInputSchema(model.input_schema)
  const parameters = parametersOfModel(model, document)
  const places = mappedPlaces(model)
  const hasDefault = (name: string): boolean => {
    const property = input?.properties.find(([one]) => one === name)?.[1]
    return resolveSchema(model.input_schema, property)?.default !== undefined
  }
  return (input?.required ?? []).filter(
    (name) =>
      !Object.hasOwn(parameters, name) &&
      !hasDefault(name) &&
      !places.some((place) => overlap(place, fieldPointer(parameters_at, name)))
  )
}
