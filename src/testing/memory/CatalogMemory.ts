/** The catalog in memory, where every version stays, with its channel accounts and what tells of its changes. */
import { Array as Arr, Clock, Effect, Layer, Semaphore } from "effect"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { writtenKeys } from "../../domain/catalog/channelKeys.ts"
import { Changes, makeMarks } from "../../runtime/Changes.ts"
import {
  Catalog,
  type CatalogEdit,
  checkCatalog,
  editedMeanwhile,
  emptySnapshot,
  freeEdit,
  makeSnapshot,
  noSuchChannel,
  previewOf,
  replacedCatalog,
  withChannel
} from "../../services/Catalog.ts"
import { ChannelCredentials, noCredentials } from "../../services/channels/ChannelCredentials.ts"
import { keyOf } from "../../services/channels/ChannelRecords.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { MemoryStore, restName, type StoredAccount } from "./MemoryStore.ts"

export const layerCatalogMemory = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const { catalogs } = yield* MemoryStore
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const changes = yield* Changes
    const newest = () => catalogs.at(-1) ?? emptySnapshot
    // One version after the other, with the accounts that belong to it.
    const replacing = yield* Semaphore.make(1)

    const write = (
      next: (before: CatalogDocument) => CatalogDocument | null,
      { author, onVersion }: CatalogEdit,
      alongside: Effect.Effect<void> = Effect.void
    ) =>
      Effect.gen(function* () {
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        const { version: last, document: before } = newest()
        if (onVersion !== null && onVersion !== last) {
          const since = catalogs.filter(({ version }) => version > onVersion)
          return { _tag: "Late" as const, error: editedMeanwhile(last, since) }
        }
        yield* alongside
        const document = next(before)
        if (document !== null) catalogs.push(makeSnapshot(last + 1n, createdAt, document, author))
        return { _tag: "Done" as const, version: last + 1n, before, isWritten: document !== null }
      }).pipe((change) => changes.telling("catalog", change), replacing.withPermit, Effect.orDie)

    const snapshot = Effect.sync(newest)

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog, edit = freeEdit) {
        const after = yield* Effect.fromResult(checkCatalog(catalog, protocols))
        const written = yield* write(() => after, edit, credentials.store(catalog.channels))
        if (written._tag === "Late") return yield* written.error
        const { version, before } = written
        const storedKeys = yield* credentials.storedKeys
        return replacedCatalog({ version, before, after, catalog }, protocols, storedKeys)
      }),
      preview: previewOf({ snapshot, protocols, storedKeys: credentials.storedKeys }),
      enable: Effect.fn("Catalog.enable")(function* (channelId, enabled, author) {
        const written = yield* write((before) => withChannel(before, channelId, enabled), {
          author,
          onVersion: null
        })
        if (written._tag === "Late" || !written.isWritten) return yield* noSuchChannel()
      })
    })
  })
)

export const layerChannelCredentialsMemory = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const { accounts, rests } = yield* MemoryStore

    const accountsOf: ChannelCredentials["Service"]["accounts"] = Effect.fn(
      "ChannelCredentials.accounts"
    )(function* (channelId) {
      const { baseUrl = "", appId = null, keys = new Map() } = accounts.get(channelId) ?? {}
      const named = [...keys].sort(([one], [other]) => (one < other ? -1 : 1))
      const all = named.map(([keyName, { apiKey }]) => ({
        ...{ channelId, keyName, baseUrl, apiKey, appId }
      }))
      if (!Arr.isReadonlyArrayNonEmpty(all)) return yield* noCredentials()
      return { all, forOrders: all.filter(({ keyName }) => keys.get(keyName)?.enabled === true) }
    })

    return ChannelCredentials.of({
      accounts: accountsOf,
      store: Effect.fn("ChannelCredentials.store")((channels) =>
        Effect.sync(() => {
          for (const channel of channels) {
            const { id, base_url, app_id } = channel
            const before = accounts.get(id)?.keys
            const keys: StoredAccount["keys"] = new Map()
            for (const { name, enabled, api_key = null } of writtenKeys(channel)) {
              const apiKey = api_key ?? before?.get(name)?.apiKey
              if (apiKey !== undefined) keys.set(name, { apiKey, enabled })
              if (api_key !== null) rests.delete(restName(keyOf(id, name)))
            }
            accounts.set(id, { baseUrl: base_url, appId: app_id, keys })
          }
        })
      ),
      storedKeys: Effect.sync(
        () => new Map([...accounts].map(([id, { keys }]) => [id, new Set(keys.keys())]))
      )
    })
  })
)

/** There is one gateway on a state in memory, so no other has to be told or heard. */
export const layerChangesMemory = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const { changed, ...marks } = yield* makeMarks(() => true)
    return Changes.of({
      ...marks,
      telling: (topic, change) => Effect.ensuring(change, changed([topic]))
    })
  })
)
