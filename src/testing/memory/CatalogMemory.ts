/** The catalog in memory, where every version stays, with its channel accounts and what tells of its changes. */
import { Clock, Effect, Layer, Semaphore } from "effect"
import { ChannelUnavailable } from "../../domain/Errors.ts"
import { Changes, makeMarks } from "../../runtime/Changes.ts"
import {
  Catalog,
  ChannelCredentials,
  checkCatalog,
  emptySnapshot,
  makeSnapshot,
  replacedCatalog
} from "../../services/Catalog.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { MemoryStore } from "./MemoryStore.ts"

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

    return Catalog.of({
      snapshot: Effect.sync(newest),
      replace: Effect.fn("Catalog.replace")(function* (catalog) {
        const after = yield* Effect.fromResult(checkCatalog(catalog, protocols))
        const { version, before } = yield* Effect.gen(function* () {
          yield* credentials.store(catalog.channels)
          const createdAt = new Date(yield* Clock.currentTimeMillis)
          const { version: last, document } = newest()
          catalogs.push(makeSnapshot(last + 1n, createdAt, after))
          return { version: last + 1n, before: document }
        }).pipe((change) => changes.telling("catalog", change), replacing.withPermit, Effect.orDie)
        const keyed = yield* credentials.withKey
        return replacedCatalog({ version, before, after, catalog }, protocols, keyed)
      })
    })
  })
)

export const layerChannelCredentialsMemory = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const { accounts } = yield* MemoryStore

    const account: ChannelCredentials["Service"]["account"] = Effect.fn(
      "ChannelCredentials.account"
    )(function* (channelId) {
      const { baseUrl, appId, apiKey = null } = accounts.get(channelId) ?? {}
      if (baseUrl === undefined || appId === undefined || apiKey === null) {
        return yield* new ChannelUnavailable({
          message: "The channel of this model has no usable credentials at the moment",
          param: "model"
        })
      }
      return { channelId, baseUrl, apiKey, appId }
    })

    const withKey = Effect.sync(
      () => new Set([...accounts].flatMap(([id, { apiKey }]) => (apiKey === null ? [] : [id])))
    )

    return ChannelCredentials.of({
      account,
      store: Effect.fn("ChannelCredentials.store")((channels) =>
        Effect.sync(() => {
          for (const { id, base_url, app_id, api_key } of channels) {
            const apiKey = api_key ?? accounts.get(id)?.apiKey ?? null
            accounts.set(id, { baseUrl: base_url, appId: app_id, apiKey })
          }
        })
      ),
      withKey
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
