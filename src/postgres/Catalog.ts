/** The catalog in PostgreSQL: one row a version, the newest held in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Ref, Schema } from "effect"
import {
  CatalogDocument,
  type CatalogWrite,
  Channel,
  Model,
  Mount
} from "../domain/CatalogDocument.ts"
import {
  type CatalogChange,
  compareLists,
  findFaults,
  findWarnings
} from "../domain/CatalogRules.ts"
import { InvalidRequest } from "../domain/Errors.ts"
import { Catalog, makeSnapshot } from "../services/Catalog.ts"
import { Changes } from "../services/Changes.ts"
import { ChannelCredentials } from "../services/ChannelCredentials.ts"
import { makeFreshCache } from "../services/FreshCache.ts"
import { Protocols } from "../services/Protocols.ts"
import { bounded, repeatable, rowOf, rowsOf } from "./rows.ts"

const VersionRow = Schema.Struct({
  version: Schema.BigInt,
  created_at: Schema.Date,
  document: CatalogDocument
})

const encodeDocument = Schema.encodeSync(CatalogDocument)
const print = {
  channel: (channel: Channel) => JSON.stringify(Schema.encodeSync(Channel)(channel)),
  model: (model: Model) => JSON.stringify(Schema.encodeSync(Model)(model)),
  mount: (mount: Mount) => JSON.stringify(Schema.encodeSync(Mount)(mount))
}

const compare = (
  before: CatalogDocument,
  after: CatalogDocument,
  rekeyed: ReadonlyArray<string>
): CatalogChange => {
  const channels = compareLists(before.channels, after.channels, (entry) => entry.id, print.channel)
  return {
    channels: {
      ...channels,
      changed: [
        ...new Set([...channels.changed, ...rekeyed.filter((id) => !channels.added.includes(id))])
      ]
    },
    models: compareLists(before.models, after.models, (entry) => entry.id, print.model),
    mounts: compareLists(
      before.mounts,
      after.mounts,
      (entry) => `${entry.model}@${entry.channel}`,
      print.mount
    )
  }
}

/** What is stored in the clear: everything but the channels' keys. */
const withoutKeys = (catalog: CatalogWrite): CatalogDocument => ({
  ...catalog,
  channels: catalog.channels.map(({ api_key: _, ...channel }) => channel)
})

const nothing = makeSnapshot(0n, new Date(0), { channels: [], models: [], mounts: [] })

export const layerCatalog = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const changes = yield* Changes
    const current = yield* Ref.make(nothing)

    /** Leaves the document where it is unless there is a newer one. */
    const load = Effect.gen(function* () {
      const known = (yield* Ref.get(current)).version
      const [newer] = yield* rowsOf(VersionRow)(
        repeatable(sql`
          SELECT version, created_at, document FROM catalog_versions
           WHERE version > ${known} ORDER BY version DESC LIMIT 1`)
      )
      if (newer === undefined) return yield* Ref.get(current)
      const snapshot = makeSnapshot(newer.version, newer.created_at, newer.document)
      return yield* Ref.updateAndGet(current, (seen) =>
        snapshot.version > seen.version ? snapshot : seen
      )
    })

    const read = yield* makeFreshCache({ topic: "catalog", capacity: 1, lookup: () => load })
    const snapshot = read("newest")
    yield* snapshot

    const replace: Catalog["Service"]["replace"] = Effect.fn("Catalog.replace")(
      function* (catalog) {
        const document = withoutKeys(catalog)
        const faults = findFaults(document, protocols)
        if (faults[0] !== undefined) {
          return yield* new InvalidRequest({
            message: `The catalog contradicts itself in ${faults.length} place(s); nothing was changed. First: ${faults[0].path}: ${faults[0].message}`,
            param: faults[0].path,
            faults
          })
        }
        const version = yield* changes
          .telling(
            "catalog",
            Effect.gen(function* () {
              yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
              yield* credentials.store(catalog.channels)
              const [latest] = yield* rowsOf(VersionRow)(sql`
                SELECT version, created_at, document FROM catalog_versions
                 ORDER BY version DESC LIMIT 1`)
              const next = yield* rowOf(Schema.Struct({ version: Schema.BigInt }))(sql`
                INSERT INTO catalog_versions (version, document)
                VALUES (${(latest?.version ?? 0n) + 1n}, ${sql.json(encodeDocument(document))})
                RETURNING version`)
              return { version: next.version, before: latest?.document ?? nothing.document }
            })
          )
          .pipe(bounded)
        const keyed = yield* credentials.withKey
        const rekeyed = catalog.channels.flatMap((channel) =>
          (channel.api_key ?? null) === null ? [] : [channel.id]
        )
        return {
          version: version.version,
          changes: compare(version.before, document, rekeyed),
          warnings: findWarnings(document, protocols, (channelId) => keyed.has(channelId))
        }
      }
    )

    return Catalog.of({ snapshot, replace })
  })
)
