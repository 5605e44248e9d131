/**
 * The journal of an organisation. A transfer is one row; the hold, the charge and the release of an
 * order are computed from the order's row. Entries are ordered by the ids of transfers and orders,
 * which is the order of their creation. So a page is read through the primary keys, and its cost
 * does not depend on the length of the journal.
 */
import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { transferPrefix } from "../../domain/money/transfers.ts"
import { isOrderId, orderPrefixes } from "../../domain/orderIds.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"
import { JournalEntry, journalId } from "../../services/Ledger.ts"
import { readPage } from "../client/rows.ts"

/** The prefixes of orders' ids as a table `kinds (prefix)`. */
export const orderKinds = `(VALUES ${Object.values(orderPrefixes)
  .map((prefix) => `('${prefix}_')`)
  .join(", ")}) AS kinds (prefix)`

/**
 * Whether an id has the prefix and a UUID that is not after this one; a null UUID matches any id of
 * the prefix.
 */
export const upTo =
  (id: string, prefix: string) => (sql: SqlClient.SqlClient, uuid: string | null) =>
    sql`${sql.literal(id)} >= ${sql.literal(prefix)}
      AND ${sql.literal(id)} <= ${sql.literal(prefix)} || ${uuid ?? "~"}::text`

/** The entries of one order, in the order of their time. */
const kinds = ["hold", "capture", "release"] as const

const isTransfer = (id: string) =>
  id.startsWith(transferPrefix) &&
  isOrderId(`${orderPrefixes.image}_${id.slice(transferPrefix.length)}`)

/**
 * Parses the id of an entry: its transfer or order, and its position by UUID and by rank within the
 * order.
 */
const parseEntryId = (entryId: string) => {
  if (isTransfer(entryId)) {
    return { id: entryId, kind: "transfer", rank: 0, uuid: entryId.slice(transferPrefix.length) }
  }
  for (const [rank, kind] of kinds.entries()) {
    const id = entryId.slice(journalId(kind, "").length)
    if (journalId(kind, id) === entryId && isOrderId(id)) {
      return { id, kind, rank, uuid: id.slice(id.indexOf("_") + 1) }
    }
  }
  return null
}

/**
 * Reads one page, newest first. A hold moves an amount from the account `pool` to `held`, and its
 * release moves the complete amount back. The capture moves the charge from `pool` to `revenue`. So
 * the entries of each account add up to its balance.
 */
export const readJournal = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  page: PageRequest
): Effect.Effect<Page<JournalEntry>, InvalidRequest> => {
  const isOfOrganization = sql`organization_id = ${organizationId}`
  const cursor = page.after === null ? null : parseEntryId(page.after)
  const uuid = cursor?.uuid ?? null
  const limit = page.limit + 1
  const entryOf = (kind: (typeof kinds)[number]) => sql.literal(`'${journalId(kind, "")}' || id`)
  return readPage(JournalEntry, page, {
    isEntry: () =>
      cursor?.kind === "transfer"
        ? sql`SELECT 1 FROM transfers WHERE ${isOfOrganization} AND id = ${cursor.id}`
        : sql`SELECT 1 FROM orders WHERE ${isOfOrganization} AND id = ${cursor?.id ?? null}
                 AND CASE ${cursor?.kind ?? null}::text WHEN 'capture' THEN state = 'captured'
                       WHEN 'release' THEN state <> 'open' ELSE true END`,
    newest: sql`
      SELECT * FROM (
        SELECT e.id, e.kind, e.amount AS "amountNano", e.debit, e.credit, o.id AS "holdId",
               NULL AS reference, NULL AS reason, NULL AS author, NULL AS "correctedId",
               e.at AS "createdAt", e.rank, o.uuid
          FROM ${sql.literal(orderKinds)}
         CROSS JOIN LATERAL (
           SELECT *, substr(id, length(prefix) + 1) AS uuid FROM orders
            WHERE ${isOfOrganization} AND ${upTo("id", "prefix")(sql, uuid)}
            ORDER BY id DESC LIMIT ${limit + 1}) o
         CROSS JOIN LATERAL (
           SELECT ${entryOf("hold")} AS id, 0 AS rank, 'hold' AS kind, hold AS amount,
                  'pool' AS debit, 'held' AS credit, created_at AS at
           UNION ALL
           SELECT ${entryOf("capture")}, 1, 'capture', charge, 'pool', 'revenue', closed_at
            WHERE state = 'captured'
           UNION ALL
           SELECT ${entryOf("release")}, 2, 'release', hold, 'held', 'pool', closed_at
            WHERE state <> 'open') e
        UNION ALL
        (SELECT id, kind, amount, debit, credit, NULL, reference, reason, author, order_id, created_at, 0,
                substr(id, ${transferPrefix.length + 1}::int)
           FROM transfers
          WHERE ${isOfOrganization} AND ${upTo("id", `'${transferPrefix}'`)(sql, uuid)}
          ORDER BY id DESC LIMIT ${limit + 1})) entries
       WHERE ${cursor === null ? sql`true` : sql`(uuid, rank) < (${uuid}::text, ${cursor.rank}::int)`}
       ORDER BY uuid DESC, rank DESC LIMIT ${limit}`
  })
}
