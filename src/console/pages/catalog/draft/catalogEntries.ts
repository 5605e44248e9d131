/** The catalog in the form of its document, and the entries of its lists. */
import type { CatalogWrite } from "../../../../domain/catalog/CatalogDocument.ts"

export type CatalogText = typeof CatalogWrite.Encoded
export type ChannelText = CatalogText["channels"][number]
export type ModelText = CatalogText["models"][number]
export type MountText = CatalogText["mounts"][number]
export type PricesText = NonNullable<ModelText["prices"]>
export type LimitsText = NonNullable<ModelText["limits"]>

export const listNames = ["channels", "models", "mounts"] as const
export type ListName = (typeof listNames)[number]

/** An entry with the name of its list. */
export type Entry =
  | { readonly list: "channels"; readonly entry: ChannelText }
  | { readonly list: "models"; readonly entry: ModelText }
  | { readonly list: "mounts"; readonly entry: MountText }

/** The key of an entry in its list: a mount is named by its model and channel. */
export const keyOf = ({ list, entry }: Entry): string =>
  list === "mounts" ? `${entry.model} → ${entry.channel}` : entry.id

export const entriesOf = (document: CatalogText, list: ListName): ReadonlyArray<Entry> => {
  if (list === "channels") return document.channels.map((entry) => ({ list, entry }))
  if (list === "models") return document.models.map((entry) => ({ list, entry }))
  return document.mounts.map((entry) => ({ list, entry }))
}

/** A document of these entries, in their order, with the other parts of `document`. */
export const documentOf = (
  entries: ReadonlyArray<Entry>,
  document: Omit<CatalogText, ListName>
): CatalogText => ({
  ...document,
  channels: entries.flatMap((entry) => (entry.list === "channels" ? [entry.entry] : [])),
  models: entries.flatMap((entry) => (entry.list === "models" ? [entry.entry] : [])),
  mounts: entries.flatMap((entry) => (entry.list === "mounts" ? [entry.entry] : []))
})

const allEntries = (document: CatalogText): ReadonlyArray<Entry> =>
  listNames.flatMap((list) => entriesOf(document, list))

const isNamed = (entry: Entry, list: ListName, key: string): boolean =>
  entry.list === list && keyOf(entry) === key

/**
 * The document with the entry in place of the one with the key `replaced`, or at the end of its
 * list.
 */
export const withEntry = (
  document: CatalogText,
  entry: Entry,
  replacedKey: string | null
): CatalogText => {
  const all = allEntries(document)
  return documentOf(
    replacedKey === null
      ? [...all, entry]
      : all.map((other) => (isNamed(other, entry.list, replacedKey) ? entry : other)),
    document
  )
}

/** The document without the entry, and without the mounts that refer to it. */
export const withoutEntry = (document: CatalogText, removedEntry: Entry): CatalogText => {
  const key = keyOf(removedEntry)
  return documentOf(
    allEntries(document).filter((entry) => {
      if (isNamed(entry, removedEntry.list, key)) return false
      if (entry.list !== "mounts") return true
      if (removedEntry.list === "channels") return entry.entry.channel !== removedEntry.entry.id
      return removedEntry.list === "models" ? entry.entry.model !== removedEntry.entry.id : true
    }),
    document
  )
}

/** All entries by list and key. */
export const byName = (document: CatalogText): ReadonlyMap<string, Entry> =>
  new Map(allEntries(document).map((entry) => [`${entry.list} ${keyOf(entry)}`, entry]))

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** A JSON replacer that sorts fields, so that equal values have equal texts. */
const sortFields = (_: string, value: unknown): unknown =>
  isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([name], [other]) => (name < other ? -1 : 1)))
    : value

export const isSame = (entry: Entry | undefined, other: Entry | undefined): boolean =>
  JSON.stringify(entry?.entry, sortFields) === JSON.stringify(other?.entry, sortFields)

export const isSameDocument = (document: CatalogText, other: CatalogText): boolean =>
  JSON.stringify(document, sortFields) === JSON.stringify(other, sortFields)

/** The document without the vendors' API keys that were typed into it. */
export const withoutSecrets = ({ channels, ...otherParts }: CatalogText): CatalogText => ({
  ...otherParts,
  channels: channels.map(({ api_key: _, api_keys, ...channel }) => ({
    ...channel,
    ...(api_keys === undefined ? {} : { api_keys: api_keys.map(({ api_key: __, ...key }) => key) })
  }))
})

/**
 * The document, with the API keys of `other` where it has none for the same channel and key name.
 */
export const withSecretsOf = (document: CatalogText, other: CatalogText): CatalogText => {
  const channelsWithSecrets = new Map(other.channels.map((channel) => [channel.id, channel]))
  return {
    ...document,
    channels: document.channels.map((channel) => {
      const { api_key = null, api_keys = [] } = channelsWithSecrets.get(channel.id) ?? {}
      const names = new Map(api_keys.map((key) => [key.name, key.api_key ?? null]))
      const apiKey = channel.api_key ?? api_key
      return {
        ...channel,
        ...(apiKey === null ? {} : { api_key: apiKey }),
        ...(channel.api_keys === undefined
          ? {}
          : {
              api_keys: channel.api_keys.map((key) => {
                const value = key.api_key ?? names.get(key.name) ?? null
                return value === null ? key : { ...key, api_key: value }
              })
            })
      }
    })
  }
}
