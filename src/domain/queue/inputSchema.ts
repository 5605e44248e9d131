/**
 * The JSON Schema that a vendor publishes for the input of a model: alone, with the definitions to
 * which it refers, or inside the OpenAPI document of the model.
 */
import { Predicate } from "effect"
import type { FieldFault } from "../requestFields.ts"
import { fieldPointer, tokensOf, valuesAt } from "./jsonPointer.ts"

export type SchemaNode = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is SchemaNode => Predicate.isObject(value)

/** The most references one after the other; more are a circle. */
const MAX_REFERENCES = 16

/** The place in the document to which a reference leads; null if it leads out of the document. */
const placeOf = (reference: string): string | null => {
  if (!reference.startsWith("#")) return null
  try {
    return decodeURIComponent(reference.slice(1))
  } catch {
    return null
  }
}

/** What stands behind a reference or the only member of `allOf`; undefined if it is neither. */
const targetOf = (root: unknown, { $ref, allOf }: SchemaNode): unknown => {
  if (typeof $ref === "string") {
    const place = placeOf($ref)
    return place === null ? null : (valuesAt(root, place)[0] ?? null)
  }
  return Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
}

/**
 * The schema behind references, with the annotations that stand beside them; null if a reference
 * leads nowhere. An `allOf` of one member is the way in which OpenAPI 3.0 annotates a reference.
 */
export const resolveSchema = (root: unknown, schema: unknown): SchemaNode | null => {
  let node = isNode(schema) ? schema : null
  for (let step = 0; node !== null && step <= MAX_REFERENCES; step++) {
    const target = targetOf(root, node)
    if (target === undefined) return node
    const { $ref: _, allOf: __, ...annotations }: SchemaNode = node
    node = isNode(target) ? { ...target, ...annotations } : null
  }
  return null
}

/** The places where an OpenAPI document may have the schema of a request body in JSON. */
const requestBodyPlaces = (root: SchemaNode): ReadonlyArray<string> =>
  Object.entries(isNode(root.paths) ? root.paths : {}).flatMap(([path, methods]) =>
    Object.keys(isNode(methods) ? methods : {}).map((method) =>
      ["requestBody", "content", "application/json", "schema"].reduce(
        fieldPointer,
        fieldPointer(fieldPointer("/paths", path), method)
      )
    )
  )

/** The place of the input's schema: the root, or in an OpenAPI document where vendors have it. */
const inputPlace = (root: unknown): string | undefined => {
  if (!isNode(root) || !("openapi" in root || "paths" in root)) return ""
  return ["/components/schemas/Input", ...requestBodyPlaces(root)].find(
    (place) => valuesAt(root, place).length > 0
  )
}

/** The properties of an input, in the order in which its vendor shows them. */
export interface InputSchema {
  readonly properties: ReadonlyArray<readonly [name: string, schema: unknown]>
  /** The names of the properties that every request has. */
  readonly required: ReadonlyArray<string>
}

const textsIn = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

const orderOf = (schema: unknown): number => {
  const order = isNode(schema) ? schema["x-order"] : undefined
  return typeof order === "number" ? order : Number.POSITIVE_INFINITY
}

/** The input that a schema describes; null if it describes no object with properties. */
export const readInputSchema = (root: unknown): InputSchema | null => {
  const place = inputPlace(root)
  const input = place === undefined ? null : resolveSchema(root, valuesAt(root, place)[0])
  if (input === null || !isNode(input.properties)) return null
  const listedNames = textsIn(input["x-fal-order-properties"])
  const rankOf = (name: string): number =>
    listedNames.includes(name) ? listedNames.indexOf(name) : listedNames.length
  return {
    properties: Object.entries(input.properties).toSorted(
      ([one, oneSchema], [other, otherSchema]) =>
        rankOf(one) - rankOf(other) || compareOrders(orderOf(oneSchema), orderOf(otherSchema))
    ),
    required: textsIn(input.required)
  }
}

/** Compares two places of which both may be infinite, which a subtraction cannot do. */
const compareOrders = (one: number, other: number): number => {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Keywords whose values are data, in which `$ref` is no reference. */
const dataKeywords: ReadonlyArray<string> = ["default", "enum", "const", "example", "examples"]

/** The path in a fault for a place in the schema. */
const pathOf = (place: string): string =>
  tokensOf(place)
    .map((token) => (/^\d+$/.test(token) ? `[${token}]` : `.${token}`))
    .join("")

/** Why a reference cannot be followed; null if it can be. */
const referenceFault = (root: unknown, reference: string): string | null => {
  if (placeOf(reference) === null) {
    return `${JSON.stringify(reference)} is not in this schema, and nothing is loaded from elsewhere: copy it in, as #/$defs/...`
  }
  return resolveSchema(root, { $ref: reference }) === null
    ? `${JSON.stringify(reference)} leads to no schema`
    : null
}

/** The places on which a place depends: those inside it, and the one to which it refers. */
const placesBehind = (place: string, node: object): ReadonlyArray<string> => {
  const reference = "$ref" in node && typeof node.$ref === "string" ? placeOf(node.$ref) : null
  return [
    ...(reference === null ? [] : [reference]),
    ...Object.keys(node)
      .filter((name) => !dataKeywords.includes(name))
      .map((name) => fieldPointer(place, name))
  ]
}

/** A fault for each reference, of those that the input needs, that leads nowhere. */
export function* referenceFaults(path: string, root: unknown): Generator<FieldFault, void> {
  const start = inputPlace(root)
  const places = new Set(start === undefined ? [] : [start])
  // A set that grows while it is read has each place once, whatever refers to it.
  for (const place of places) {
    const node = valuesAt(root, place)[0]
    if (!Predicate.isObjectOrArray(node)) continue
    if ("$ref" in node && typeof node.$ref === "string") {
      const message = referenceFault(root, node.$ref)
      if (message !== null) yield { path: `${path}${pathOf(place)}.$ref`, message }
    }
    for (const inner of placesBehind(place, node)) places.add(inner)
  }
}
