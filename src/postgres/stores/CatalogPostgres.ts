/** The catalog in PostgreSQL: one row per version, and a cache of the newest version in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Ref, Result, Schema, Struct } from "effect"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  Catalog,
  type CatalogEdit,
  type CatalogVersionWrite,
  emptySnapshot,
  makeCatalogChanges,
  makeSnapshot,
  versionConflict
} from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { columnsOf, retryBriefly, rowsOf, runOnce } from "../client/rows.ts"

const VersionRow = Schema.Struct({
  version: Schema.BigInt,
  createdAt: Schema.Date,
  author: Schema.NullOr(Schema.String),
  document: CatalogDocument
})
const versionColumns = columnsOf(VersionRow, "v")
const VersionSummaryRow = Schema.Struct(Struct.omit(VersionRow.fields, ["document"]))
const summaryColumns = columnsOf(VersionSummaryRow, "v")

/** The maximum number of versions that the refusal of an outdated edit lists. */
const MAX_LISTED_VERSIONS = 20

const encodeDocument = Schema.encodeSync(CatalogDocument)

export const layerCatalog = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const changes = yield* Changes
    const current = yield* Ref.make(emptySnapshot)
    const columns = sql.literal(versionColumns)

    /** Reads the newest version; its document is read only if the cached version is older. */
    const load = Effect.gen(function* () {
      const cachedVersion = (yield* Ref.get(current)).version
      const [newer] = yield* rowsOf(VersionRow)(
        retryBriefly(sql`
          SELECT ${columns} FROM catalog_versions v
           WHERE version > ${cachedVersion} ORDER BY version DESC LIMIT 1`)
      )
      if (newer === undefined) return yield* Ref.get(current)
      const snapshot = makeSnapshot(newer.version, newer.createdAt, newer.document, newer.author)
      return yield* Ref.updateAndGet(current, (currentSnapshot) =>
        snapshot.version > currentSnapshot.version ? snapshot : currentSnapshot
      )
    })

    const read = yield* makeFreshCache({ topic: "catalog", capacity: 1, lookup: () => load })
    const snapshot = read("newest")
    yield* snapshot

    const writeVersion = <Next extends CatalogDocument | null>(
      next: (before: CatalogDocument) => Effect.Effect<Next, InvalidRequest>,
      { author, onVersion }: CatalogEdit
    ): Effect.Effect<CatalogVersionWrite<Next>> =>
      changes
        .changeAndNotify(
          "catalog",
          Effect.gen(function* () {
            yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
            const [latest] = yield* rowsOf(VersionRow)(sql`
              SELECT ${columns} FROM catalog_versions v ORDER BY version DESC LIMIT 1`)
            const { version: last, document: before } = latest ?? emptySnapshot
            if (onVersion !== null && onVersion !== last) {
              const newer = yield* rowsOf(VersionSummaryRow)(sql`
                SELECT ${sql.literal(summaryColumns)} FROM catalog_versions v
                 WHERE version > ${onVersion} ORDER BY version LIMIT ${MAX_LISTED_VERSIONS}`)
              return { _tag: "Outdated" as const, error: versionConflict(last, newer) }
            }
            const result = yield* Effect.result(next(before))
            if (Result.isFailure(result)) {
              return { _tag: "Refused" as const, error: result.failure }
            }
            const document = result.success
            const version = last + 1n
            if (document !== null) {
              yield* sql`
                INSERT INTO catalog_versions (version, document, author)
                VALUES (${version}, ${sql.json(encodeDocument(document))}, ${author})`
            }
            return { _tag: "Written" as const, version, before, document }
          })
        )
        .pipe(runOnce)

    return Catalog.of({
      snapshot,
      ...makeCatalogChanges({ snapshot, protocols, credentials, writeVersion })
    })
  })
)
