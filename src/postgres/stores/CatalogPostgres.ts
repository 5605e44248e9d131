/** The catalog in PostgreSQL: one row a version, the newest held in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Ref, Schema } from "effect"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  Catalog,
  checkCatalog,
  emptySnapshot,
  makeSnapshot,
  replacedCatalog
} from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { bounded, repeatable, rowsOf } from "../client/rows.ts"

const VersionRow = Schema.Struct({
  version: Schema.BigInt,
  created_at: Schema.Date,
  document: CatalogDocument
})

const encodeDocument = Schema.encodeSync(CatalogDocument)
export const layerCatalog = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const changes = yield* Changes
    const current = yield* Ref.make(emptySnapshot)

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

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog) {
        const document = yield* Effect.fromResult(checkCatalog(catalog, protocols))
        const { version, before } = yield* changes
          .telling(
            "catalog",
            Effect.gen(function* () {
              yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
              yield* credentials.store(catalog.channels)
              const [latest] = yield* rowsOf(VersionRow)(sql`
                SELECT version, created_at, document FROM catalog_versions
                 ORDER BY version DESC LIMIT 1`)
              const version = (latest?.version ?? 0n) + 1n
              yield* sql`
                INSERT INTO catalog_versions (version, document)
                VALUES (${version}, ${sql.json(encodeDocument(document))})`
              return { version, before: latest?.document ?? emptySnapshot.document }
            })
          )
          .pipe(bounded)
        return replacedCatalog(
          { version, before, after: document, catalog },
          protocols,
          yield* credentials.storedKeys
        )
      })
    })
  })
)
