/** The differences between two catalogs, by path. */
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"

type Document = typeof CatalogDocument.Encoded

export interface CatalogDiff {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<{
    readonly path: string
    readonly from: unknown
    readonly to: unknown
  }>
}

type Entry = Readonly<Record<string, unknown>>

const isEntry = (value: unknown): value is Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** All leaf values by their paths. A list is one value, because its order is significant. */
const leafValues = (value: unknown, path: string): ReadonlyArray<readonly [string, unknown]> =>
  isEntry(value)
    ? Object.entries(value).flatMap(([name, inner]) => leafValues(inner, `${path}.${name}`))
    : [[path, value]]

/** All entries by name: mounts by model and channel, the others by id. */
const entriesOf = ({
  channels,
  models,
  mounts,
  protocols = []
}: Document): ReadonlyMap<string, Entry> => {
  const entries = new Map<string, Entry>()
  for (const channel of channels) entries.set(`channels[${channel.id}]`, channel)
  for (const model of models) entries.set(`models[${model.id}]`, model)
  for (const protocol of protocols) entries.set(`protocols[${protocol.id}]`, { ...protocol })
  for (const mount of mounts) {
    const name = `mounts[${mount.model}@${mount.channel}]`
    // A model may be mounted on the same channel more than once; later mounts are numbered.
    let path = name
    for (let nth = 2; entries.has(path); nth++) path = `${name}#${nth}`
    entries.set(path, mount)
  }
  return entries
}

const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

/** The differences between two catalogs, both with their defaults filled in. */
export const diffCatalogs = (from: Document, to: Document): CatalogDiff => {
  const [before, after] = [entriesOf(from), entriesOf(to)]
  const changes = [...before].flatMap(([name, entry]) => {
    const otherEntry = after.get(name)
    if (otherEntry === undefined) return []
    const [oldValues, newValues] = [
      new Map(leafValues(entry, name)),
      new Map(leafValues(otherEntry, name))
    ]
    return [...new Set([...oldValues.keys(), ...newValues.keys()])]
      .map((path) => ({ path, from: oldValues.get(path) ?? null, to: newValues.get(path) ?? null }))
      .filter((change) => !isSame(change.from, change.to))
  })
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: changes
  }
}

const text = (value: unknown): string => (value === null ? "-" : JSON.stringify(value))

/** One line for each difference, in the format of `diff`. */
export const diffLines = ({ added, removed, changed }: CatalogDiff): ReadonlyArray<string> => [
  ...removed.map((path) => `- ${path}`),
  ...added.map((path) => `+ ${path}`),
  ...changed.map(({ path, from, to }) => `~ ${path}: ${text(from)} -> ${text(to)}`)
]
