/** The differences between two catalogs by field, without the values of API keys. */
import {
  byName,
  type CatalogText,
  type Entry,
  isSame,
  keyOf,
  type ListName
} from "./catalogEntries.ts"

export interface FieldDifference {
  /** The path of the field in the entry, such as `prices.per_second.720p`. */
  readonly path: string
  /** The value before the change; undefined where the field was missing. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** Whether the field is a vendor's API key, which is never shown. */
  readonly isSecret: boolean
}

export interface EntryDifference {
  readonly list: ListName
  readonly key: string
  readonly kind: "added" | "changed" | "removed"
  readonly fields: ReadonlyArray<FieldDifference>
}

const SECRET = "api_key"
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const hasName = (value: unknown): value is { readonly name: string } =>
  isObject(value) && "name" in value && typeof value.name === "string"

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "")

type Leaves = Generator<[path: string, text: string]>

const leavesOfList = function* (items: ReadonlyArray<unknown>, path: string): Leaves {
  if (!items.some(isObject)) yield [path, items.map(textOf).join(", ")]
  for (const [index, item] of items.entries()) {
    if (isObject(item)) yield* leaves(item, `${path}.${hasName(item) ? item.name : index}`)
  }
}

/** All leaf values of an entry by path. A list of texts is one value. */
const leaves = function* (value: unknown, path: string): Leaves {
  if (Array.isArray(value)) {
    yield* leavesOfList(value, path)
  } else if (isObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      if (part !== undefined) yield* leaves(part, path === "" ? name : `${path}.${name}`)
    }
  } else if (value !== null) {
    yield [path, textOf(value)]
  }
}

const isSecret = (path: string): boolean => path === SECRET || path.endsWith(`.${SECRET}`)

const fieldsOf = (
  before: Entry | undefined,
  after: Entry | undefined
): ReadonlyArray<FieldDifference> => {
  const oldValues = new Map(leaves(before?.entry ?? {}, ""))
  const newValues = new Map(leaves(after?.entry ?? {}, ""))
  return [...new Set([...oldValues.keys(), ...newValues.keys()])]
    .filter((path) => oldValues.get(path) !== newValues.get(path))
    .map((path) =>
      isSecret(path)
        ? { path, before: undefined, after: undefined, isSecret: true }
        : { path, before: oldValues.get(path), after: newValues.get(path), isSecret: false }
    )
}

export const differenceOf = (
  before: Entry | undefined,
  after: Entry | undefined
): EntryDifference | null => {
  const entry = after ?? before
  if (entry === undefined || isSame(before, after)) return null
  return {
    list: entry.list,
    key: keyOf(entry),
    kind: before === undefined ? "added" : after === undefined ? "removed" : "changed",
    fields: after === undefined ? [] : fieldsOf(before, after)
  }
}

/** The differences, in the order of the later catalog. Removed entries come last. */
export const differences = (
  before: CatalogText,
  after: CatalogText
): ReadonlyArray<EntryDifference> => {
  const oldValues = byName(before)
  const newValues = byName(after)
  return [...new Set([...newValues.keys(), ...oldValues.keys()])].flatMap((name) => {
    const difference = differenceOf(oldValues.get(name), newValues.get(name))
    return difference === null ? [] : [difference]
  })
}
