/**
 * The journal of an organisation: transfers as they stand, holds and their releases read off the
 * holds.
 * Each of the three is read from its own index, so a page costs the same however long the books are.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { cutPage, type Page, type PageRequest, unknownCursor } from "../../runtime/Page.ts"
import type { JournalEntry } from "../../services/Ledger.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

const JournalRow = Schema.Struct({
  rank: Schema.Int,
  key: Schema.String,
  kind: Schema.Literals(["deposit", "hold", "capture", "release"]),
  amount: Schema.BigInt,
  debit: Schema.String,
  credit: Schema.String,
  hold_id: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String),
  created_at: Schema.Date
})

const CursorRow = Schema.Struct({ at: Schema.String })

/** Entries of one moment stand in this order, the later event first. */
const prefixes = ["hold_", "tr_", "release_"] as const

const prefixOf = {
  hold: prefixes[0],
  deposit: prefixes[1],
  capture: prefixes[1],
  release: prefixes[2]
}

/** The id of an entry: of holds and releases by the hold, of all others by the transfer. */
export const entryId = (kind: JournalEntry["kind"], key: string): string => prefixOf[kind] + key

/** As the database writes the number of a transfer. */
const transferNumber = /^[1-9]\d{0,17}$/

interface Cursor {
  /** As text, because a Date would lose the microseconds. */
  readonly at: string
  readonly rank: number
  readonly key: string
}

const toEntry = (row: typeof JournalRow.Type): JournalEntry => ({
  id: entryId(row.kind, row.key),
  kind: row.kind,
  amountNano: row.amount,
  debit: row.debit,
  credit: row.credit,
  holdId: row.hold_id,
  reference: row.reference,
  createdAt: row.created_at
})

/**
 * Reads one page, newest first. A closed hold shows as its release, and a capture comes from the
 * pool beside it, so that the entries of an account fold to its balance.
 */
export const readJournal = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: string,
  page: PageRequest
): Effect.fn.Return<Page<JournalEntry>, InvalidRequest> {
  const sources = [
    {
      table: sql.literal("holds"),
      at: sql.literal("created_at"),
      key: sql.literal("id"),
      columns: sql.literal(
        "'hold' AS kind, amount, 'pool' AS debit, 'held' AS credit, id AS hold_id, NULL::text AS reference"
      ),
      where: sql.literal("true")
    },
    {
      table: sql.literal("transfers"),
      at: sql.literal("created_at"),
      key: sql.literal("id"),
      columns: sql.literal("kind, amount, debit, credit, hold_id, reference"),
      where: sql.literal("true")
    },
    {
      table: sql.literal("holds"),
      at: sql.literal("closed_at"),
      key: sql.literal("id"),
      columns: sql.literal(
        "'release' AS kind, amount, 'held' AS debit, 'pool' AS credit, id AS hold_id, NULL::text AS reference"
      ),
      where: sql.literal("state <> 'open'")
    }
  ] as const

  /** In the type of its column, so that the index is of use. */
  const typed = (rank: number, key: string) => (rank === 1 ? sql`${key}::bigint` : sql`${key}`)

  const findCursor = Effect.fnUntraced(function* (after: string) {
    const rank = prefixes.findIndex((prefix) => after.startsWith(prefix))
    const source = sources[rank]
    if (source === undefined) return null
    const key = after.slice(prefixes[rank]?.length)
    if (rank === 1 && !transferNumber.test(key)) return null
    const [row] = yield* rowsOf(CursorRow)(
      repeatable(sql`
      SELECT ${source.at}::text AS at FROM ${source.table}
       WHERE organization_id = ${organizationId} AND ${source.key} = ${typed(rank, key)}
         AND ${source.where}`)
    )
    return row === undefined ? null : { at: row.at, rank, key }
  })

  const cursor: Cursor | null = page.after === null ? null : yield* findCursor(page.after)
  if (page.after !== null && cursor === null) return yield* unknownCursor

  const wanted = page.limit + 1
  const branch = (rank: 0 | 1 | 2) => {
    const { table, at, key, columns, where } = sources[rank]
    const before =
      cursor === null
        ? sql.literal("true")
        : rank === cursor.rank
          ? sql`(${at}, ${key}) < (${cursor.at}::timestamptz, ${typed(rank, cursor.key)})`
          : rank < cursor.rank
            ? sql`${at} <= ${cursor.at}::timestamptz`
            : sql`${at} < ${cursor.at}::timestamptz`
    return sql`(SELECT ${sql.literal(String(rank))} AS rank, ${key}::text AS key, ${columns},
                       ${at} AS created_at
                  FROM ${table}
                 WHERE organization_id = ${organizationId} AND ${where} AND ${before}
                 ORDER BY ${at} DESC, ${key} DESC LIMIT ${wanted})`
  }
  const rows = yield* rowsOf(JournalRow)(
    repeatable(sql`
    SELECT * FROM (${branch(0)} UNION ALL ${branch(1)} UNION ALL ${branch(2)}) entries
     ORDER BY created_at DESC, rank DESC,
              CASE WHEN rank = 1 THEN lpad(key, 20, '0') ELSE key END DESC
     LIMIT ${wanted}`)
  )
  return cutPage(rows.map(toEntry), page.limit)
})
