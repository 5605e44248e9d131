/**
 * Reconciliations in PostgreSQL. Lines are kept in short statements under a reconciliation that is
 * not seen, and compared in one commit, which shows it: a database of one connection serves others
 * meanwhile, and what is broken off is never seen.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  bounded,
  columnsOf,
  deleteInBatches,
  readPage,
  repeatable,
  rowOf,
  rowsOf,
  within
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

/** Lines of a statement: some milliseconds of the database's time. */
const BATCH = 2000
/** A month of a large deployment is many rows, and an operator waits for it. */
const PATIENCE = Duration.minutes(10)
/** What is untouched for so long was broken off: a whole request takes less. */
const ABANDONED_AFTER = Duration.hours(1)

const shownColumns = columnsOf(Reconciliation, "r", { from: "r.from_at", to: "r.to_at" })
const entryColumns = columnsOf(ReconciledEntry, "e", {
  id: "e.number::text",
  amountHereNano: "e.amount_here::text",
  amountThereNano: "e.amount_there::text",
  unitsHereNano: "e.units_here::text",
  unitsThereNano: "e.units_there::text"
})

const { int4, int8, text } = PgTypes.OID
const lineColumns = {
  line: [int4, ({ line }) => line],
  vendor_id: [text, ({ vendorId }) => vendorId],
  amount: [int8, ({ amountNano }) => amountNano],
  units: [int8, ({ unitsNano }) => unitsNano]
} as const satisfies Record<string, Column<ListedLine>>

/** Nothing is written under a reconciliation that is gone. */
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
    const random = yield* SecureRandom.SecureRandom
    const { soleGateway } = yield* Settings

    const shown = (id: string) => sql`
      SELECT ${sql.literal(shownColumns)} FROM reconciliations r
       WHERE r.id = ${id} AND r.completed_at IS NOT NULL`

    const find = Effect.fn("Reconciliations.find")(function* (id: string) {
      const [row] = yield* rowsOf(Reconciliation)(repeatable(shown(id)))
      return row ?? (yield* noSuchReconciliation)
    })

    /** Of one that is not seen: a part at a time, so that no statement takes long. */
    const discard = Effect.fnUntraced(function* (id: string) {
      // Where the answer of a commit was lost it is seen, and stays.
      const unseen = yield* bounded(sql`
        UPDATE reconciliations SET touched_at = '-infinity'
         WHERE id = ${id} AND completed_at IS NULL RETURNING id`)
      if (unseen.length === 0) return
      for (const [table, key] of [
        ["reconciliation_lines", "line"],
        ["reconciliation_entries", "number"]
      ] as const) {
        const [from, column] = [sql.literal(table), sql.literal(key)]
        yield* deleteInBatches(
          (most) => sql`
            DELETE FROM ${from} WHERE reconciliation_id = ${id} AND ${column} IN (
              SELECT ${column} FROM ${from} WHERE reconciliation_id = ${id}
               ORDER BY ${column} LIMIT ${most})
            RETURNING 1`
        )
      }
      yield* bounded(sql`DELETE FROM reconciliations WHERE id = ${id} AND completed_at IS NULL`)
    })

    /** What gateways that were killed have left behind. */
    const discardAbandoned = Effect.fnUntraced(function* (age: Duration.Duration) {
      const left = yield* rowsOf(Schema.Struct({ id: Schema.String }))(
        bounded(sql`
          SELECT id FROM reconciliations
           WHERE completed_at IS NULL
             AND touched_at <= now() - make_interval(secs => ${Duration.toSeconds(age)})`)
      )
      yield* Effect.forEach(left, ({ id }) => discard(id), { discard: true })
    })
    // No other gateway can be at work on one.
    if (soleGateway) yield* Effect.forkScoped(discardAbandoned(Duration.zero))

    const compare = (id: string) =>
      Effect.gen(function* () {
        yield* sql`SELECT set_config('statement_timeout', ${`${Duration.toMillis(PATIENCE)}`}, true)`
        yield* sql`
          SELECT complete_reconciliation(${id}, make_interval(secs => ${TOLERANCE_MILLIS / 1000}))`
        return yield* rowOf(Reconciliation)(shown(id))
      }).pipe(sql.withTransaction, within(PATIENCE), Effect.orDie)

    return Reconciliations.of({
      reconcile: Effect.fn("Reconciliations.reconcile")(function* (
        { channelId, from, to, author, compared },
        lines
      ) {
        yield* discardAbandoned(ABANDONED_AFTER)
        const id = reconciliationPrefix + (yield* random.uuidV7())
        yield* bounded(sql`
            INSERT INTO reconciliations (id, channel_id, from_at, to_at, has_amount, has_units, author)
            VALUES (${id}, ${channelId}, ${from}, ${to}, ${compared.amount}, ${compared.units},
                    ${author})`)
        return yield* lines.pipe(
          Stream.grouped(BATCH),
          Stream.runForEach((batch) =>
            bounded(sql.unsafe(writeLines, [id, ...columns(lineColumns, batch)]))
          ),
          Effect.andThen(compare(id)),
          Effect.andThen(Effect.orDie(find(id))),
          Effect.onError(() => discard(id))
        )
      }),
      hasChannel: Effect.fn("Reconciliations.hasChannel")((channelId) =>
        rowOf(Schema.Struct({ known: Schema.Boolean }))(
          repeatable(sql`
            SELECT EXISTS (
              SELECT FROM channel_accounts WHERE channel_id = ${channelId}) AS known`)
        ).pipe(Effect.map(({ known }) => known))
      ),
      find,
      list: Effect.fn("Reconciliations.list")((channelId, page) => {
        const { after, limit } = page
        const listed = sql`r.completed_at IS NOT NULL
                       AND ${channelId === null ? sql`true` : sql`r.channel_id = ${channelId}`}`
        return readPage(Reconciliation, page, {
          isEntry: (id) => sql`SELECT 1 FROM reconciliations r WHERE ${listed} AND r.id = ${id}`,
          newest: sql`
            SELECT ${sql.literal(shownColumns)} FROM reconciliations r
             WHERE ${listed} AND ${after === null ? sql`true` : sql`r.id < ${after}`}
             ORDER BY r.id DESC LIMIT ${limit + 1}`
        })
      }),
      entries: Effect.fn("Reconciliations.entries")(function* (id, kind, { after, limit }) {
        const range = rangeOf(yield* find(id), kind)
        const start = startOf(range, after)
        if (start === null) return yield* unknownCursor
        const rows = yield* rowsOf(ReconciledEntry)(
          repeatable(sql`
            SELECT ${sql.literal(entryColumns)} FROM reconciliation_entries e
             WHERE e.reconciliation_id = ${id} AND e.number > ${start} AND e.number <= ${range.last}
             ORDER BY e.number LIMIT ${limit + 1}`)
        )
        return cutPage(rows, limit)
      }),
      remove: Effect.fn("Reconciliations.remove")(function* (id) {
        yield* find(id)
        yield* bounded(sql`
          UPDATE reconciliations
             SET completed_at = NULL, totals = NULL WHERE id = ${id}`)
        yield* discard(id)
      })
    })
  })
)
