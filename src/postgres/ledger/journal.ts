/**
 * The journal of an organisation: deposits are transfers, and of each order its hold, its charge and
 * its release are read off its row and its end. Each of these is read along its own index, so a page
 * costs the same however long the books are.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { cutPage, type Page, type PageRequest, unknownCursor } from "../../runtime/Page.ts"
import { JournalEntry, journalId } from "../../services/Ledger.ts"
import { repeatable, rowsOf } from "../client/rows.ts"

/** Entries of one moment stand in this order, the later event last. */
const kinds = ["hold", "deposit", "capture", "release"] as const

/** As the database writes the number of a transfer. */
const transferNumber = /^[1-9]\d{0,17}$/

/** The number of a transfer as a text: such texts stand in the order of the numbers. */
const NUMBER = "lpad(id::text, 19, '0')"

const CursorRow = Schema.Struct({ at: Schema.String, key: Schema.String })

/**
 * Reads one page, newest first. A closed hold shows as its release, and a capture comes from the
 * pool beside it, so that the entries of an account fold to its balance.
 */
export const readJournal = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: string,
  page: PageRequest
): Effect.fn.Return<Page<JournalEntry>, InvalidRequest> {
  const own = sql`organization_id = ${organizationId}`

  /** The entry's moment as text, because a Date would lose the microseconds. */
  const findCursor = Effect.fnUntraced(function* (after: string) {
    const kind = kinds.find((one) => {
      const prefix = journalId(one, "")
      const isNumber = transferNumber.test(after.slice(prefix.length))
      return after.startsWith(prefix) && (one === "deposit") === isNumber
    })
    if (kind === undefined) return null
    const key = after.slice(journalId(kind, "").length)
    const found = {
      hold: sql`SELECT created_at::text AS at, id AS key FROM orders WHERE ${own} AND id = ${key}`,
      deposit: sql`SELECT created_at::text AS at, ${sql.literal(NUMBER)} AS key FROM transfers
                    WHERE ${own} AND id = ${key}::bigint`,
      capture: sql`SELECT closed_at::text AS at, id AS key FROM orders
                    WHERE ${own} AND id = ${key} AND state = 'captured'`,
      release: sql`SELECT closed_at::text AS at, id AS key FROM orders
                    WHERE ${own} AND id = ${key} AND state <> 'open'`
    }
    const [row] = yield* rowsOf(CursorRow)(repeatable(found[kind]))
    return row === undefined ? null : { ...row, rank: kinds.indexOf(kind) }
  })

  const cursor = page.after === null ? null : yield* findCursor(page.after)
  if (page.after !== null && cursor === null) return yield* unknownCursor

  /** What comes before the cursor among the rows of one table: `at` leads to it, the rest is exact. */
  const newest = (kind: (typeof kinds)[number], at: string, key: string) => {
    const [when, which] = [sql.literal(at), sql.literal(key)]
    const rank = sql.literal(String(kinds.indexOf(kind)))
    const before =
      cursor === null
        ? sql`true`
        : sql`${when} <= ${cursor.at}::timestamptz
              AND (${when}, ${rank}, ${which})
                  < (${cursor.at}::timestamptz, ${cursor.rank}::int, ${cursor.key})`
    return sql`${own} AND ${before} ORDER BY ${when} DESC, ${which} DESC LIMIT ${page.limit + 1}`
  }
  const id = (kind: JournalEntry["kind"]) => sql.literal(`'${journalId(kind, "")}' ||`)
  const rows = yield* rowsOf(JournalEntry)(
    repeatable(sql`
    SELECT * FROM (
      (SELECT 0 AS rank, orders.id AS place, ${id("hold")} orders.id AS id, 'hold' AS kind,
              hold AS "amountNano", 'pool' AS debit, 'held' AS credit, orders.id AS "holdId",
              NULL AS reference, created_at AS "createdAt"
         FROM orders WHERE ${newest("hold", "created_at", "orders.id")})
      UNION ALL
      (SELECT 1, ${sql.literal(NUMBER)}, ${id("deposit")} id, kind, amount, debit, credit, NULL,
              reference, created_at
         FROM transfers WHERE ${newest("deposit", "created_at", NUMBER)})
      UNION ALL
      (SELECT 2, order_id, ${id("capture")} order_id, 'capture', charge, 'pool', 'revenue',
              order_id, NULL, ended_at
         FROM order_ends WHERE charge > 0 AND ${newest("capture", "ended_at", "order_id")})
      UNION ALL
      (SELECT 3, order_id, ${id("release")} order_id, 'release', hold, 'held', 'pool', order_id,
              NULL, ended_at
         FROM order_ends WHERE ${newest("release", "ended_at", "order_id")})) entries
     ORDER BY "createdAt" DESC, rank DESC, place DESC
     LIMIT ${page.limit + 1}`)
  )
  return cutPage(rows, page.limit)
})
