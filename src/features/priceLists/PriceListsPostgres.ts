/**
 * Price lists in PostgreSQL. A write locks the catalog, so that a list and a catalog which do not
 * fit each other cannot be written at the same time.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql"
import { PriceListTerms } from "../../domain/catalog/PriceList.ts"
import { newestVersion } from "../../domain/catalog/priceLists.ts"
import type { InvalidRequest, NotFound, PriceListInUse } from "../../domain/Errors.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  readPage,
  retryBriefly,
  rowOf,
  rowsOf,
  runOnce
} from "../../postgres/client/rows.ts"
import { lockCatalog } from "../../postgres/stores/CatalogPostgres.ts"
import { priceListExpressions } from "../../postgres/stores/priceListRows.ts"
import { Changes } from "../../runtime/Changes.ts"
import {
  checkPriceList,
  inUse,
  isNewVersion,
  noSuchPriceList,
  PriceListRecord,
  PriceLists,
  type PriceListWrite,
  type PriceListWritten,
  priceListPrefix
} from "../../services/PriceLists.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"

const columns = columnsOf(PriceListRecord, "l", {
  ...priceListExpressions,
  organizations: "(SELECT count(*)::int FROM organizations o WHERE o.price_list_id = l.id)"
})

const NameRow = Schema.Struct({ name: Schema.String })

const encodeTerms = Schema.encodeSync(PriceListTerms)

export const layerPriceLists = Layer.effect(
  PriceLists,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const changes = yield* Changes
    const protocols = yield* Protocols

    const selectOne = (id: string) => sql`
      SELECT ${sql.literal(columns)} FROM price_lists l WHERE id = ${id} AND removed_at IS NULL`

    const nextRevision = sql.literal("(SELECT coalesce(max(revision), 0) + 1 FROM price_lists)")

    /**
     * Runs a change in one transaction and notifies the gateways. A refused change has written
     * nothing.
     */
    const write = <A, E>(change: Effect.Effect<Result.Result<A, E>, SqlError.SqlError>) =>
      Effect.flatMap(runOnce(changes.changeAndNotify("catalog", change)), Effect.fromResult)

    /** Locks the catalog and the lists, and checks a list against both; returns its warnings. */
    const check = Effect.fnUntraced(function* (id: string, list: PriceListWrite) {
      const { document } = yield* lockCatalog(sql)
      const others = yield* rowsOf(NameRow)(
        sql`SELECT name FROM price_lists WHERE id <> ${id} AND removed_at IS NULL`
      )
      const names = others.map(({ name }) => name)
      return checkPriceList(list, document, protocols, names)
    })

    const addVersion = (id: string, version: number, list: PriceListWrite) => sql`
      INSERT INTO price_list_versions (list_id, version, holds_from, terms, author)
      VALUES (${id}, ${version}, ${list.holdsFrom}::date, ${sql.json(encodeTerms(list.terms))},
              ${list.author})`

    const readOne = (id: string) => rowsOf(PriceListRecord)(selectOne(id))

    return PriceLists.of({
      list: Effect.fn("PriceLists.list")((page) =>
        readPage(PriceListRecord, page, {
          isEntry: (id) => sql`SELECT 1 FROM price_lists WHERE id = ${id} AND removed_at IS NULL`,
          newest: sql`
            SELECT ${sql.literal(columns)} FROM price_lists l
             WHERE removed_at IS NULL AND ${isAfterCursor("id", page.after)}
             ORDER BY id DESC LIMIT ${page.limit + 1}`
        })
      ),
      find: Effect.fn("PriceLists.find")(function* (id) {
        const [record] = yield* rowsOf(PriceListRecord)(retryBriefly(selectOne(id)))
        return record ?? (yield* noSuchPriceList)
      }),
      create: Effect.fn("PriceLists.create")(function* (list) {
        const id = priceListPrefix + (yield* random.uuidV7())
        return yield* write<PriceListWritten, InvalidRequest>(
          Effect.gen(function* () {
            const checked = yield* check(id, list)
            if (Result.isFailure(checked)) return Result.fail(checked.failure)
            yield* sql`
              INSERT INTO price_lists (id, name, watermark, revision)
              SELECT ${id}, ${list.name}, ${list.watermark}::boolean, revision
                FROM ${nextRevision} AS n (revision)`
            yield* addVersion(id, 1, list)
            const record = yield* rowOf(PriceListRecord)(selectOne(id))
            return Result.succeed({ record, warnings: checked.success })
          })
        )
      }),
      replace: Effect.fn("PriceLists.replace")(function* (id, list) {
        return yield* write<PriceListWritten, InvalidRequest | NotFound>(
          Effect.gen(function* () {
            const checked = yield* check(id, list)
            const [before] = yield* readOne(id)
            if (before === undefined) return Result.fail(noSuchPriceList)
            if (Result.isFailure(checked)) return Result.fail(checked.failure)
            yield* sql`
              UPDATE price_lists
                 SET name = ${list.name}, watermark = ${list.watermark}, revision = ${nextRevision}
               WHERE id = ${id}`
            if (isNewVersion(before, list)) {
              yield* addVersion(id, newestVersion(before).version + 1, list)
            }
            const record = yield* rowOf(PriceListRecord)(selectOne(id))
            return Result.succeed({ record, warnings: checked.success })
          })
        )
      }),
      remove: Effect.fn("PriceLists.remove")(function* (id) {
        yield* write<void, NotFound | PriceListInUse>(
          Effect.gen(function* () {
            yield* lockCatalog(sql)
            // An organisation that is moved to the list locks the list's row first, so none is
            // moved to it after they were counted.
            yield* sql`SELECT 1 FROM price_lists WHERE id = ${id} FOR UPDATE`
            const [list] = yield* readOne(id)
            if (list === undefined) return Result.fail(noSuchPriceList)
            if (list.organizations > 0) return Result.fail(inUse(list.organizations))
            yield* sql`
              UPDATE price_lists SET removed_at = now(), revision = ${nextRevision} WHERE id = ${id}`
            return Result.void
          })
        )
      })
    })
  })
)
