/** The catalog in PostgreSQL: one row a version, the newest held in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Ref, Schema, Struct } from "effect"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  Catalog,
  type CatalogEdit,
  checkCatalog,
  editedMeanwhile,
  emptySnapshot,
  freeEdit,
  makeSnapshot,
  noSuchChannel,
  previewOf,
  replacedCatalog,
  withChannel
} from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { bounded, columnsOf, repeatable, rowsOf } from "../client/rows.ts"

const VersionRow = Schema.Struct({
  version: Schema.BigInt,
  createdAt: Schema.Date,
  author: Schema.NullOr(Schema.String),
  document: CatalogDocument
})
const versionColumns = columnsOf(VersionRow, "v")
const SinceRow = Schema.Struct(Struct.omit(VersionRow.fields, ["document"]))

/** Of the changes that an edit missed, as many are told. */
const TOLD_CHANGES = 20

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

    /** Leaves the document where it is unless there is a newer one. */
    const load = Effect.gen(function* () {
      const known = (yield* Ref.get(current)).version
      const [newer] = yield* rowsOf(VersionRow)(
        repeatable(sql`
          SELECT ${columns} FROM catalog_versions v
           WHERE version > ${known} ORDER BY version DESC LIMIT 1`)
      )
      if (newer === undefined) return yield* Ref.get(current)
      const snapshot = makeSnapshot(newer.version, newer.createdAt, newer.document, newer.author)
      return yield* Ref.updateAndGet(current, (seen) =>
        snapshot.version > seen.version ? snapshot : seen
      )
    })

    const read = yield* makeFreshCache({ topic: "catalog", capacity: 1, lookup: () => load })
    const snapshot = read("newest")
    yield* snapshot

    /**
     * Writes the version after the newest; null writes none, nor does an edit of an older one.
     * `alongside` is done in its commit.
     */
    const write = (
      next: (before: CatalogDocument) => CatalogDocument | null,
      { author, onVersion }: CatalogEdit,
      alongside: Effect.Effect<void> = Effect.void
    ) =>
      changes
        .telling(
          "catalog",
          Effect.gen(function* () {
            yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
            const [latest] = yield* rowsOf(VersionRow)(sql`
              SELECT ${columns} FROM catalog_versions v ORDER BY version DESC LIMIT 1`)
            const { version: last, document: before } = latest ?? emptySnapshot
            if (onVersion !== null && onVersion !== last) {
              const since = yield* rowsOf(SinceRow)(sql`
                SELECT ${sql.literal(columnsOf(SinceRow, "v"))} FROM catalog_versions v
                 WHERE version > ${onVersion} ORDER BY version LIMIT ${TOLD_CHANGES}`)
              return { _tag: "Late" as const, error: editedMeanwhile(last, since) }
            }
            yield* alongside
            const version = last + 1n
            const document = next(before)
            if (document !== null) {
              yield* sql`
                INSERT INTO catalog_versions (version, document, author)
                VALUES (${version}, ${sql.json(encodeDocument(document))}, ${author})`
            }
            return { _tag: "Done" as const, version, before, isWritten: document !== null }
          })
        )
        .pipe(bounded)

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog, edit = freeEdit) {
        const document = yield* Effect.fromResult(checkCatalog(catalog, protocols))
        const written = yield* write(() => document, edit, credentials.store(catalog.channels))
        if (written._tag === "Late") return yield* written.error
        const { version, before } = written
        return replacedCatalog(
          { version, before, after: document, catalog },
          protocols,
          yield* credentials.storedKeys
        )
      }),
      preview: previewOf({ snapshot, protocols, storedKeys: credentials.storedKeys }),
      enable: Effect.fn("Catalog.enable")(function* (channelId, enabled, author) {
        const written = yield* write((before) => withChannel(before, channelId, enabled), {
          author,
          onVersion: null
        })
        if (written._tag === "Late" || !written.isWritten) return yield* noSuchChannel()
      })
    })
  })
)
