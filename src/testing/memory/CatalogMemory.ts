/**
 * The catalog in memory with all its versions, the accounts of channels, and the notifier of
 * changes.
 */
import { Array as Arr, Clock, Effect, Equal, Layer, Result, Semaphore } from "effect"
import type {
  CatalogDocument,
  ChannelKeyWrite,
  ChannelWrite
} from "../../domain/catalog/CatalogDocument.ts"
import { writtenKeys } from "../../domain/catalog/channelKeys.ts"
import { originOf } from "../../domain/catalog/origin.ts"
import type { PriceList } from "../../domain/catalog/PriceList.ts"
import { schedulePriceList } from "../../domain/catalog/priceLists.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Changes, makeMarks } from "../../runtime/Changes.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Catalog,
  type CatalogEdit,
  type CatalogVersionWrite,
  emptySnapshot,
  makeCatalogChanges,
  makeSnapshot,
  versionConflict
} from "../../services/Catalog.ts"
import {
  accountsOfTask,
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../../services/channels/ChannelCredentials.ts"
import { keyTarget } from "../../services/channels/ChannelRecords.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { StoredDocuments } from "../../services/StoredDocuments.ts"
import { cooldownName, type MemoryState, MemoryStore, type StoredAccount } from "./MemoryStore.ts"

/** The price lists that were not removed, oldest first. */
const storedPriceLists = ({ priceLists }: MemoryState): ReadonlyArray<PriceList> =>
  [...priceLists.values()].flatMap(({ list, removedAt }) => (removedAt === null ? [list] : []))

export const layerCatalogMemory = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const { catalogs } = store
    const { timeZone } = yield* Settings
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const storedDocuments = yield* StoredDocuments
    const changes = yield* Changes
    const newest = () => catalogs.at(-1) ?? emptySnapshot
    // Serializes writes, so that each version is stored together with its accounts.
    const writePermit = yield* Semaphore.make(1)

    const writeVersion = <Next extends CatalogDocument | null>(
      next: (before: CatalogDocument) => Effect.Effect<Next, InvalidRequest>,
      { author, onVersion }: CatalogEdit
    ): Effect.Effect<CatalogVersionWrite<Next>> =>
      Effect.gen(function* () {
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        const { version: last, document: before } = newest()
        if (onVersion !== null && onVersion !== last) {
          const newer = catalogs.filter(({ version }) => version > onVersion)
          return { _tag: "Outdated" as const, error: versionConflict(last, newer) }
        }
        const result = yield* Effect.result(next(before))
        if (Result.isFailure(result)) return { _tag: "Refused" as const, error: result.failure }
        const document = result.success
        if (document !== null) catalogs.push(makeSnapshot(last + 1n, createdAt, document, author))
        return { _tag: "Written" as const, version: last + 1n, before, document }
      }).pipe(
        (change) => changes.changeAndNotify("catalog", change),
        writePermit.withPermit,
        Effect.orDie
      )

    const scheduled = (lists: ReadonlyArray<PriceList>) =>
      lists.map((list) => schedulePriceList(list, timeZone))
    const priceLists = Effect.sync(() => scheduled(storedPriceLists(store)))

    // A snapshot computes the prices of a list only once, so it is kept until catalog or lists
    // change.
    let current = { catalog: newest(), lists: storedPriceLists(store), snapshot: newest() }
    const snapshot = Effect.sync(() => {
      const [catalog, lists] = [newest(), storedPriceLists(store)]
      if (catalog !== current.catalog || !Equal.equals(lists, current.lists)) {
        const { version, createdAt, document, author } = catalog
        current = {
          catalog,
          lists,
          snapshot: makeSnapshot(version, createdAt, document, author, scheduled(lists))
        }
        storedDocuments.replace(document.protocols ?? [])
      }
      return current.snapshot
    })

    return Catalog.of({
      snapshot,
      ...makeCatalogChanges({ snapshot, protocols, credentials, priceLists, writeVersion })
    })
  })
)

/**
 * Returns the version of a channel's account in which its keys are stored: the current version
 * where address, application id and key values are unchanged, otherwise a new version that
 * supersedes the current one.
 */
const accountFor = (
  { id, base_url: baseUrl, app_id: appId }: ChannelWrite,
  keys: ReadonlyArray<ChannelKeyWrite>,
  { accounts }: MemoryState,
  nowMillis: number
): StoredAccount => {
  const versions = accounts.get(id) ?? []
  const current = versions.find(({ supersededAt }) => supersededAt === null)
  const isChanged = ({ name, api_key = null }: ChannelKeyWrite) =>
    api_key !== null && !Equal.equals(current?.keys.get(name)?.apiKey, api_key)
  if (current?.baseUrl === baseUrl && current.appId === appId && !keys.some(isChanged)) {
    return current
  }
  const origin = originOf(baseUrl)
  const account: StoredAccount = {
    version: (current?.version ?? 0) + 1,
    baseUrl,
    appId,
    origin,
    keys: new Map(current?.origin === origin ? current?.keys : []),
    supersededAt: null
  }
  if (current !== undefined) current.supersededAt = nowMillis
  accounts.set(id, [account, ...versions])
  return account
}

const storeAccount = (state: MemoryState, channel: ChannelWrite, nowMillis: number): void => {
  const { accounts, cooldowns } = state
  const { id } = channel
  const keyWrites = writtenKeys(channel)
  const account = accountFor(channel, keyWrites, state, nowMillis)
  const names = new Set(keyWrites.map(({ name }) => name))
  const versions = (accounts.get(id) ?? []).filter(({ origin }) => origin === account.origin)
  for (const { keys } of versions) {
    for (const name of keys.keys()) if (!names.has(name)) keys.delete(name)
  }
  for (const { name, enabled, api_key = null } of keyWrites) {
    const apiKey = api_key ?? account.keys.get(name)?.apiKey
    if (apiKey !== undefined) account.keys.set(name, { apiKey, enabled })
    if (api_key !== null) cooldowns.delete(cooldownName(keyTarget(id, name)))
  }
}

export const layerChannelCredentialsMemory = Layer.effect(
  ChannelCredentials,
  Effect.gen(function* () {
    const store = yield* MemoryStore

    const keyedAccounts = (
      channelId: string,
      { baseUrl, appId, origin, version, keys, supersededAt }: StoredAccount
    ): ReadonlyArray<KeyedAccount> => {
      if (origin === null) return []
      const isSuperseded = supersededAt !== null
      return [...keys]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([keyName, { apiKey }]) => ({
          channelId,
          keyName,
          baseUrl,
          apiKey,
          appId,
          origin,
          version,
          isSuperseded
        }))
    }

    const versionsOf = (channelId: string) => store.accounts.get(channelId) ?? []
    const currentOf = (channelId: string) =>
      versionsOf(channelId).find(({ supersededAt }) => supersededAt === null)

    const isInUse = (channelId: string, version: number): boolean =>
      [...store.organizations.values()].some(({ orders }) =>
        [...orders.values()].some(
          ({ job, task }) =>
            job.channelId === channelId &&
            (task?.state === "submitting" ||
              (task?.state === "processing" && task.accountVersion === version))
        )
      )

    return ChannelCredentials.of({
      accounts: Effect.fn("ChannelCredentials.accounts")(function* (channelId) {
        const current = currentOf(channelId)
        const all = current === undefined ? [] : keyedAccounts(channelId, current)
        if (!Arr.isReadonlyArrayNonEmpty(all)) return yield* noCredentials()
        const isEnabled = ({ keyName }: KeyedAccount) =>
          current?.keys.get(keyName)?.enabled === true
        return { all, forOrders: all.filter(isEnabled) }
      }),
      taskAccounts: Effect.fn("ChannelCredentials.taskAccounts")(function* (channelId, version) {
        const versions = versionsOf(channelId).map((one) => ({
          version: one.version,
          origin: one.origin,
          accounts: keyedAccounts(channelId, one)
        }))
        const accounts = accountsOfTask(versions, version)
        return Arr.isReadonlyArrayNonEmpty(accounts) ? accounts : yield* noCredentials()
      }),
      store: Effect.fn("ChannelCredentials.store")((channels) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          for (const channel of channels) storeAccount(store, channel, now)
        })
      ),
      forgetSuperseded: Effect.fn("ChannelCredentials.forgetSuperseded")((seconds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const until = now - seconds * 1000
          for (const [channelId, versions] of store.accounts) {
            const isCurrent = ({ supersededAt, version }: StoredAccount) =>
              supersededAt === null || supersededAt > until || isInUse(channelId, version)
            store.accounts.set(channelId, versions.filter(isCurrent))
          }
        })
      ),
      storedKeys: Effect.sync(
        () =>
          new Map(
            [...store.accounts.keys()].flatMap((id) => {
              const { origin = null, keys = new Map<string, unknown>() } = currentOf(id) ?? {}
              return keys.size === 0 ? [] : [[id, { origin, names: new Set(keys.keys()) }] as const]
            })
          )
      )
    })
  })
)

/**
 * The notifier of changes in memory. A store in memory has only one gateway, so there is no other
 * gateway to notify or to listen to.
 */
export const layerChangesMemory = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const { invalidate, ...marks } = yield* makeMarks(() => true)
    return Changes.of({
      ...marks,
      changeAndNotify: (topic, change) => Effect.ensuring(change, invalidate([topic]))
    })
  })
)
