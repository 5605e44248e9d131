/** Months of money in PostgreSQL: read off the sums and the transfers, and along the keys of orders. */
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { firstDayOf } from "../../domain/money/months.ts"
import { transferKinds, transferPrefix } from "../../domain/money/transfers.ts"
import { columnsOf, oneTry, readPage, repeatable, rowsOf } from "../../postgres/client/rows.ts"
import { orderKinds } from "../../postgres/ledger/journal.ts"
import { Settings } from "../../runtime/Settings.ts"
import { usageId } from "../../services/UsageLog.ts"
import {
  MAX_STATEMENT_LINES,
  noSuchStatement,
  SealedMonth,
  Statement,
  StatementEntry,
  Statements
} from "./Statements.ts"

/** Entries that are read at a time. */
const PAGE = 1000

/**
 * An order counts by the clock of the database, and its id begins with that of its gateway. Clocks
 * that are further apart leave entries out, and the month is not sealed then.
 */
const CLOCK_DAYS = 7

/** Longer than any statement runs that began in the month. */
const AFTER_MONTH = "1 minute"

const sealColumns = columnsOf(SealedMonth, "s", {
  month: "to_char(s.month, 'YYYY-MM')",
  openingNano: "s.opening",
  closingNano: "s.closing"
})

const entryColumns = {
  charge: columnsOf(StatementEntry, "o", {
    id: `'${usageId("")}' || o.id`,
    kind: "'charge'",
    at: "o.created_at",
    amountNano: "-o.charge",
    unitPriceNano: "o.unit_price",
    inputUnitPriceNano: "o.input_unit_price",
    correctedId: "NULL",
    correctedMonth: "NULL",
    reference: "NULL",
    reason: "NULL",
    author: "NULL"
  }),
  transfer: columnsOf(StatementEntry, "t", {
    at: "t.created_at",
    amountNano: "CASE WHEN t.credit = 'pool' THEN t.amount ELSE -t.amount END",
    ...Object.fromEntries(
      ["memberId", "keyId", "model", "modality", "input", "output", "unit", "unitPriceNano"]
        .concat("inputUnitPriceNano", "metadata")
        .map((field) => [field, "NULL"])
    ),
    correctedId: `'${usageId("")}' || t.order_id`,
    correctedMonth: `(SELECT to_char(o.month, 'YYYY-MM') FROM orders o
                       WHERE o.organization_id = t.organization_id AND o.id = t.order_id)`
  })
}

const EntryRow = Schema.Struct({ ...StatementEntry.fields, uuid: Schema.String })
const DueRow = Schema.Struct({ organizationId: Schema.String, month: Schema.String })

const charged = `sum(count)::int AS count, sum(charge)::text AS "grossNano",
                 sum(returned)::text AS "returnedNano"`

/** The `UUIDv7`s of a moment begin with it. */
const uuidAt = (time: string) =>
  `regexp_replace(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0'),
                  '(.{8})(.{4})', '\\1-\\2')`

export const layerStatements = Layer.effect(
  Statements,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { timeZone } = yield* Settings

    /** The month as a table of one row: its first day, when it begins, and when the next one does. */
    const monthOf = (month: string) => sql`
      SELECT ${firstDayOf(month)}::date AS first,
             ${firstDayOf(month)}::timestamp AT TIME ZONE ${timeZone} AS begins,
             (${firstDayOf(month)}::timestamp + interval '1 month') AT TIME ZONE ${timeZone} AS ends`

    const read = Effect.fn("Statements.read")(function* (organizationId: string, month: string) {
      const sums = sql`
        SELECT u.* FROM usage_sums u, m
         WHERE u.organization_id = ${organizationId} AND u.step = 'month' AND u.start = m.begins`
      const [statement] = yield* rowsOf(Statement)(
        repeatable(sql`
          WITH m AS MATERIALIZED (${monthOf(month)}),
          before AS MATERIALIZED (
            SELECT s.ends, s.closing, s.sha256 FROM sealed_months s, m
             WHERE s.organization_id = ${organizationId} AND s.month < m.first
             ORDER BY s.month DESC LIMIT 1),
          since AS MATERIALIZED (
            SELECT coalesce((SELECT ends FROM before), '-infinity') AS time),
          opening AS MATERIALIZED (
            SELECT coalesce((SELECT closing FROM before), 0)
                 + (SELECT coalesce(sum(CASE WHEN t.credit = 'pool' THEN t.amount ELSE -t.amount END), 0)
                      FROM transfers t, m, since
                     WHERE t.organization_id = ${organizationId}
                       AND t.created_at >= since.time AND t.created_at < m.begins)
                 - (SELECT coalesce(sum(u.charge), 0)
                      FROM usage_sums u, m, since
                     WHERE u.organization_id = ${organizationId} AND u.tag_name = '' AND u.step = 'month'
                       AND u.start >= since.time AND u.start < m.begins) AS amount),
          moved AS MATERIALIZED (
            SELECT kind.name, count(t.amount)::int AS count, coalesce(sum(t.amount), 0) AS amount
              FROM unnest(${[...transferKinds]}::text[]) AS kind(name)
             CROSS JOIN m
              LEFT JOIN transfers t
                ON t.organization_id = ${organizationId} AND t.kind = kind.name
               AND t.created_at >= m.begins AND t.created_at < m.ends
             GROUP BY kind.name),
          sums AS MATERIALIZED (${sums} AND u.tag_name = ''),
          whole AS MATERIALIZED (
            SELECT coalesce(sum(count), 0)::int AS count, coalesce(sum(charge), 0) AS gross,
                   coalesce(sum(returned), 0) AS returned FROM sums),
          open AS MATERIALIZED (
            SELECT count(*)::int AS count, coalesce(sum(o.hold), 0) AS held FROM open_orders() o, m
             WHERE o.organization_id = ${organizationId} AND o.month <= m.first)
          SELECT o.id AS "organizationId", o.name AS "organizationName", ${month}::text AS month,
                 m.begins AS "from", m.ends AS "to", opening.amount::text AS "openingNano",
                 (opening.amount - whole.gross
                    + (SELECT sum(CASE name WHEN 'withdrawal' THEN -amount ELSE amount END) FROM moved)
                 )::text AS "closingNano",
                 (SELECT jsonb_object_agg(name, jsonb_build_object(
                           'count', count, 'amountNano', amount::text)) FROM moved) AS "transferTotals",
                 (SELECT coalesce(jsonb_agg(x ORDER BY x.id), '[]') FROM (
                    SELECT t.id, t.kind, t.amount::text AS "amountNano", t.reference, t.reason,
                           t.author, ${usageId("")} || t.order_id AS "correctedId", t.created_at AS at
                      FROM transfers t, m
                     WHERE t.organization_id = ${organizationId}
                       AND t.created_at >= m.begins AND t.created_at < m.ends
                     ORDER BY t.created_at, t.id LIMIT ${MAX_STATEMENT_LINES}) x) AS transfers,
                 jsonb_build_object('count', whole.count, 'grossNano', whole.gross::text,
                                    'returnedNano', whole.returned::text) AS charges,
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT model, ${sql.literal(charged)} FROM sums
                     GROUP BY model HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, model) x) AS "byModel",
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT s.member_id AS "memberId", p.name, ${sql.literal(charged)}
                      FROM sums s
                      JOIN members p ON p.organization_id = ${organizationId} AND p.id = s.member_id
                     GROUP BY s.member_id, p.name HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, s.member_id) x) AS "byMember",
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT tag_name AS name, tag_value AS value, ${sql.literal(charged)}
                      FROM (${sums} AND u.tag_name <> '') tags
                     GROUP BY 1, 2 HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, 1, 2 LIMIT ${MAX_STATEMENT_LINES}) x) AS "byTag",
                 open.count AS "openOrders", open.held::text AS "openNano",
                 (SELECT sha256 FROM before WHERE before.ends = m.begins) AS "sealBefore",
                 NULL AS seal
            FROM organizations o CROSS JOIN m CROSS JOIN opening CROSS JOIN whole CROSS JOIN open
           WHERE o.id = ${organizationId} AND m.begins <= now() AND m.ends > o.created_at`)
      )
      if (statement === undefined) return yield* noSuchStatement
      const [seal] = yield* rowsOf(SealedMonth)(
        repeatable(sql`
          SELECT ${sql.literal(sealColumns)} FROM sealed_months s
           WHERE organization_id = ${organizationId} AND month = ${firstDayOf(month)}::date`)
      )
      return { ...statement, seal: seal ?? null }
    })

    /** Ids with a prefix, of the gateways' clocks around the month. */
    const inTime = (id: string, prefix: string, after: string | null) => {
      const around = (time: string, sign: string) =>
        sql.literal(uuidAt(`m.${time} ${sign} interval '${CLOCK_DAYS} days'`))
      const [column, begin] = [sql.literal(id), sql.literal(prefix)]
      return sql`${column} > ${begin} || ${after === null ? around("begins", "-") : sql`${after}::text`}
             AND ${column} < ${begin} || ${around("ends", "+")}`
    }

    const entriesAfter = (organizationId: string, month: string, after: string | null) =>
      rowsOf(EntryRow)(
        repeatable(sql`
          WITH m AS MATERIALIZED (${monthOf(month)})
          SELECT * FROM (
            SELECT ${sql.literal(entryColumns.charge)}, o.uuid
              FROM m CROSS JOIN ${sql.literal(orderKinds)}
             CROSS JOIN LATERAL (
               SELECT *, substr(id, length(prefix) + 1) AS uuid FROM orders
                WHERE organization_id = ${organizationId} AND ${inTime("id", "prefix", after)}
                  AND month = m.first AND state = 'captured'
                ORDER BY id LIMIT ${PAGE}) o
            UNION ALL
            SELECT ${sql.literal(entryColumns.transfer)}, t.uuid
              FROM m CROSS JOIN LATERAL (
               SELECT *, substr(id, ${transferPrefix.length + 1}::int) AS uuid FROM transfers
                WHERE organization_id = ${organizationId}
                  AND ${inTime("id", `'${transferPrefix}'`, after)}
                  AND created_at >= m.begins AND created_at < m.ends
                ORDER BY id LIMIT ${PAGE}) t) entries
           ORDER BY uuid LIMIT ${PAGE}`)
      )

    return Statements.of({
      read,
      entries: (organizationId, month) =>
        Stream.paginate<string | null, StatementEntry>(null, (after) =>
          Effect.map(entriesAfter(organizationId, month, after), (rows) => [
            rows,
            rows.length < PAGE ? Option.none() : Option.fromNullishOr(rows.at(-1)?.uuid)
          ])
        ),
      sealedMonths: Effect.fn("Statements.sealedMonths")((organizationId, page) => {
        const { after, limit } = page
        const own = sql`s.organization_id = ${organizationId}`
        const at = (month: string) => sql`s.month = to_date(${month}, 'YYYY-MM')`
        return readPage(SealedMonth, page, {
          isEntry: (month) => sql`SELECT 1 FROM sealed_months s WHERE ${own} AND ${at(month)}`,
          newest: sql`
            SELECT ${sql.literal(sealColumns)} FROM sealed_months s
             WHERE ${own}
               AND ${after === null ? sql`true` : sql`s.month < to_date(${after}, 'YYYY-MM')`}
             ORDER BY s.month DESC LIMIT ${limit + 1}`
        })
      }),
      sealableMonths: Effect.fn("Statements.sealableMonths")((most) =>
        rowsOf(DueRow)(
          oneTry(sql`
            SELECT o.id AS "organizationId", to_char(next.month, 'YYYY-MM') AS month
              FROM organizations o
             CROSS JOIN LATERAL (
               SELECT coalesce(
                 (SELECT (max(s.month) + interval '1 month')::date FROM sealed_months s
                   WHERE s.organization_id = o.id),
                 date_trunc('month', o.created_at AT TIME ZONE ${timeZone})::date) AS month) next
             WHERE (next.month::timestamp + interval '1 month') AT TIME ZONE ${timeZone}
                     < now() - ${AFTER_MONTH}::interval
               AND NOT EXISTS (SELECT FROM member_months mm
                                WHERE mm.organization_id = o.id AND mm.month <= next.month
                                  AND mm.held > 0)
             ORDER BY random() LIMIT ${most}`)
        )
      ),
      seal: Effect.fn("Statements.seal")((organizationId, month, seal) =>
        Effect.asVoid(
          repeatable(sql`
            WITH m AS (${monthOf(month)})
            INSERT INTO sealed_months (organization_id, month, begins, ends, opening, closing,
                                       entries, sha256)
            SELECT ${organizationId}, m.first, m.begins, m.ends, ${seal.openingNano}::bigint,
                   ${seal.closingNano}::bigint, ${seal.entries}::bigint, ${seal.sha256} FROM m
            ON CONFLICT (organization_id, month) DO NOTHING`)
        )
      )
    })
  })
)
