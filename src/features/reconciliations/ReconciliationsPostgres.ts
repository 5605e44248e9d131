/**
 * Reconciliations in PostgreSQL. Short statements store the lines under a reconciliation that is
 * not visible yet; one transaction then compares the lines and makes the reconciliation visible. So
 * a database with one connection serves other queries in between, and a list whose upload is
 * aborted never becomes visible.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  deleteInBatches,
  readPage,
  retryBriefly,
  rowOf,
  rowsOf,
  runOnce,
  withTimeout
} from "../../postgres/client/rows.ts"
import { type Column, columns } from "../../postgres/client/typedColumns.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  noSuchReconciliation,
  ReconciledEntry,
  Reconciliation,
  Reconciliations,
  rangeOf,
  reconciliationPrefix,
  startOf
} from "./Reconciliations.ts"
import { TOLERANCE_MILLIS } from "./reconciliation.ts"
import type { ListedLine } from "./vendorLists.ts"

/** The number of lines that the database inserts in a few milliseconds. */
const LINES_PER_STATEMENT = 2000
/** Comparing a month of a large deployment takes long, and an operator waits for the result. */
const COMPARISON_TIMEOUT = Duration.minutes(10)
/**
 * An incomplete reconciliation without new lines for this time was abandoned, since no request
 * takes this long.
 */
const ABANDONED_AFTER = Duration.hours(1)

const reconciliationColumns = columnsOf(Reconciliation, "r", { from: "r.from_at", to: "r.to_at" })
const entryColumns = columnsOf(ReconciledEntry, "e", {
  id: "e.number::text",
  amountHereNano: "e.amount_here::text",
  amountThereNano: "e.amount_there::text",
  unitsHereNano: "e.units_here::text",
  unitsThereNano: "e.units_there::text",
  reportedNano: "e.reported::text"
})

const { int4, int8, text } = PgTypes.OID
const lineColumns = {
  line: [int4, ({ line }) => line],
  vendor_id: [text, ({ vendorId }) => vendorId],
  amount: [int8, ({ amountNano }) => amountNano],
  units: [int8, ({ unitsNano }) => unitsNano]
} as const satisfies Record<string, Column<ListedLine>>

/** Writes nothing where the reconciliation was discarded in the meantime. */
const writeLines = `
  WITH touched AS (
    UPDATE reconciliations SET touched_at = now()
     WHERE id = $1 AND completed_at IS NULL RETURNING id)
  INSERT INTO reconciliation_lines (reconciliation_id, line, vendor_id, amount, units)
  SELECT t.id, c.line, c.vendor_id, c.amount, c.units
    FROM touched t
   CROSS JOIN unnest($2::int[], $3::text[], $4::bigint[], $5::bigint[])
              AS c (line, vendor_id, amount, units)`

export const layerReconciliations = Layer.effect(
  Reconciliations,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const { soleGateway } = yield* Settings

    const selectVisible = (id: string) => sql`
      SELECT ${sql.literal(reconciliationColumns)} FROM reconciliations r
       WHERE r.id = ${id} AND r.completed_at IS NOT NULL`

    const find = Effect.fn("Reconciliations.find")(function* (id: string) {
      const [row] = yield* rowsOf(Reconciliation)(retryBriefly(selectVisible(id)))
      return row ?? (yield* noSuchReconciliation)
    })

    /**
     * Deletes a reconciliation that is not visible, in batches, so that no statement takes long.
     */
    const discard = Effect.fnUntraced(function* (id: string) {
      // If the commit succeeded and only its response was lost, the reconciliation is visible and
      // stays.
      const hidden = yield* runOnce(sql`
        UPDATE reconciliations SET touched_at = '-infinity'
         WHERE id = ${id} AND completed_at IS NULL RETURNING id`)
      if (hidden.length === 0) return
      for (const [table, key] of [
        ["reconciliation_lines", "line"],
        ["reconciliation_entries", "number"]
      ] as const) {
        const from = sql.literal(table)
        const column = sql.literal(key)
        yield* deleteInBatches(
          (limit) => sql`
            DELETE FROM ${from} WHERE reconciliation_id = ${id} AND ${column} IN (
              SELECT ${column} FROM ${from} WHERE reconciliation_id = ${id}
               ORDER BY ${column} LIMIT ${limit})
            RETURNING 1`
        )
      }
      yield* runOnce(sql`DELETE FROM reconciliations WHERE id = ${id} AND completed_at IS NULL`)
    })

    /** Discards the incomplete reconciliations of killed gateways. */
    const discardAbandoned = Effect.fnUntraced(function* (age: Duration.Duration) {
      const abandoned = yield* rowsOf(Schema.Struct({ id: Schema.String }))(
        runOnce(sql`
          SELECT id FROM reconciliations
           WHERE completed_at IS NULL
             AND touched_at <= now() - make_interval(secs => ${Duration.toSeconds(age)})`)
      )
      yield* Effect.forEach(abandoned, ({ id }) => discard(id), { discard: true })
    })
    // If there is only one gateway, no reconciliation is running when the gateway starts, so all
    // incomplete ones are discarded.
    if (soleGateway) yield* Effect.forkScoped(discardAbandoned(Duration.zero))

    const compare = (id: string) =>
      Effect.gen(function* () {
        yield* sql`SELECT set_config('statement_timeout', ${`${Duration.toMillis(COMPARISON_TIMEOUT)}`}, true)`
        yield* sql`
          SELECT complete_reconciliation(${id}, make_interval(secs => ${TOLERANCE_MILLIS / 1000}))`
        return yield* rowOf(Reconciliation)(selectVisible(id))
      }).pipe(sql.withTransaction, withTimeout(COMPARISON_TIMEOUT), Effect.orDie)

    return Reconciliations.of({
      reconcile: Effect.fn("Reconciliations.reconcile")(function* (
        { channelId, from, to, author, compared },
        lines
      ) {
        yield* discardAbandoned(ABANDONED_AFTER)
        const id = reconciliationPrefix + (yield* random.uuidV7())
        yield* runOnce(sql`
            INSERT INTO reconciliations (id, channel_id, from_at, to_at, has_amount, has_units, author)
            VALUES (${id}, ${channelId}, ${from}, ${to}, ${compared.amount}, ${compared.units},
                    ${author})`)
        return yield* lines.pipe(
          Stream.grouped(LINES_PER_STATEMENT),
          Stream.runForEach((batch) =>
            runOnce(sql.unsafe(writeLines, [id, ...columns(lineColumns, batch)]))
          ),
          Effect.andThen(compare(id)),
          Effect.andThen(Effect.orDie(find(id))),
          Effect.onError(() => discard(id))
        )
      }),
      hasChannel: Effect.fn("Reconciliations.hasChannel")((channelId) =>
        rowOf(Schema.Struct({ exists: Schema.Boolean }))(
          retryBriefly(sql`
            SELECT EXISTS (
              SELECT FROM channel_accounts WHERE channel_id = ${channelId}) AS exists`)
        ).pipe(Effect.map(({ exists }) => exists))
      ),
      find,
      list: Effect.fn("Reconciliations.list")((channelId, page) => {
        const { after, limit } = page
        const isListed = sql`r.completed_at IS NOT NULL
                       AND ${equals("r.channel_id", channelId)}`
        return readPage(Reconciliation, page, {
          isEntry: (id) => sql`SELECT 1 FROM reconciliations r WHERE ${isListed} AND r.id = ${id}`,
          newest: sql`
            SELECT ${sql.literal(reconciliationColumns)} FROM reconciliations r
             WHERE ${isListed} AND ${isAfterCursor("r.id", after)}
             ORDER BY r.id DESC LIMIT ${limit + 1}`
        })
      }),
      entries: Effect.fn("Reconciliations.entries")(function* (id, kind, { after, limit }) {
        const range = rangeOf(yield* find(id), kind)
        const start = startOf(range, after)
        if (start === null) return yield* unknownCursor
        const rows = yield* rowsOf(ReconciledEntry)(
          retryBriefly(sql`
            SELECT ${sql.literal(entryColumns)} FROM reconciliation_entries e
             WHERE e.reconciliation_id = ${id} AND e.number > ${start} AND e.number <= ${range.last}
             ORDER BY e.number LIMIT ${limit + 1}`)
        )
        return cutPage(rows, limit)
      }),
      remove: Effect.fn("Reconciliations.remove")(function* (id) {
        yield* find(id)
        yield* runOnce(sql`
          UPDATE reconciliations
             SET completed_at = NULL, totals = NULL WHERE id = ${id}`)
        yield* discard(id)
      })
    })
  })
)
