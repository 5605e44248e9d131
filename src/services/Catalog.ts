/** What can be ordered: models, their prices, and where they are mounted. */
import { Context, type Effect } from "effect"
import type {
  CatalogDocument,
  CatalogWrite,
  Channel,
  Model,
  Mount
} from "../domain/CatalogDocument.ts"
import type { CatalogChange, Fault } from "../domain/CatalogRules.ts"
import type { InvalidRequest } from "../domain/Errors.ts"

/** One version of the catalog, ready for look-ups. */
export interface CatalogSnapshot {
  /** 0 before the first catalog is loaded. */
  readonly version: bigint
  /** When this version came into force. */
  readonly createdAt: Date
  readonly document: CatalogDocument
  readonly models: ReadonlyMap<string, Model>
  /** Enabled mounts on enabled channels, in the catalog's order. */
  readonly mounts: ReadonlyMap<string, ReadonlyArray<Mount>>
  readonly channels: ReadonlyMap<string, Channel>
}

export interface CatalogReplaced {
  readonly version: bigint
  readonly changes: CatalogChange
  readonly warnings: ReadonlyArray<Fault>
}

export const makeSnapshot = (
  version: bigint,
  createdAt: Date,
  document: CatalogDocument
): CatalogSnapshot => {
  const channels = new Map(document.channels.map((channel) => [channel.id, channel]))
  const mounts = new Map<string, Array<Mount>>()
  for (const mount of document.mounts) {
    if (!mount.enabled || channels.get(mount.channel)?.enabled !== true) continue
    const list = mounts.get(mount.model)
    if (list === undefined) mounts.set(mount.model, [mount])
    else list.push(mount)
  }
  const models = new Map(document.models.map((model) => [model.id, model]))
  return { version, createdAt, document, models, mounts, channels }
}

export class Catalog extends Context.Service<
  Catalog,
  {
    /** The version in force; another gateway's change arrives within a second. */
    readonly snapshot: Effect.Effect<CatalogSnapshot>
    /** Replaces the whole catalog in one step, or refuses it with every fault by path. */
    replace(catalog: CatalogWrite): Effect.Effect<CatalogReplaced, InvalidRequest>
  }
>()("gateway/services/Catalog") {}
