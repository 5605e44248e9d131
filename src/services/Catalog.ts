/** What can be ordered: models, their prices, and where they are mounted. */
import { Context, type Effect, Order, Result } from "effect"
import type {
  CatalogDocument,
  CatalogWrite,
  Channel,
  ChannelWrite,
  Model,
  Mount
} from "../domain/catalog/CatalogDocument.ts"
import {
  type CatalogChange,
  compareLists,
  findFaults,
  findWarnings
} from "../domain/catalog/CatalogRules.ts"
import { keyFaults, type StoredKeys, writtenKeys } from "../domain/catalog/channelKeys.ts"
import type { ProtocolTables } from "../domain/catalog/ProtocolTables.ts"
import { InvalidRequest, NotFound } from "../domain/Errors.ts"
import type { FieldFault } from "../domain/requestFields.ts"

/** One version of the catalog, ready for look-ups. */
export interface CatalogSnapshot {
  /** 0 before the first catalog is loaded. */
  readonly version: bigint
  /** When this version came into force. */
  readonly createdAt: Date
  readonly document: CatalogDocument
  readonly models: ReadonlyMap<string, Model>
  /** Enabled mounts on enabled channels: by priority, and of one priority in the catalog's order. */
  readonly mounts: ReadonlyMap<string, ReadonlyArray<Mount>>
  readonly channels: ReadonlyMap<string, Channel>
}

export interface CatalogReplaced {
  readonly version: bigint
  readonly changes: CatalogChange
  readonly warnings: ReadonlyArray<FieldFault>
}

const byPriority = Order.mapInput(Order.Number, ({ priority }: Mount) => priority)

export const makeSnapshot = (
  version: bigint,
  createdAt: Date,
  document: CatalogDocument
): CatalogSnapshot => {
  const channels = new Map(document.channels.map((channel) => [channel.id, channel]))
  const enabled = document.mounts.filter(
    (mount) => mount.enabled && channels.get(mount.channel)?.enabled === true
  )
  const mounts = Map.groupBy(enabled.toSorted(byPriority), ({ model }) => model)
  const models = new Map(document.models.map((model) => [model.id, model]))
  return { version, createdAt, document, models, mounts, channels }
}

/** The catalog before the first one is loaded. */
export const emptySnapshot = makeSnapshot(0n, new Date(0), {
  channels: [],
  models: [],
  mounts: []
})

/** A channel without the values of its keys. */
const inTheClear = (channel: ChannelWrite): Channel => {
  const { api_key: _, api_keys, ...clear } = channel
  if (api_keys === undefined || api_keys.length === 0) return clear
  return {
    ...clear,
    api_keys: writtenKeys(channel).map(({ name, enabled }) => ({ name, enabled }))
  }
}

/** What is stored in the clear, everything but the channels' keys; or every fault of it by path. */
export const checkCatalog = (
  catalog: CatalogWrite,
  protocols: ProtocolTables
): Result.Result<CatalogDocument, InvalidRequest> => {
  const document = { ...catalog, channels: catalog.channels.map(inTheClear) }
  const faults = [...keyFaults(catalog), ...findFaults(document, protocols)]
  return faults[0] === undefined
    ? Result.succeed(document)
    : Result.fail(
        new InvalidRequest({
          message: `The catalog contradicts itself in ${faults.length} place(s); nothing was changed. First: ${faults[0].path}: ${faults[0].message}`,
          param: faults[0].path,
          faults
        })
      )
}

/** What an operator is told of a catalog that has taken the place of `before`. */
export const replacedCatalog = (
  written: {
    readonly version: bigint
    readonly before: CatalogDocument
    readonly after: CatalogDocument
    readonly catalog: CatalogWrite
  },
  protocols: ProtocolTables,
  storedKeys: StoredKeys
): CatalogReplaced => {
  const { before, after } = written
  const channels = compareLists(before.channels, after.channels, ({ id }) => id)
  const isRekeyed = (channel: ChannelWrite) =>
    writtenKeys(channel).some(({ api_key = null }) => api_key !== null)
  const rekeyed = written.catalog.channels.flatMap((channel) =>
    isRekeyed(channel) && !channels.added.includes(channel.id) ? [channel.id] : []
  )
  return {
    version: written.version,
    changes: {
      channels: { ...channels, changed: [...new Set([...channels.changed, ...rekeyed])] },
      models: compareLists(before.models, after.models, ({ id }) => id),
      mounts: compareLists(
        before.mounts,
        after.mounts,
        ({ model, channel }) => `${model}@${channel}`
      )
    },
    warnings: findWarnings(after, protocols, storedKeys)
  }
}

/** The catalog with the channel in use or out of it; null where there is no such channel. */
export const withChannel = (
  document: CatalogDocument,
  channelId: string,
  enabled: boolean
): CatalogDocument | null =>
  document.channels.some(({ id }) => id === channelId)
    ? {
        ...document,
        channels: document.channels.map((channel) =>
          channel.id === channelId ? { ...channel, enabled } : channel
        )
      }
    : null

export const noSuchChannel = () => new NotFound({ message: "There is no channel with this id" })

export class Catalog extends Context.Service<
  Catalog,
  {
    /** The version in force; another gateway's change arrives within a second. */
    readonly snapshot: Effect.Effect<CatalogSnapshot>
    /** Replaces the whole catalog in one step, or refuses it with every fault by path. */
    replace(catalog: CatalogWrite): Effect.Effect<CatalogReplaced, InvalidRequest>
    /** Takes a channel into use or out of it, and leaves the rest of the catalog as it is. */
    enable(channelId: string, enabled: boolean): Effect.Effect<void, NotFound>
  }
>()("gateway/services/Catalog") {}
