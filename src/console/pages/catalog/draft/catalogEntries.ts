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

/** A document of these entries, in their order. */
export const documentOf = (entries: ReadonlyArray<Entry>): CatalogText => ({
  channels: entries.flatMap((one) => (one.list === "channels" ? [one.entry] : [])),
  models: entries.flatMap((one) => (one.list === "models" ? [one.entry] : [])),
  mounts: entries.flatMap((one) => (one.list === "mounts" ? [one.entry] : []))
})

const allEntries = (document: CatalogText): ReadonlyArray<Entry> =>
  listNames.flatMap((list) => entriesOf(document, list))

const isNamed = (one: Entry, list: ListName, key: string): boolean =>
  one.list === list && keyOf(one) === key

/**
 * The document with the entry in place of the one with the key `replaced`, or at the end of its
 * list.
 */
export const withEntry = (
  document: CatalogText,
  entry: Entry,
  replaced: string | null
): CatalogText => {
  const all = allEntries(document)
  return documentOf(
    replaced === null
      ? [...all, entry]
      : all.map((one) => (isNamed(one, entry.list, replaced) ? entry : one))
  )
}

/** The document without the entry, and without the mounts that refer to it. */
export const withoutEntry = (document: CatalogText, gone: Entry): CatalogText => {
  const key = keyOf(gone)
  return documentOf(
    allEntries(document).filter((one) => {
      if (isNamed(one, gone.list, key)) return false
      if (one.list !== "mounts") return true
      if (gone.list === "channels") return one.entry.channel !== gone.entry.id
      return gone.list === "models" ? one.entry.model !== gone.entry.id : true
    })
  )
}

/** All entries by list and key. */
export const byName = (document: CatalogText): ReadonlyMap<string, Entry> =>
  new Map(allEntries(document).map((one) => [`${one.list} ${keyOf(one)}`, one]))

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** A JSON replacer that sorts fields, so that equal values have equal texts. */
const inOrder = (_: string, value: unknown): unknown =>
  isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

export const isSame = (one: Entry | undefined, other: Entry | undefined): boolean =>
  JSON.stringify(one?.entry, inOrder) === JSON.stringify(other?.entry, inOrder)

export const isSameDocument = (one: CatalogText, other: CatalogText): boolean =>
  JSON.stringify(one, inOrder) === JSON.stringify(other, inOrder)

/** The document without the vendors' API keys that were typed into it. */
export const withoutSecrets = ({ channels, models, mounts }: CatalogText): CatalogText => ({
  channels: channels.map(({ api_key: _, api_keys, ...channel }) => ({
    ...channel,
    ...(api_keys === undefined ? {} : { api_keys: api_keys.map(({ api_key: __, ...key }) => key) })
  })),
  models,
  mounts
})

/**
 * The document, with the API keys of `other` where it has none for the same channel and key name.
 */
export const withSecretsOf = (document: CatalogText, other: CatalogText): CatalogText => {
  const typed = new Map(other.channels.map((channel) => [channel.id, channel]))
  return {
    ...document,
    channels: document.channels.map((channel) => {
      const { api_key = null, api_keys = [] } = typed.get(channel.id) ?? {}
      const names = new Map(api_keys.map((key) => [key.name, key.api_key ?? null]))
      const own = channel.api_key ?? api_key
      return {
        ...channel,
        ...(own === null ? {} : { api_key: own }),
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
