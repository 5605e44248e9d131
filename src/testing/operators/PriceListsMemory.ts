/** Price lists in memory. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { PriceList } from "../../domain/catalog/PriceList.ts"
import { newestVersion } from "../../domain/catalog/priceLists.ts"
import { Changes } from "../../runtime/Changes.ts"
import { Catalog } from "../../services/Catalog.ts"
import {
  checkPriceList,
  inUse,
  isNewVersion,
  noSuchPriceList,
  type PriceListRecord,
  PriceLists,
  type PriceListWrite,
  priceListPrefix
} from "../../services/PriceLists.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { MemoryStore, pageOf, type StoredPriceList } from "../memory/MemoryStore.ts"

const versionOf = ({ holdsFrom, terms, author }: PriceListWrite, version: number, now: number) => ({
  version,
  holdsFrom,
  terms,
  author,
  createdAt: new Date(now)
})

/** The list after a write; other terms or another day are a further version. */
const replaced = (list: PriceList, write: PriceListWrite, now: number): PriceList => {
  const { name, watermark } = write
  const next = versionOf(write, newestVersion(list).version + 1, now)
  const versions = isNewVersion(list, write) ? ([...list.versions, next] as const) : list.versions
  return { id: list.id, name, watermark, versions }
}

export const layerPriceListsMemory = Layer.effect(
  PriceLists,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const catalog = yield* Catalog
    const protocols = yield* Protocols
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes

    const recordOf = ({ list, createdAt }: StoredPriceList): PriceListRecord => ({
      ...list,
      createdAt,
      organizations: [...store.organizations.values()].filter(
        ({ priceListId }) => priceListId === list.id
      ).length
    })

    const present = () =>
      [...store.priceLists.values()].filter(({ removedAt }) => removedAt === null)

    const find = (id: string) =>
      Effect.suspend(() => {
        const stored = present().find(({ list }) => list.id === id)
        return stored === undefined ? Effect.fail(noSuchPriceList) : Effect.succeed(stored)
      })

    const check = Effect.fnUntraced(function* (id: string, write: PriceListWrite) {
      const { document } = yield* catalog.snapshot
      const names = present().flatMap(({ list }) => (list.id === id ? [] : [list.name]))
      return checkPriceList(write, document, protocols, names)
    })

    const put = (stored: StoredPriceList) =>
      Effect.orDie(
        changes.changeAndNotify(
          "catalog",
          Effect.sync(() => {
            store.priceLists.set(stored.list.id, stored)
            return recordOf(stored)
          })
        )
      )

    return PriceLists.of({
      list: Effect.fn("PriceLists.list")((page) =>
        Effect.suspend(() => pageOf(present().map(recordOf), page))
      ),
      find: Effect.fn("PriceLists.find")((id) => Effect.map(find(id), recordOf)),
      create: Effect.fn("PriceLists.create")(function* (write) {
        const id = priceListPrefix + (yield* random.uuidV7())
        const warnings = yield* Effect.fromResult(yield* check(id, write))
        const { name, watermark } = write
        const now = yield* Clock.currentTimeMillis
        const list: PriceList = { id, name, watermark, versions: [versionOf(write, 1, now)] }
        const record = yield* put({ list, createdAt: new Date(now), removedAt: null })
        return { record, warnings }
      }),
      replace: Effect.fn("PriceLists.replace")(function* (id, write) {
        const stored = yield* find(id)
        const warnings = yield* Effect.fromResult(yield* check(id, write))
        const list = replaced(stored.list, write, yield* Clock.currentTimeMillis)
        return { record: yield* put({ ...stored, list }), warnings }
      }),
      remove: Effect.fn("PriceLists.remove")(function* (id) {
        const stored = yield* find(id)
        const { organizations } = recordOf(stored)
        if (organizations > 0) return yield* inUse(organizations)
        yield* put({ ...stored, removedAt: new Date(yield* Clock.currentTimeMillis) })
      })
    })
  })
)
