/** JSON Schemas of tools, from the schemas of the gateway. */
import { Predicate, Schema } from "effect"

export type Json = Readonly<Record<string, unknown>>

const Fields = Schema.Record(Schema.String, Schema.mutableKey(Schema.MutableJson))

/** A JSON Schema of an object, as the protocol requires it of a tool. */
const ObjectSchema = Schema.StructWithRest(
  Schema.Struct({
    type: Schema.Literal("object"),
    properties: Schema.optionalKey(Fields)
  }),
  [Fields]
)
export type ObjectSchema = typeof ObjectSchema.Type

const asObjectSchema = Schema.decodeUnknownSync(ObjectSchema)

const isJson = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

const REFERENCE = "#/$defs/"

/**
 * Removes what only makes a schema longer for an agent: the alternative null of optional fields,
 * unions of one, and the open rest of an object, which is open anyway.
 */
const simplify = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(simplify)
  if (!isJson(value)) return value
  const entries = Object.entries(value)
    .filter(([name]) => name !== "allOf" || !isOpenRest(value.allOf))
    .map(([name, inner]) => [name, simplify(inner)] as const)
  const { anyOf, ...rest } = Object.fromEntries(entries)
  if (!Array.isArray(anyOf)) return Object.fromEntries(entries)
  const others = anyOf.filter((one) => !isJson(one) || one.type !== "null")
  const [only] = others
  return others.length === 1 && isJson(only) ? { ...only, ...rest } : { ...rest, anyOf: others }
}

const isOpenRest = (allOf: unknown): boolean =>
  Array.isArray(allOf) &&
  allOf.every(
    (one) =>
      isJson(one) &&
      Object.keys(one).every((name) => name === "type" || name === "additionalProperties")
  )

/** The schema that a reference at the root names, or the root itself. */
const rootOf = (schema: unknown, definitions: Json): Json => {
  if (!isJson(schema)) return {}
  const { $ref: reference } = schema
  if (typeof reference !== "string") return schema
  return rootOf(definitions[reference.slice(REFERENCE.length)], definitions)
}

/** The definitions that a schema still refers to. */
const usedDefinitions = (root: Json, definitions: Json): Json => {
  const definitionsInUse = new Map<string, unknown>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (!isJson(value)) return
    const { $ref: reference } = value
    const name = typeof reference === "string" ? reference.slice(REFERENCE.length) : null
    if (name !== null && !definitionsInUse.has(name)) {
      definitionsInUse.set(name, definitions[name])
      visit(definitions[name])
    }
    Object.values(value).forEach(visit)
  }
  visit(root)
  return Object.fromEntries(definitionsInUse)
}

/** The JSON Schema of what a schema encodes, with the definitions that it needs. */
const jsonSchemaOf = (schema: Schema.Constraint): Json => {
  const document = Schema.toJsonSchemaDocument(schema)
  const root = rootOf(document.schema, document.definitions)
  const definitions = usedDefinitions(root, document.definitions)
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }
}

/** The schema of a tool's arguments. */
export const inputSchemaOf = (schema: Schema.Constraint): ObjectSchema => {
  const json = simplify(jsonSchemaOf(schema))
  return asObjectSchema({ ...(isJson(json) ? json : {}), type: "object" })
}

/**
 * The schema of the arguments of an order: the fields of its route's body without `omitted`, and
 * those of `terms`.
 */
export const orderInputOf = (
  body: Schema.Constraint,
  terms: Schema.Constraint,
  omitted: ReadonlyArray<string>
): ObjectSchema => {
  const { properties = {}, ...order } = inputSchemaOf(body)
  const keptFields = Object.entries(properties).filter(([name]) => !omitted.includes(name))
  return asObjectSchema({
    ...order,
    properties: { ...Object.fromEntries(keptFields), ...inputSchemaOf(terms).properties }
  })
}

/**
 * The schema of a tool's structured content: its answer, or the body of an error of the gateway.
 * Some clients check the content of errors too.
 */
export const outputSchemaOf = (answer: Schema.Constraint): ObjectSchema => {
  const { $defs, ...schema } = jsonSchemaOf(answer)
  return asObjectSchema({
    type: "object",
    anyOf: [schema, errorSchema],
    ...($defs === undefined ? {} : { $defs })
  })
}

const errorSchema: Json = {
  type: "object",
  description: "The error of the gateway, of a result with isError",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", description: "The error, for a program to read" },
        message: { type: "string", description: "What is wrong, and what was expected" },
        param: { type: ["string", "null"], description: "Path of the offending argument" },
        type: { type: "string", description: "The kind of error" },
        doc_url: { type: "string", description: "The entry of the code in the API reference" }
      },
      required: ["code", "message"]
    }
  },
  required: ["error"]
}
