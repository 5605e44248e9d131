/** Generates JSON for JSON schemas, such as the answers and tool arguments of a language model. */
import { Schema } from "effect"
import { numberFrom, sha256 } from "./digest.ts"
import { MAX_LENGTH, matchesPattern, patternSample } from "./patternSample.ts"

const TypeName = Schema.Literals([
  "object",
  "array",
  "string",
  "integer",
  "number",
  "boolean",
  "null"
])
type TypeName = typeof TypeName.Type

const optional = Schema.optional
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Branches = Schema.NonEmptyArray(Schema.Json)

/** Keywords without a generator; a schema with one of them gets no JSON instead of wrong JSON. */
const unsupported = Schema.optionalKey(Schema.Never)

/** The keywords of one schema. Schemas inside it are decoded when they are visited. */
const Keywords = Schema.Struct({
  $ref: optional(Schema.String),
  type: optional(Schema.Union([TypeName, Schema.NonEmptyArray(TypeName)])),
  const: optional(Schema.Json),
  enum: optional(Branches),
  allOf: optional(Branches),
  anyOf: optional(Branches),
  oneOf: optional(Branches),
  properties: optional(Schema.Record(Schema.String, Schema.Json)),
  required: optional(Schema.Array(Schema.String)),
  additionalProperties: optional(Schema.Json),
  minProperties: optional(Count),
  items: optional(Schema.Json),
  prefixItems: optional(Schema.Array(Schema.Json)),
  minItems: optional(Count),
  maxItems: optional(Count),
  uniqueItems: optional(Schema.Boolean),
  minLength: optional(Count),
  maxLength: optional(Count),
  pattern: optional(Schema.String),
  format: optional(Schema.String),
  minimum: optional(Schema.Finite),
  maximum: optional(Schema.Finite),
  exclusiveMinimum: optional(Schema.Finite),
  exclusiveMaximum: optional(Schema.Finite),
  multipleOf: optional(Schema.Finite.check(Schema.isGreaterThan(0))),
  not: unsupported,
  if: unsupported,
  contains: unsupported,
  dependentRequired: unsupported,
  dependentSchemas: unsupported
})
type Keywords = typeof Keywords.Type

const decodeKeywords = Schema.decodeUnknownOption(Keywords)

/** The state of one generation. */
interface Generation {
  /** The outermost schema, in which references are resolved. */
  readonly root: Schema.Json
  /** The number of schemas that may still be visited; it bounds recursive schemas. */
  visits: number
}

const MAX_VISITS = 2000

const MAX_DEPTH = 64

/** The depth from which optional properties are left out and short branches come first. */
const FULL_DEPTH = 4

interface Place {
  readonly generation: Generation
  readonly seed: string
  readonly depth: number
}

const inside = ({ generation, seed, depth }: Place, name: string | number): Place => ({
  generation,
  seed: `${seed}/${name}`,
  depth: depth + 1
})

/**
 * JSON that satisfies the schema; undefined when none was found, which is so for schemas that
 * contradict themselves, endless recursion and unsupported keywords. The same schema and seed
 * always give the same JSON.
 */
export const jsonSample = (schema: Schema.Json, seed: string): Schema.Json | undefined =>
  visit(schema, { generation: { root: schema, visits: MAX_VISITS }, seed, depth: 0 })

const visit = (schema: Schema.Json, place: Place): Schema.Json | undefined => {
  const keywords = place.depth > MAX_DEPTH ? undefined : keywordsOf(schema, place)
  return keywords === undefined ? undefined : sampleOf(keywords, place)
}

/** The keywords of a schema with those of its references and of `allOf` merged into them. */
const keywordsOf = (schema: Schema.Json, place: Place): Keywords | undefined => {
  const { generation } = place
  if (generation.visits-- <= 0 || schema === false) return undefined
  const decoded = decodeKeywords(schema === true ? {} : schema)
  if (decoded._tag === "None") return undefined
  const { $ref, allOf, ...own } = decoded.value
  const parts = [...($ref === undefined ? [] : [targetOf(generation.root, $ref)]), ...(allOf ?? [])]
  let merged: Keywords | undefined = own
  for (const part of parts) {
    const keywords = part === undefined ? undefined : keywordsOf(part, place)
    merged = keywords === undefined ? undefined : merge(keywords, merged)
    if (merged === undefined) return undefined
  }
  return merged
}

/** The schema that a reference such as `#/$defs/node` names. */
const targetOf = (root: Schema.Json, reference: string): Schema.Json | undefined => {
  if (!reference.startsWith("#")) return undefined
  const names = reference.slice(1).split("/").slice(1)
  return names.reduce<Schema.Json | undefined>(
    (schema, name) => fieldOf(schema, name.replaceAll("~1", "/").replaceAll("~0", "~")),
    root
  )
}

const fieldOf = (value: Schema.Json | undefined, name: string): Schema.Json | undefined => {
  if (value === undefined || value === null || typeof value !== "object") return undefined
  const fields: ReadonlyArray<[string, Schema.Json]> = Object.entries(value)
  return fields.find(([field]) => field === name)?.[1]
}

const typesOf = ({ type }: Keywords): ReadonlyArray<TypeName> | undefined =>
  typeof type === "string" ? [type] : type

const bound = (
  choose: (first: number, second: number) => number,
  first: number | undefined,
  second: number | undefined
) => (first === undefined || second === undefined ? (first ?? second) : choose(first, second))

/** Keywords that can be required twice only with the same value. */
const unmerged = [
  "const",
  "anyOf",
  "oneOf",
  "prefixItems",
  "pattern",
  "format",
  "multipleOf"
] as const satisfies ReadonlyArray<keyof Keywords>

/** Keywords that require both; undefined where they contradict each other or cannot be merged. */
const merge = (first: Keywords, second: Keywords): Keywords | undefined => {
  const types = intersection(typesOf(first), typesOf(second), commonType)
  const values = intersection(first.enum, second.enum, (value, others) =>
    others.some((other) => isSame(value, other)) ? [value] : []
  )
  const isContradiction = unmerged.some((name) => {
    const [one, other] = [first[name], second[name]]
    return one !== undefined && other !== undefined && !isSame(one, other)
  })
  if (types === "none" || values === "none" || isContradiction) return undefined
  return {
    ...first,
    ...second,
    type: types,
    enum: values,
    properties: mergeProperties(first.properties, second.properties),
    required: [...new Set([...(first.required ?? []), ...(second.required ?? [])])],
    additionalProperties: bothOf(first.additionalProperties, second.additionalProperties),
    minProperties: bound(Math.max, first.minProperties, second.minProperties),
    items: bothOf(first.items, second.items),
    minItems: bound(Math.max, first.minItems, second.minItems),
    maxItems: bound(Math.min, first.maxItems, second.maxItems),
    uniqueItems: first.uniqueItems === true || second.uniqueItems === true ? true : undefined,
    minLength: bound(Math.max, first.minLength, second.minLength),
    maxLength: bound(Math.min, first.maxLength, second.maxLength),
    minimum: bound(Math.max, first.minimum, second.minimum),
    maximum: bound(Math.min, first.maximum, second.maximum),
    exclusiveMinimum: bound(Math.max, first.exclusiveMinimum, second.exclusiveMinimum),
    exclusiveMaximum: bound(Math.min, first.exclusiveMaximum, second.exclusiveMaximum)
  }
}

/** The items of both lists, where each is given; `none` where no item is left. */
const intersection = <A>(
  first: ReadonlyArray<A> | undefined,
  second: ReadonlyArray<A> | undefined,
  common: (item: A, others: ReadonlyArray<A>) => ReadonlyArray<A>
): readonly [A, ...Array<A>] | "none" | undefined => {
  if (first === undefined && second === undefined) return undefined
  const items =
    first === undefined || second === undefined
      ? (first ?? second ?? [])
      : first.flatMap((item) => common(item, second))
  const [head, ...tail] = items
  return head === undefined ? "none" : [head, ...tail]
}

/** A schema that requires both. */
const bothOf = (
  first: Schema.Json | undefined,
  second: Schema.Json | undefined
): Schema.Json | undefined =>
  first === undefined || second === undefined ? (first ?? second) : { allOf: [first, second] }

const commonType = (name: TypeName, others: ReadonlyArray<TypeName>): ReadonlyArray<TypeName> => {
  if (others.includes(name)) return [name]
  const isWhole =
    (name === "integer" && others.includes("number")) ||
    (name === "number" && others.includes("integer"))
  return isWhole ? ["integer"] : []
}

const isSame = (first: Schema.Json, second: Schema.Json): boolean =>
  JSON.stringify(first) === JSON.stringify(second)

const mergeProperties = (
  first: Keywords["properties"],
  second: Keywords["properties"]
): Keywords["properties"] => {
  if (first === undefined || second === undefined) return first ?? second
  const merged = new Map(Object.entries(first))
  for (const [name, schema] of Object.entries(second)) {
    merged.set(name, bothOf(merged.get(name), schema) ?? schema)
  }
  return Object.fromEntries(merged)
}

const sampleOf = (keywords: Keywords, place: Place): Schema.Json | undefined => {
  if (keywords.const !== undefined) return keywords.const
  if (keywords.enum !== undefined) {
    const values = keywords.enum.filter((value) => isOfType(value, typesOf(keywords)))
    return values[numberFrom(place.seed, Math.max(values.length, 1))]
  }
  const { anyOf, oneOf, ...own } = keywords
  const branches = anyOf ?? oneOf
  if (branches === undefined) return sampleOfType(keywords, place)
  const rest: Keywords = anyOf === undefined ? own : { ...own, oneOf }
  for (const branch of place.depth > FULL_DEPTH ? shortFirst(branches) : branches) {
    const branchKeywords = keywordsOf(branch, place)
    const merged = branchKeywords === undefined ? undefined : merge(rest, branchKeywords)
    const value = merged === undefined ? undefined : sampleOf(merged, place)
    if (value !== undefined) return value
  }
  return undefined
}

/** Puts the branches that cannot recurse first. */
const shortFirst = (branches: ReadonlyArray<Schema.Json>): ReadonlyArray<Schema.Json> => {
  const isShort = (branch: Schema.Json) => {
    const type = fieldOf(branch, "type")
    return typeof type === "string" && type !== "object" && type !== "array"
  }
  return [...branches.filter(isShort), ...branches.filter((branch) => !isShort(branch))]
}

const isOfType = (value: Schema.Json, types: ReadonlyArray<TypeName> | undefined): boolean => {
  if (types === undefined) return true
  if (value === null) return types.includes("null")
  if (Array.isArray(value)) return types.includes("array")
  if (typeof value !== "number") return types.some((name) => name === typeof value)
  return types.includes("number") || (Number.isInteger(value) && types.includes("integer"))
}

const sampleOfType = (keywords: Keywords, place: Place): Schema.Json | undefined => {
  const types = typesOf(keywords)
  switch (types?.find((name) => name !== "null") ?? types?.[0] ?? impliedType(keywords)) {
    case "object":
      return objectOf(keywords, place)
    case "array":
      return arrayOf(keywords, place)
    case "string":
      return stringOf(keywords, place.seed)
    case "integer":
      return numberOf(keywords, place.seed, true)
    case "number":
      return numberOf(keywords, place.seed, false)
    case "boolean":
      return numberFrom(place.seed, 2) === 1
    case "null":
      return null
  }
}

/** The type of a schema without `type`, by its other keywords. */
const impliedType = (keywords: Keywords): TypeName => {
  const has = (...names: ReadonlyArray<keyof Keywords>) =>
    names.some((name) => keywords[name] !== undefined)
  if (has("properties", "additionalProperties", "minProperties")) return "object"
  if ((keywords.required ?? []).length > 0) return "object"
  if (has("items", "prefixItems", "minItems", "maxItems", "uniqueItems")) return "array"
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) {
    return "number"
  }
  return "string"
}

const objectOf = (keywords: Keywords, place: Place): Schema.Json | undefined => {
  const { additionalProperties = true, required = [], minProperties = 0 } = keywords
  const schemas = new Map(Object.entries(keywords.properties ?? {}))
  const result = new Map<string, Schema.Json>()
  const add = (name: string): boolean => {
    const value = visit(schemas.get(name) ?? additionalProperties, inside(place, name))
    if (value !== undefined) result.set(name, value)
    return value !== undefined
  }
  const isFull = place.depth < FULL_DEPTH
  for (const name of new Set([...schemas.keys(), ...required])) {
    const isRequired = required.includes(name)
    const isAdded = (isRequired || isFull) && add(name)
    if (isRequired && !isAdded) return undefined
  }
  for (let index = 1; result.size < minProperties; index++) {
    if (!schemas.has(`key_${index}`) && !add(`key_${index}`)) return undefined
  }
  return Object.fromEntries(result)
}

/** How many times an item is generated again when it must differ from those before it. */
const UNIQUE_ATTEMPTS = 50

const arrayOf = (keywords: Keywords, place: Place): Schema.Json | undefined => {
  const { items = true, prefixItems = [], minItems = 0 } = keywords
  const desired = place.depth < FULL_DEPTH ? Math.max(prefixItems.length, 1) : 0
  const length = Math.max(minItems, Math.min(desired, keywords.maxItems ?? desired))
  const result: Array<Schema.Json> = []
  while (result.length < length) {
    const others = keywords.uniqueItems === true ? result : []
    const item = itemOf(prefixItems[result.length] ?? items, inside(place, result.length), others)
    if (item === undefined) return result.length < minItems ? undefined : result
    result.push(item)
  }
  return result
}

/** An item that differs from the others. */
const itemOf = (
  schema: Schema.Json,
  place: Place,
  others: ReadonlyArray<Schema.Json>
): Schema.Json | undefined => {
  for (let attempt = 0; attempt < UNIQUE_ATTEMPTS; attempt++) {
    const seed = attempt === 0 ? place.seed : `${place.seed}.${attempt}`
    const item = visit(schema, { ...place, seed })
    if (item === undefined || !others.some((other) => isSame(item, other))) return item
  }
  return undefined
}

const lexicon = ["amber", "bridge", "candle", "dune", "ember", "fjord", "grove", "harbor", "island"]

const wordOf = (seed: string): string => lexicon[numberFrom(seed, lexicon.length)] ?? ""

/** Texts of the formats that JSON schemas name; any other format is a description. */
const formats: Readonly<Record<string, (seed: string) => string>> = {
  date: (seed) => `2026-03-${twoDigits(seed, 28)}`,
  time: (seed) => `09:${twoDigits(seed, 59)}:00Z`,
  "date-time": (seed) => `2026-03-${twoDigits(seed, 28)}T09:30:00Z`,
  duration: (seed) => `PT${1 + numberFrom(seed, 59)}M`,
  email: (seed) => `${wordOf(seed)}@example.com`,
  hostname: (seed) => `${wordOf(seed)}.example.com`,
  ipv4: (seed) => `192.0.2.${1 + numberFrom(seed, 254)}`,
  ipv6: (seed) => `2001:db8::${(1 + numberFrom(seed, 254)).toString(16)}`,
  uri: (seed) => `https://example.com/${wordOf(seed)}`,
  uuid: (seed) => sha256(seed).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-a$4-$5")
}

const twoDigits = (seed: string, maximum: number): string =>
  String(1 + numberFrom(seed, maximum)).padStart(2, "0")

const stringOf = (keywords: Keywords, seed: string): string | undefined => {
  const { pattern, minLength: min = 0, maxLength: max = MAX_LENGTH } = keywords
  if (min > Math.min(max, MAX_LENGTH)) return undefined
  const formatted = formats[keywords.format ?? ""]?.(seed)
  if (formatted !== undefined && formatted.length >= min && formatted.length <= max) {
    if (pattern === undefined || matchesPattern(pattern, formatted)) return formatted
  }
  if (pattern !== undefined) return patternSample(pattern, seed, { min, max })
  if (formatted !== undefined) return undefined
  let text = wordOf(seed)
  for (let index = 0; text.length < min; index++) text += ` ${wordOf(`${seed} ${index}`)}`
  return text.slice(0, Math.max(min, Math.min(text.length, max)))
}

/** The width of the range of numbers that have a bound on one side only, or none. */
const DEFAULT_RANGE = 100

/** The step between generated numbers that need not be whole. */
const DEFAULT_STEP = 0.25

const numberOf = (keywords: Keywords, seed: string, isWhole: boolean): number | undefined => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords
  const lower = bound(Math.max, minimum, exclusiveMinimum)
  const upper = bound(Math.min, maximum, exclusiveMaximum)
  const low = lower ?? (upper === undefined || upper > 0 ? 0 : upper - DEFAULT_RANGE)
  const high = upper ?? low + Math.max(DEFAULT_RANGE, multipleOf ?? 0)
  const isInside = (value: number) =>
    value >= low &&
    value <= high &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum) &&
    (!isWhole || Number.isInteger(value))
  const step = multipleOf ?? (isWhole ? 1 : DEFAULT_STEP)
  const first = Math.ceil(low / step)
  const count = Math.max(Math.min(Math.floor(high / step) - first + 1, DEFAULT_RANGE), 0)
  const start = numberFrom(seed, Math.max(count, 1))
  for (let index = 0; index < count; index++) {
    // Rounding removes the errors of products such as 3 * 0.1.
    const value = Number(((first + ((start + index) % count)) * step).toPrecision(15))
    if (isInside(value)) return value
  }
  const middle = low + (high - low) / 2
  return multipleOf === undefined && isInside(middle) ? middle : undefined
}
