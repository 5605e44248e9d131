/**
 * The catalog of what clients can order: models, their prices, and the channels they are mounted
 * on.
 */
import { Clock, Context, Effect, Order, Result } from "effect"
import { type CatalogChange, compareLists } from "../domain/catalog/CatalogChange.ts"
import type {
  CatalogDocument,
  CatalogWrite,
  Channel,
  ChannelWrite,
  Model,
  Mount
} from "../domain/catalog/CatalogDocument.ts"
import { findFaults, findWarnings } from "../domain/catalog/CatalogRules.ts"
import {
  keyFaults,
  originFaults,
  type StoredKeys,
  writtenKeys
} from "../domain/catalog/channelKeys.ts"
import { namesOf } from "../domain/catalog/modelNames.ts"
import { originOf } from "../domain/catalog/origin.ts"
import type { PriceListTerms } from "../domain/catalog/PriceList.ts"
import { type ProtocolTables, protocolsWith } from "../domain/catalog/ProtocolTables.ts"
import {
  faultsByPriceLists,
  type PricedModel,
  priceModel,
  type ScheduledPriceList,
  versionAt,
  warningsByPriceLists
} from "../domain/catalog/priceLists.ts"
import { InvalidRequest, NotFound, PreconditionFailed } from "../domain/Errors.ts"
import type { FieldFault } from "../domain/requestFields.ts"
import type { ChannelCredentials } from "./channels/ChannelCredentials.ts"

/** One version of the catalog, ready for look-ups. */
export interface CatalogSnapshot {
  /** The version number; 0 before the first catalog is loaded. */
  readonly version: bigint
  /**
   * `createdAt` is the time at which this version came into force; `author` is the operator who
   * wrote it, or null where it was not written by an operator.
   */
  readonly createdAt: Date
  readonly author: string | null
  readonly document: CatalogDocument
  /** The models by their ids, in the order of the catalog. */
  readonly models: ReadonlyMap<string, Model>
  /** The models by every name that clients may order them by: their ids and their aliases. */
  readonly modelsByName: ReadonlyMap<string, Model>
  /**
   * Enabled mounts on enabled channels, by model; sorted by priority, then by their order in the
   * catalog.
   */
  readonly mounts: ReadonlyMap<string, ReadonlyArray<Mount>>
  readonly channels: ReadonlyMap<string, Channel>
  /** The price lists by their ids. */
  readonly priceLists: ReadonlyMap<string, ScheduledPriceList>
  /** The model with the prices of these terms, computed once for each of both. */
  readonly priceModel: (terms: PriceListTerms, model: Model) => PricedModel
}

export interface CatalogReplacement {
  readonly version: bigint
  readonly changes: CatalogChange
  readonly warnings: ReadonlyArray<FieldFault>
}

/** Computes the prices of a model under a list once for each version of catalog and list. */
const makePriceModel = (): CatalogSnapshot["priceModel"] => {
  const pricedByTerms = new Map<PriceListTerms, Map<string, PricedModel>>()
  return (terms, model) => {
    const priced = pricedByTerms.get(terms) ?? new Map<string, PricedModel>()
    pricedByTerms.set(terms, priced)
    const known = priced.get(model.id) ?? priceModel(terms, model)
    priced.set(model.id, known)
    return known
  }
}

/** A model as an organisation orders it, with the price list that priced it. */
export interface OfferedModel {
  readonly model: Model
  /** Null where the catalog's prices stand. */
  readonly priceList: string | null
}

/**
 * The model with the prices of an organisation at this time: those of its price list, if it is on
 * one which is in force and prices the model, and the catalog's otherwise.
 */
export const offerModel = (
  snapshot: CatalogSnapshot,
  priceListId: string | null | undefined,
  model: Model,
  nowMillis: number
): OfferedModel => {
  const list = snapshot.priceLists.get(priceListId ?? "")
  const version = list === undefined ? null : versionAt(list, nowMillis)
  if (list === undefined || version === null) return { model, priceList: null }
  const priced = snapshot.priceModel(version.terms, model)
  return { model: priced.model, priceList: priced.isListed ? list.id : null }
}

/**
 * Whether orders of an organisation on the list are marked by default; null where the list does not
 * say.
 */
export const markOfList = (
  { priceLists }: CatalogSnapshot,
  priceListId: string | null | undefined
): boolean | null => priceLists.get(priceListId ?? "")?.watermark ?? null

const byPriority = Order.mapInput(Order.Number, ({ priority }: Mount) => priority)

export const makeSnapshot = (
  version: bigint,
  createdAt: Date,
  document: CatalogDocument,
  author: string | null = null,
  priceLists: ReadonlyArray<ScheduledPriceList> = []
): CatalogSnapshot => {
  const channels = new Map(document.channels.map((channel) => [channel.id, channel]))
  const enabledMounts = document.mounts.filter(
    (mount) => mount.enabled && channels.get(mount.channel)?.enabled === true
  )
  const mounts = Map.groupBy(enabledMounts.toSorted(byPriority), ({ model }) => model)
  const models = new Map(document.models.map((model) => [model.id, model]))
  const modelsByName = new Map(
    document.models.flatMap((model) => namesOf(model).map((name) => [name, model] as const))
  )
  return {
    version,
    createdAt,
    author,
    document,
    models,
    modelsByName,
    mounts,
    channels,
    priceLists: new Map(priceLists.map((list) => [list.id, list])),
    priceModel: makePriceModel()
  }
}

/** The empty catalog that is in force before the first version is loaded. */
export const emptySnapshot = makeSnapshot(0n, new Date(0), {
  channels: [],
  models: [],
  mounts: []
})

/** A channel without the values of its keys. */
const withoutKeys = (channel: ChannelWrite): Channel => {
  const { api_key: _, api_keys, ...clear } = channel
  if (api_keys === undefined || api_keys.length === 0) return clear
  return {
    ...clear,
    api_keys: writtenKeys(channel).map(({ name, enabled }) => ({ name, enabled }))
  }
}

/**
 * Checks a catalog. Succeeds with the document to store, which is the catalog without the channels'
 * keys (these are stored separately, encrypted). Fails with every fault of the catalog by path.
 */
const checkCatalog = (
  catalog: CatalogWrite,
  protocols: ProtocolTables,
  storedKeys: StoredKeys,
  priceLists: ReadonlyArray<ScheduledPriceList>,
  nowMillis: number
): Result.Result<CatalogDocument, InvalidRequest> => {
  const document = { ...catalog, channels: catalog.channels.map(withoutKeys) }
  const tables = protocolsWith(protocols, catalog.protocols ?? [])
  const faults = [
    ...keyFaults(catalog),
    ...originFaults(catalog, storedKeys),
    ...findFaults(document, tables),
    ...faultsByPriceLists(priceLists, document, tables, nowMillis)
  ]
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

/**
 * An edit of the catalog: `author` is the operator who makes it, or null where no operator does;
 * `onVersion` is the version that the edit is based on, or null for the version in force.
 */
export interface CatalogEdit {
  readonly author: string | null
  readonly onVersion: bigint | null
}

/**
 * The error for an edit that is based on an outdated version. `since` lists the versions written
 * after that one, up to the version in force.
 */
export const versionConflict = (
  version: bigint,
  newerVersions: ReadonlyArray<Pick<CatalogSnapshot, "version" | "author" | "createdAt">>
): PreconditionFailed =>
  new PreconditionFailed({
    message: `The catalog is at version ${version} by now: read it again, and make the change on that`,
    version: Number(version),
    changed: newerVersions.map((one) => ({
      version: Number(one.version),
      by: one.author,
      at: one.createdAt.toISOString()
    }))
  })

/** The stored keys as they would be after the catalog is written. */
const keysAfter = (stored: StoredKeys, catalog: CatalogWrite): StoredKeys =>
  new Map([
    ...stored,
    ...catalog.channels.map((channel) => {
      const keysWithValue = writtenKeys(channel).filter(({ api_key = null }) => api_key !== null)
      const knownNames = stored.get(channel.id)?.names ?? []
      const names = new Set([...knownNames, ...keysWithValue.map(({ name }) => name)])
      return [channel.id, { origin: originOf(channel.base_url), names }] as const
    })
  ])

/**
 * The summary for the operator after a catalog has replaced `before`: its version, changes and
 * warnings.
 */
const replacedCatalog = (
  replacement: {
    readonly version: bigint
    readonly before: CatalogDocument
    readonly after: CatalogDocument
    readonly catalog: CatalogWrite
  },
  protocols: ProtocolTables,
  storedKeys: StoredKeys,
  priceLists: ReadonlyArray<ScheduledPriceList>,
  nowMillis: number
): CatalogReplacement => {
  const { before, after } = replacement
  const tables = protocolsWith(protocols, after.protocols ?? [])
  const channels = compareLists(before.channels, after.channels, ({ id }) => id)
  const isRekeyed = (channel: ChannelWrite) =>
    writtenKeys(channel).some(({ api_key = null }) => api_key !== null)
  const rekeyedIds = replacement.catalog.channels.flatMap((channel) =>
    isRekeyed(channel) && !channels.added.includes(channel.id) ? [channel.id] : []
  )
  return {
    version: replacement.version,
    changes: {
      channels: { ...channels, changed: [...new Set([...channels.changed, ...rekeyedIds])] },
      models: compareLists(before.models, after.models, ({ id }) => id),
      mounts: compareLists(
        before.mounts,
        after.mounts,
        ({ model, channel }) => `${model}@${channel}`
      ),
      ...(before.protocols === undefined && after.protocols === undefined
        ? {}
        : {
            protocols: compareLists(before.protocols ?? [], after.protocols ?? [], ({ id }) => id)
          })
    },
    warnings: [
      ...findWarnings(after, tables, storedKeys),
      ...warningsByPriceLists(priceLists, after, tables, nowMillis)
    ]
  }
}

/** The catalog with the channel enabled or disabled; null where there is no such channel. */
const withChannel = (
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

/** An edit without a precondition: it applies to the version in force. */
const unconditionalEdit: CatalogEdit = { author: null, onVersion: null }

export const noSuchChannel = () => new NotFound({ message: "There is no channel with this id" })

/** The result of writing a version. Where `document` is null, nothing was written. */
export type CatalogVersionWrite<Next> =
  | { readonly _tag: "Outdated"; readonly error: PreconditionFailed }
  | { readonly _tag: "Refused"; readonly error: InvalidRequest }
  | {
      readonly _tag: "Written"
      readonly version: bigint
      readonly before: CatalogDocument
      readonly document: Next
    }

/**
 * Builds the operations that change the catalog from a store. The store only has to write versions
 * one after the other.
 */
export const makeCatalogChanges = (store: {
  readonly snapshot: Effect.Effect<CatalogSnapshot>
  readonly protocols: ProtocolTables
  readonly credentials: Pick<ChannelCredentials["Service"], "store" | "storedKeys">
  /** Reads the price lists in a write; none of them changes before the end of the write. */
  readonly priceLists: Effect.Effect<ReadonlyArray<ScheduledPriceList>>
  /** Writes the next version. The effects of `next` run in the transaction of this write. */
  readonly writeVersion: <Next extends CatalogDocument | null>(
    next: (before: CatalogDocument) => Effect.Effect<Next, InvalidRequest>,
    edit: CatalogEdit
  ) => Effect.Effect<CatalogVersionWrite<Next>>
}): Omit<Catalog["Service"], "snapshot"> => {
  const { snapshot, protocols, credentials, writeVersion } = store
  return {
    replace: Effect.fn("Catalog.replace")(function* (catalog, edit = unconditionalEdit) {
      const nowMillis = yield* Clock.currentTimeMillis
      // This runs in the transaction of the write, so the stored keys belong to the version in
      // force: no other writer can replace that version meanwhile.
      const checkAndStore = Effect.gen(function* () {
        const storedKeys = yield* credentials.storedKeys
        const document = yield* Effect.fromResult(
          checkCatalog(catalog, protocols, storedKeys, yield* store.priceLists, nowMillis)
        )
        yield* credentials.store(catalog.channels)
        return document
      })
      const result = yield* writeVersion(() => checkAndStore, edit)
      if (result._tag !== "Written") return yield* result.error
      const { version, before, document: after } = result
      return replacedCatalog(
        { version, before, after, catalog },
        protocols,
        yield* credentials.storedKeys,
        [...(yield* snapshot).priceLists.values()],
        nowMillis
      )
    }),
    preview: Effect.fn("Catalog.preview")(function* (catalog) {
      const storedKeys = yield* credentials.storedKeys
      const nowMillis = yield* Clock.currentTimeMillis
      const { version, document: before, priceLists } = yield* snapshot
      const lists = [...priceLists.values()]
      const after = yield* Effect.fromResult(
        checkCatalog(catalog, protocols, storedKeys, lists, nowMillis)
      )
      return replacedCatalog(
        { version, before, after, catalog },
        protocols,
        keysAfter(storedKeys, catalog),
        lists,
        nowMillis
      )
    }),
    enable: Effect.fn("Catalog.enable")(function* (channelId, enabled, author) {
      const result = yield* writeVersion(
        (before) => Effect.succeed(withChannel(before, channelId, enabled)),
        { author, onVersion: null }
      )
      if (result._tag !== "Written" || result.document === null) return yield* noSuchChannel()
    })
  }
}

export class Catalog extends Context.Service<
  Catalog,
  {
    /**
     * The version in force, with the price lists. A change by another gateway arrives within a
     * second.
     */
    readonly snapshot: Effect.Effect<CatalogSnapshot>
    /**
     * Replaces the whole catalog in one step, or refuses it with every fault by path. The new
     * catalog is also refused where it moves a channel to an address with another origin, but gives
     * no new value for a stored key of that channel: a key is only sent to the origin for which it
     * was entered.
     */
    replace(
      catalog: CatalogWrite,
      edit?: CatalogEdit
    ): Effect.Effect<CatalogReplacement, InvalidRequest | PreconditionFailed>
    /**
     * Returns the changes and warnings that `replace` would return, and changes nothing; `version`
     * is the version in force.
     */
    preview(catalog: CatalogWrite): Effect.Effect<CatalogReplacement, InvalidRequest>
    /** Enables or disables a channel, and leaves the rest of the catalog unchanged. */
    enable(
      channelId: string,
      enabled: boolean,
      author: string | null
    ): Effect.Effect<void, NotFound>
  }
>()("gateway/services/Catalog") {}

/**
 * Resolves the names in filters of recorded orders, which have the id of their model. A name that
 * no model has is not changed, as a model may be removed before its orders are read.
 */
export const makeModelFilter = Effect.map(
  Catalog,
  (catalog) => (name: string | undefined) =>
    name === undefined
      ? Effect.succeed(null)
      : Effect.map(catalog.snapshot, ({ modelsByName }) => modelsByName.get(name)?.id ?? name)
)
