/** The API keys of a channel at its vendor. */
import type { FieldFault } from "../requestFields.ts"
import type {
  CatalogDocument,
  CatalogWrite,
  Channel,
  ChannelKey,
  ChannelKeyWrite,
  ChannelWrite
} from "./CatalogDocument.ts"
import { originOf } from "./origin.ts"

type Faults = Generator<FieldFault, void>

/** The name of a channel's `api_key` among its keys. */
export const DEFAULT_KEY = "default"

/** The only key of a channel that lists no keys. */
const defaultChannelKey = { name: DEFAULT_KEY, enabled: true }

export const keysOf = ({ api_keys = [] }: Channel): ReadonlyArray<ChannelKey> =>
  api_keys.length === 0 ? [defaultChannelKey] : api_keys

/** All keys of a channel that is being written, including its `api_key`. */
export const writtenKeys = ({
  api_key = null,
  api_keys = []
}: ChannelWrite): ReadonlyArray<ChannelKeyWrite> =>
  api_keys.length === 0 || api_key !== null
    ? [{ ...defaultChannelKey, api_key }, ...api_keys]
    : api_keys

/**
 * Refuses two keys with the same name in one channel: key rotation, cooldowns and running tasks
 * identify keys by name.
 */
export function* keyFaults({ channels }: CatalogWrite): Faults {
  for (const [index, { api_key = null, api_keys = [] }] of channels.entries()) {
    const seen = new Set(api_key === null ? [] : [DEFAULT_KEY])
    for (const [keyIndex, { name }] of api_keys.entries()) {
      if (seen.has(name)) {
        const other =
          name === DEFAULT_KEY && api_key !== null ? "is the name of api_key" : "is listed twice"
        yield {
          path: `channels[${index}].api_keys[${keyIndex}].name`,
          message: `${JSON.stringify(name)} ${other}`
        }
      }
      seen.add(name)
    }
  }
}

interface ChannelStoredKeys {
  /** The origin of the base address that the keys were stored for; null if the address has none. */
  readonly origin: string | null
  readonly names: ReadonlySet<string>
}

/** The stored keys, by channel id. */
export type StoredKeys = ReadonlyMap<string, ChannelStoredKeys>

/**
 * Refuses a new origin for a channel with a stored key, because the key would be sent to that
 * origin and could be read there by the person who changed the catalog. Another path of the same
 * origin belongs to the same vendor.
 */
export function* originFaults({ channels }: CatalogWrite, storedKeys: StoredKeys): Faults {
  for (const [index, { id, base_url, api_key = null, api_keys = [] }] of channels.entries()) {
    const stored = storedKeys.get(id)
    if (stored === undefined || stored.origin === originOf(base_url)) continue
    const keepsStoredKey = (name: string, value: ChannelKeyWrite["api_key"]) =>
      (value ?? null) === null && stored.names.has(name)
    const channelPath = `channels[${index}]`
    const message = `The base address has another origin than ${stored.origin ?? "before"}, so its key has to be given again`
    if (api_keys.length === 0 && keepsStoredKey(DEFAULT_KEY, api_key)) {
      yield { path: `${channelPath}.api_key`, message }
    }
    for (const [keyIndex, key] of api_keys.entries()) {
      if (keepsStoredKey(key.name, key.api_key))
        yield { path: `${channelPath}.api_keys[${keyIndex}].api_key`, message }
    }
  }
}

/** Warns of keys that orders need and that are not stored or not enabled. */
export function* keyWarnings({ channels }: CatalogDocument, storedKeys: StoredKeys): Faults {
  for (const [index, channel] of channels.entries()) {
    const path = `channels[${index}].api_key`
    const stored = storedKeys.get(channel.id)?.names
    const keys = keysOf(channel)
    if (!keys.some(({ name }) => stored?.has(name))) {
      yield { path, message: "no key is stored for this channel" }
    } else if (!keys.some(({ name, enabled }) => enabled && stored?.has(name))) {
      yield { path: `${path}s`, message: "no key of this channel is enabled" }
    } else {
      for (const [keyIndex, { name }] of keys.entries()) {
        if (stored?.has(name)) continue
        yield { path: `${path}s[${keyIndex}]`, message: "no key is stored under this name" }
      }
    }
  }
}
