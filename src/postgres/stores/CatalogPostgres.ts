/** The catalog in PostgreSQL: one row a version, the newest held in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Ref, Result, Schema, Struct } from "effect"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
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
     * Writes the version after the newest; null writes none, nor does an edit of an older one, nor a
     * catalog that is refused. What `next` does is done in its commit.
     */
    const write = <Next extends CatalogDocument | null>(
      next: (before: CatalogDocument) => Effect.Effect<Next, InvalidRequest>,
      { author, onVersion }: CatalogEdit
    ) =>
      changes
        .changeAndNotify(
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
              return { _tag: "Late" as const, error: versionConflict(last, since) }
            }
            const planned = yield* Effect.result(next(before))
            if (Result.isFailure(planned)) {
              return { _tag: "Refused" as const, error: planned.failure }
            }
            const document = planned.success
            const version = last + 1n
            if (document !== null) {
              yield* sql`
                INSERT INTO catalog_versions (version, document, author)
                VALUES (${version}, ${sql.json(encodeDocument(document))}, ${author})`
            }
            return { _tag: "Done" as const, version, before, document }
          })
        )
        .pipe(bounded)

    return Catalog.of({
      snapshot,
      replace: Effect.fn("Catalog.replace")(function* (catalog, edit = unconditionalEdit) {
        // The stored keys are those of the version in force, which nobody else replaces meanwhile.
        const checkAndStore = Effect.gen(function* () {
          const storedKeys = yield* credentials.storedKeys
          const document = yield* Effect.fromResult(checkCatalog(catalog, protocols, storedKeys))
          yield* credentials.store(catalog.channels)
          return document
        })
        const written = yield* write(() => checkAndStore, edit)
        if (written._tag !== "Done") return yield* written.error
        const { version, before, document: after } = written
        return replacedCatalog(
          { version, before, after, catalog },
          protocols,
          yield* credentials.storedKeys
        )
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
