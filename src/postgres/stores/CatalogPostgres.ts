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
  noSuchChannel,
  replacedCatalog,
  withChannel
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

    /** Writes the version after the newest; null writes none. `alongside` is done in its commit. */
    const write = (
      next: (before: CatalogDocument) => CatalogDocument | null,
      alongside: Effect.Effect<void> = Effect.void
    ) =>
      changes
        .telling(
          "catalog",
          Effect.gen(function* () {
            yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
            yield* alongside
            const [latest] = yield* rowsOf(VersionRow)(sql`
              SELECT version, created_at, document FROM catalog_versions
               ORDER BY version DESC LIMIT 1`)
            const before = latest?.document ?? emptySnapshot.document
            const version = (latest?.version ?? 0n) + 1n
            const document = next(before)
            if (document !== null) {
              yield* sql`
                INSERT INTO catalog_versions (version, document)
                VALUES (${version}, ${sql.json(encodeDocument(document))})`
            }
            return { version, before, isWritten: document !== null }
          })
        )
        .pipe(bounded)

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog) {
        const document = yield* Effect.fromResult(checkCatalog(catalog, protocols))
        const { version, before } = yield* write(
          () => document,
          credentials.store(catalog.channels)
        )
        return replacedCatalog(
          { version, before, after: document, catalog },
          protocols,
          yield* credentials.storedKeys
        )
      }),
      enable: Effect.fn("Catalog.enable")(function* (channelId, enabled) {
        const { isWritten } = yield* write((before) => withChannel(before, channelId, enabled))
        if (!isWritten) return yield* noSuchChannel()
      })
    })
  })
)
