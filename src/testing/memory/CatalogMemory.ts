/** The catalog in memory; every version there was stays. */
import { Clock, Effect, Layer, Semaphore } from "effect"
import { Changes } from "../../runtime/Changes.ts"
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

    const replace: Catalog["Service"]["replace"] = Effect.fn("Catalog.replace")(
      function* (catalog) {
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
      }
    )

    return Catalog.of({ snapshot: Effect.sync(newest), replace })
  })
)
