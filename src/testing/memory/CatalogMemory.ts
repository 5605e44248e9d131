/** The catalog in memory, where every version stays, with its channel accounts and what tells of its changes. */
import { Array as Arr, Clock, Effect, Equal, Layer, Result, Semaphore } from "effect"
import type {
  CatalogDocument,
  ChannelKeyWrite,
  ChannelWrite
} from "../../domain/catalog/CatalogDocument.ts"
import { writtenKeys } from "../../domain/catalog/channelKeys.ts"
import { originOf } from "../../domain/catalog/origin.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Changes, makeMarks } from "../../runtime/Changes.ts"
import {
  Catalog,
  type CatalogEdit,
  checkCatalog,
  emptySnapshot,
  makeSnapshot,
  noSuchChannel,
  previewOf,
  replacedCatalog,
  unconditionalEdit,
  versionConflict,
  withChannel
} from "../../services/Catalog.ts"
import {
  accountsOfTask,
  ChannelCredentials,
  type KeyedAccount,
  noCredentials
} from "../../services/channels/ChannelCredentials.ts"
import { keyTarget } from "../../services/channels/ChannelRecords.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { cooldownName, type MemoryState, MemoryStore, type StoredAccount } from "./MemoryStore.ts"

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

    const write = <Next extends CatalogDocument | null>(
      next: (before: CatalogDocument) => Effect.Effect<Next, InvalidRequest>,
      { author, onVersion }: CatalogEdit
    ) =>
      Effect.gen(function* () {
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        const { version: last, document: before } = newest()
        if (onVersion !== null && onVersion !== last) {
          const since = catalogs.filter(({ version }) => version > onVersion)
          return { _tag: "Late" as const, error: versionConflict(last, since) }
        }
        const planned = yield* Effect.result(next(before))
        if (Result.isFailure(planned)) return { _tag: "Refused" as const, error: planned.failure }
        const document = planned.success
        if (document !== null) catalogs.push(makeSnapshot(last + 1n, createdAt, document, author))
        return { _tag: "Done" as const, version: last + 1n, before, document }
      }).pipe(
        (change) => changes.changeAndNotify("catalog", change),
        replacing.withPermit,
        Effect.orDie
      )

    const snapshot = Effect.sync(newest)

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog, edit = unconditionalEdit) {
        const checkAndStore = Effect.gen(function* () {
          const storedKeys = yield* credentials.storedKeys
          const document = yield* Effect.fromResult(checkCatalog(catalog, protocols, storedKeys))
          yield* credentials.store(catalog.channels)
          return document
        })
        const written = yield* write(() => checkAndStore, edit)
        if (written._tag !== "Done") return yield* written.error
        const { version, before, document: after } = written
        const storedKeys = yield* credentials.storedKeys
        return replacedCatalog({ version, before, after, catalog }, protocols, storedKeys)
      }),
      preview: previewOf({ snapshot, protocols, storedKeys: credentials.storedKeys }),
      enable: Effect.fn("Catalog.enable")(function* (channelId, enabled, author) {
        const written = yield* write(
          (before) => Effect.succeed(withChannel(before, channelId, enabled)),
          { author, onVersion: null }
        )
        if (written._tag !== "Done" || written.document === null) return yield* noSuchChannel()
      })
    })
  })
)

/** What is stored in place of the account before, or changes it where it stays. */
const storeAccount = (
  { accounts, cooldowns }: MemoryState,
  channel: ChannelWrite,
  nowMillis: number
): void => {
  const { id, base_url: baseUrl, app_id: appId } = channel
  const origin = originOf(baseUrl)
  const versions = accounts.get(id) ?? []
  const before = versions.find(({ supersededAt }) => supersededAt === null)
  const written = writtenKeys(channel)
  const isNew = ({ name, api_key = null }: ChannelKeyWrite) =>
    api_key !== null && !Equal.equals(before?.keys.get(name)?.apiKey, api_key)
  const stays = before?.baseUrl === baseUrl && before.appId === appId && !written.some(isNew)
  const account: StoredAccount =
    before !== undefined && stays
      ? before
      : {
          version: (before?.version ?? 0) + 1,
          ...{ baseUrl, appId, origin },
          keys: new Map(before?.origin === origin ? before?.keys : []),
          supersededAt: null
        }
  if (account !== before) {
    if (before !== undefined) before.supersededAt = nowMillis
    accounts.set(id, [account, ...versions])
  }
  const names = new Set(written.map(({ name }) => name))
  for (const { keys } of [account, ...versions].filter((one) => one.origin === origin)) {
    for (const name of keys.keys()) if (!names.has(name)) keys.delete(name)
  }
  for (const { name, enabled, api_key = null } of written) {
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
          ...{ channelId, keyName, baseUrl, apiKey, appId },
          ...{ origin, version, isSuperseded }
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
            const stays = ({ supersededAt, version }: StoredAccount) =>
              supersededAt === null || supersededAt > until || isInUse(channelId, version)
            store.accounts.set(channelId, versions.filter(stays))
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

/** There is one gateway on a state in memory, so no other has to be told or heard. */
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
