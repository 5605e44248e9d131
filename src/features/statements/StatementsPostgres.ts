/**
 * Statements in PostgreSQL, read from the usage sums, the transfers and the primary key of orders.
 */
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { firstDayOf } from "../../domain/money/months.ts"
import { transferKinds, transferPrefix } from "../../domain/money/transfers.ts"
import {
  columnsOf,
  readPage,
  retryBriefly,
  rowsOf,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import { orderKinds } from "../../postgres/ledger/journal.ts"
import { openOrderIds } from "../../postgres/ledger/openOrders.ts"
import { usageSumColumns } from "../../postgres/ledger/usageSumColumns.ts"
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

const ENTRIES_PER_READ = 1000

/**
 * The maximum difference between the clocks of the database and of a gateway at which all entries
 * of a month are found. The month of an order is taken from the database's clock, while its id
 * begins with the time of the gateway's clock. If the clocks differ by more, entries are missing
 * and the month is not sealed.
 */
const MAX_CLOCK_SKEW_DAYS = 7

/**
 * The time from the end of a month until it can be sealed: longer than the time-out of a SQL
 * statement that began in the month.
 */
const SEAL_DELAY = "1 minute"

const sealColumns = columnsOf(SealedMonth, "s", {
  month: "to_char(s.month, 'YYYY-MM')",
  openingNano: "s.opening",
  closingNano: "s.closing"
})

/** The change of the pool's balance by a transfer; negative for a withdrawal. */
const transferAmount = "CASE WHEN t.credit = 'pool' THEN t.amount ELSE -t.amount END"

const nullColumns = (fields: ReadonlyArray<keyof StatementEntry>) =>
  Object.fromEntries(fields.map((field) => [field, "NULL"]))

const chargeColumns = columnsOf(StatementEntry, "o", {
  id: `'${usageId("")}' || o.id`,
  kind: "'charge'",
  at: "o.created_at",
  amountNano: "-o.charge",
  unitPriceNano: "o.unit_price",
  inputUnitPriceNano: "o.input_unit_price",
  ...nullColumns(["correctedId", "corrected", "reference", "reason", "author"])
})

const transferColumns = columnsOf(StatementEntry, "t", {
  at: "t.created_at",
  amountNano: transferAmount,
  correctedId: `'${usageId("")}' || t.order_id`,
  ...nullColumns(["memberId", "memberName", "keyId", "model", "modality", "metadata", "quote"]),
  ...nullColumns(["input", "output", "unit", "unitPriceNano", "inputUnitPriceNano", "parts"])
})

const EntryRow = Schema.Struct({ ...StatementEntry.fields, uuid: Schema.String })
const SealableRow = Schema.Struct({ organizationId: Schema.String, month: Schema.String })

const chargeSums = usageSumColumns({
  count: "count",
  grossNano: "charge",
  returnedNano: "returned"
})

/** The timestamp prefix that all UUIDv7 of one millisecond share. */
const uuidPrefixAt = (time: string) =>
  `regexp_replace(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0'),
                  '(.{8})(.{4})', '\\1-\\2')`

export const layerStatements = Layer.effect(
  Statements,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { timeZone } = yield* Settings

    /**
     * The month as a table of one row: its first day, its start, and the start of the next month.
     */
    const monthOf = (month: string) => sql`
      SELECT ${firstDayOf(month)}::date AS first,
             ${firstDayOf(month)}::timestamp AT TIME ZONE ${timeZone} AS begins,
             (${firstDayOf(month)}::timestamp + interval '1 month') AT TIME ZONE ${timeZone} AS ends`

    const read = Effect.fn("Statements.read")(function* (organizationId: string, month: string) {
      const sums = sql`
        SELECT u.* FROM usage_sums u, m
         WHERE u.organization_id = ${organizationId} AND u.step = 'month' AND u.start = m.begins`
      const openIds = yield* retryBriefly(openOrderIds(sql, organizationId))
      const [statement] = yield* rowsOf(Statement)(
        retryBriefly(sql`
          WITH m AS MATERIALIZED (${monthOf(month)}),
          previous_seal AS MATERIALIZED (
            SELECT s.ends, s.closing, s.sha256 FROM sealed_months s, m
             WHERE s.organization_id = ${organizationId} AND s.month < m.first
             ORDER BY s.month DESC LIMIT 1),
          unsealed AS MATERIALIZED (
            SELECT coalesce((SELECT ends FROM previous_seal), '-infinity') AS time),
          opening AS MATERIALIZED (
            SELECT coalesce((SELECT closing FROM previous_seal), 0)
                 + (SELECT coalesce(sum(${sql.literal(transferAmount)}), 0)
                      FROM transfers t, m, unsealed
                     WHERE t.organization_id = ${organizationId}
                       AND t.created_at >= unsealed.time AND t.created_at < m.begins)
                 - (SELECT coalesce(sum(u.charge), 0)
                      FROM usage_sums u, m, unsealed
                     WHERE u.organization_id = ${organizationId} AND u.tag_name = '' AND u.step = 'month'
                       AND u.start >= unsealed.time AND u.start < m.begins) AS amount),
          transfer_totals AS MATERIALIZED (
            SELECT kind.name, count(t.amount)::int AS count, coalesce(sum(t.amount), 0) AS amount
              FROM unnest(${[...transferKinds]}::text[]) AS kind(name)
             CROSS JOIN m
              LEFT JOIN transfers t
                ON t.organization_id = ${organizationId} AND t.kind = kind.name
               AND t.created_at >= m.begins AND t.created_at < m.ends
             GROUP BY kind.name),
          sums AS MATERIALIZED (${sums} AND u.tag_name = ''),
          charged AS MATERIALIZED (SELECT ${sql.literal(chargeSums)} FROM sums),
          open AS MATERIALIZED (
            SELECT count(*)::int AS count, coalesce(sum(o.hold), 0) AS held FROM orders o, m
             WHERE o.organization_id = ${organizationId} AND o.id = ANY (${openIds}::text[])
               AND o.state = 'open' AND o.month <= m.first)
          SELECT o.id AS "organizationId", o.name AS "organizationName", ${month}::text AS month,
                 m.begins AS "from", m.ends AS "to", opening.amount::text AS "openingNano",
                 (opening.amount - charged."grossNano"::numeric
                    + (SELECT sum(CASE name WHEN 'withdrawal' THEN -amount ELSE amount END)
                         FROM transfer_totals))::text AS "closingNano",
                 (SELECT jsonb_object_agg(name, jsonb_build_object(
                           'count', count, 'amountNano', amount::text))
                    FROM transfer_totals) AS "transferTotals",
                 (SELECT coalesce(jsonb_agg(x ORDER BY x.id), '[]') FROM (
                    SELECT t.id, t.kind, t.amount::text AS "amountNano", t.reference, t.reason,
                           t.author, ${usageId("")} || t.order_id AS "correctedId", t.created_at AS at
                      FROM transfers t, m
                     WHERE t.organization_id = ${organizationId}
                       AND t.created_at >= m.begins AND t.created_at < m.ends
                     ORDER BY t.created_at, t.id LIMIT ${MAX_STATEMENT_LINES}) x) AS transfers,
                 to_jsonb(charged) AS charges,
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT model, ${sql.literal(chargeSums)} FROM sums
                     GROUP BY model HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, model) x) AS "byModel",
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT s.member_id AS "memberId", p.name, ${sql.literal(chargeSums)}
                      FROM sums s
                      JOIN members p ON p.organization_id = ${organizationId} AND p.id = s.member_id
                     GROUP BY s.member_id, p.name HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, s.member_id) x) AS "byMember",
                 (SELECT coalesce(jsonb_agg(x), '[]') FROM (
                    SELECT tag_name AS name, tag_value AS value, ${sql.literal(chargeSums)}
                      FROM (${sums} AND u.tag_name <> '') tags
                     GROUP BY 1, 2 HAVING sum(count) > 0 OR sum(returned) > 0
                     ORDER BY sum(charge) DESC, 1, 2 LIMIT ${MAX_STATEMENT_LINES}) x) AS "byTag",
                 open.count AS "openOrders", open.held::text AS "openNano",
                 (SELECT sha256 FROM previous_seal WHERE ends = m.begins) AS "sealBefore",
                 NULL AS seal
            FROM organizations o CROSS JOIN m CROSS JOIN opening CROSS JOIN charged CROSS JOIN open
           WHERE o.id = ${organizationId} AND m.begins <= now() AND m.ends > o.created_at`)
      )
      if (statement === undefined) return yield* noSuchStatement
      const [seal] = yield* rowsOf(SealedMonth)(
        retryBriefly(sql`
          SELECT ${sql.literal(sealColumns)} FROM sealed_months s
           WHERE organization_id = ${organizationId} AND month = ${firstDayOf(month)}::date`)
      )
      return { ...statement, seal: seal ?? null }
    })

    /** Whether the id was minted around the month, and after the cursor if there is one. */
    const isMintedAround = (id: string, prefix: string, after: string | null) => {
      const shifted = (time: string, sign: string) =>
        sql.literal(uuidPrefixAt(`m.${time} ${sign} interval '${MAX_CLOCK_SKEW_DAYS} days'`))
      const column = sql.literal(id)
      const idPrefix = sql.literal(prefix)
      const first = after === null ? shifted("begins", "-") : sql`${after}::text`
      return sql`${column} > ${idPrefix} || ${first}
             AND ${column} < ${idPrefix} || ${shifted("ends", "+")}`
    }

    const nameOfMember = (organizationId: string, memberId: string) => sql`
      (SELECT p.name FROM members p
        WHERE p.organization_id = ${organizationId} AND p.id = ${sql.literal(memberId)})`

    const entriesAfter = (organizationId: string, month: string, after: string | null) =>
      rowsOf(EntryRow)(
        retryBriefly(sql`
          WITH m AS MATERIALIZED (${monthOf(month)})
          SELECT * FROM (
            SELECT ${sql.literal(chargeColumns)}, o.uuid
              FROM m CROSS JOIN ${sql.literal(orderKinds)}
             CROSS JOIN LATERAL (
               SELECT *, substr(id, length(prefix) + 1) AS uuid,
                      ${nameOfMember(organizationId, "member_id")} AS member_name
                 FROM orders
                WHERE organization_id = ${organizationId} AND ${isMintedAround("id", "prefix", after)}
                  AND month = m.first AND state = 'captured'
                ORDER BY id LIMIT ${ENTRIES_PER_READ}) o
            UNION ALL
            SELECT ${sql.literal(transferColumns)}, t.uuid
              FROM m CROSS JOIN LATERAL (
               SELECT *, substr(id, ${transferPrefix.length + 1}::int) AS uuid,
                      (SELECT jsonb_build_object(
                                'month', to_char(o.month, 'YYYY-MM'), 'memberId', o.member_id,
                                'memberName', ${nameOfMember(organizationId, "o.member_id")},
                                'keyId', o.key_id, 'modality', o.modality, 'metadata', o.metadata)
                         FROM orders o
                        WHERE o.organization_id = ${organizationId} AND o.id = order_id) AS corrected
                 FROM transfers
                WHERE organization_id = ${organizationId}
                  AND ${isMintedAround("id", `'${transferPrefix}'`, after)}
                  AND created_at >= m.begins AND created_at < m.ends
                ORDER BY id LIMIT ${ENTRIES_PER_READ}) t) entries
           ORDER BY uuid LIMIT ${ENTRIES_PER_READ}`)
      )

    return Statements.of({
      read,
      entries: (organizationId, month) =>
        Stream.paginate<string | null, StatementEntry>(null, (after) =>
          Effect.map(entriesAfter(organizationId, month, after), (rows) => [
            rows,
            rows.length < ENTRIES_PER_READ ? Option.none() : Option.fromNullishOr(rows.at(-1)?.uuid)
          ])
        ),
      sealedMonths: Effect.fn("Statements.sealedMonths")((organizationId, page) => {
        const { after, limit } = page
        const isOfOrganization = sql`s.organization_id = ${organizationId}`
        return readPage(SealedMonth, page, {
          isEntry: (month) => sql`
            SELECT 1 FROM sealed_months s
             WHERE ${isOfOrganization} AND s.month = to_date(${month}, 'YYYY-MM')`,
          newest: sql`
            SELECT ${sql.literal(sealColumns)} FROM sealed_months s
             WHERE ${isOfOrganization}
               AND ${after === null ? sql`true` : sql`s.month < to_date(${after}, 'YYYY-MM')`}
             ORDER BY s.month DESC LIMIT ${limit + 1}`
        })
      }),
      sealableMonths: Effect.fn("Statements.sealableMonths")((limit) =>
        rowsOf(SealableRow)(
          withStatementTimeout(sql`
            SELECT next.id AS "organizationId", to_char(next.month, 'YYYY-MM') AS month
              FROM (SELECT p.organization_id AS id,
                           coalesce(
                             (SELECT (max(s.month) + interval '1 month')::date FROM sealed_months s
                               WHERE s.organization_id = p.organization_id),
                             date_trunc('month', g.created_at AT TIME ZONE ${timeZone})::date)
                             AS month
                      FROM pools p JOIN organizations g ON g.id = p.organization_id) next
             WHERE (next.month::timestamp + interval '1 month') AT TIME ZONE ${timeZone}
                     < now() - ${SEAL_DELAY}::interval
               AND NOT EXISTS (SELECT FROM member_months mm
                                WHERE mm.organization_id = next.id AND mm.month <= next.month
                                  AND mm.held > 0)
             ORDER BY random() LIMIT ${limit}`)
        )
      ),
      seal: Effect.fn("Statements.seal")((organizationId, month, seal) =>
        Effect.asVoid(
          retryBriefly(sql`
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
