/** The catalog in PostgreSQL: one row per version, and a cache of the newest version in memory. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Metric, Ref, Result, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { storedDocumentFaults } from "../../domain/catalog/CatalogRules.ts"
import { type ScheduledPriceList, schedulePriceList } from "../../domain/catalog/priceLists.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { type FieldFault, issueFaults } from "../../domain/requestFields.ts"
import { Changes } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Catalog,
  type CatalogEdit,
  type CatalogSnapshot,
  type CatalogVersionWrite,
  emptySnapshot,
  makeCatalogChanges,
  makeSnapshot,
  versionConflict
} from "../../services/Catalog.ts"
import { ChannelCredentials } from "../../services/channels/ChannelCredentials.ts"
import { unusableCatalog } from "../../services/metrics.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { StoredDocuments } from "../../services/StoredDocuments.ts"
import { columnsOf, retryBriefly, rowsOf, runOnce } from "../client/rows.ts"
import { priceListsSince, storedPriceLists } from "./priceListRows.ts"

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

/** A version whose document may be of another release, which this one cannot decode. */
const StoredVersionRow = Schema.Struct({ ...VersionRow.fields, document: Schema.Unknown })
type StoredVersion = typeof StoredVersionRow.Type
type Version = typeof VersionRow.Type

const decodeDocument = Schema.decodeUnknownResult(CatalogDocument, { errors: "all" })

/** The version, or the faults that keep this release from using it. */
const readVersion = ({
  document,
  ...version
}: StoredVersion): Result.Result<Version, ReadonlyArray<FieldFault>> =>
  Result.flatMap(
    Result.mapError(decodeDocument(document), ({ issue }) => issueFaults(issue)),
    (catalog) => {
      const faults = storedDocumentFaults(catalog)
      return faults.length === 0
        ? Result.succeed({ ...version, document: catalog })
        : Result.fail(faults)
    }
  )

const noDocuments: NonNullable<CatalogDocument["protocols"]> = []

const encodeDocument = Schema.encodeSync(CatalogDocument)

/**
 * Locks the catalog and its price lists against other writes until the end of the transaction, and
 * reads the newest version.
 */
export const lockCatalog = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`LOCK TABLE catalog_versions IN EXCLUSIVE MODE`
  const [latest] = yield* rowsOf(VersionRow)(sql`
    SELECT ${sql.literal(versionColumns)} FROM catalog_versions v ORDER BY version DESC LIMIT 1`)
  return latest ?? emptySnapshot
})

/** The cached snapshot, and the highest revision of the price lists in it. */
interface Loaded {
  readonly snapshot: CatalogSnapshot
  readonly listRevision: bigint
}

/** Whether the first has a newer catalog or newer lists. Look-ups of one key do not overlap. */
const isNewer = (one: Loaded, other: Loaded): boolean =>
  one.snapshot.version > other.snapshot.version || one.listRevision > other.listRevision

export const layerCatalog = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const credentials = yield* ChannelCredentials
    const protocols = yield* Protocols
    const storedDocuments = yield* StoredDocuments
    const changes = yield* Changes
    const { timeZone } = yield* Settings
    const current = yield* Ref.make<Loaded>({ snapshot: emptySnapshot, listRevision: 0n })
    const columns = sql.literal(versionColumns)
    /** The newest version that this release cannot use; 0 if there is none. */
    let unusableVersion = 0n

    /**
     * The version, or undefined if it cannot be used, which is logged once. Then the version in
     * memory stays in force, as refusing every order would be worse; without one this dies, so that
     * the gateway does not start.
     */
    const usableVersion = Effect.fnUntraced(function* (
      stored: StoredVersion,
      inForce: CatalogSnapshot
    ): Effect.fn.Return<Version | undefined> {
      const version = readVersion(stored)
      if (Result.isSuccess(version)) {
        yield* Metric.update(unusableCatalog, 0)
        return version.success
      }
      const faults = version.failure.map(({ path, message }) => `${path}: ${message}`)
      if (inForce.version === 0n) {
        const message = `catalog: version ${stored.version} cannot be used: ${faults.join("; ")}`
        return yield* Effect.die(new Error(message))
      }
      if (stored.version > unusableVersion) {
        unusableVersion = stored.version
        yield* Metric.update(unusableCatalog, 1)
        yield* Effect.annotateLogs(
          Effect.logError("catalog: newest version cannot be used, an older one stays in force"),
          { version: stored.version, in_force: inForce.version, faults }
        )
      }
      return undefined
    })

    /** The lists of the rows, and their highest revision; null without rows. */
    const changedLists = (rows: Effect.Success<ReturnType<typeof storedPriceLists>>) =>
      rows.length === 0
        ? null
        : {
            lists: rows
              .filter(({ isRemoved }) => !isRemoved)
              .map((list) => schedulePriceList(list, timeZone)),
            revision: rows.reduce((max, row) => (row.revision > max ? row.revision : max), 0n)
          }

    /**
     * Reads the newest version and the price lists; the document is read only if the cached version
     * is older, and the lists only if one of them has changed.
     */
    const load = Effect.gen(function* () {
      const cached = yield* Ref.get(current)
      const lastVersion =
        unusableVersion > cached.snapshot.version ? unusableVersion : cached.snapshot.version
      const [stored] = yield* rowsOf(StoredVersionRow)(
        retryBriefly(sql`
          SELECT ${columns} FROM catalog_versions v
           WHERE version > ${lastVersion} ORDER BY version DESC LIMIT 1`)
      )
      const newer = stored === undefined ? undefined : yield* usableVersion(stored, cached.snapshot)
      const changed = changedLists(
        yield* storedPriceLists(retryBriefly(priceListsSince(sql, cached.listRevision)))
      )
      if (newer === undefined && changed === null) return cached.snapshot
      const { version, createdAt, document, author } = newer ?? cached.snapshot
      const lists: ReadonlyArray<ScheduledPriceList> = changed?.lists ?? [
        ...cached.snapshot.priceLists.values()
      ]
      const loaded: Loaded = {
        snapshot: makeSnapshot(version, createdAt, document, author, lists),
        listRevision: changed?.revision ?? cached.listRevision
      }
      const { snapshot } = yield* Ref.updateAndGet(current, (other) =>
        isNewer(loaded, other) ? loaded : other
      )
      storedDocuments.replace(snapshot.document.protocols ?? noDocuments)
      return snapshot
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
            const { version: last, document: before } = yield* lockCatalog(sql)
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
      ...makeCatalogChanges({
        snapshot,
        protocols,
        credentials,
        priceLists: Effect.map(
          storedPriceLists(priceListsSince(sql, 0n)),
          (rows) => changedLists(rows)?.lists ?? []
        ),
        writeVersion
      })
    })
  })
)
