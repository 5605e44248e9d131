/** Organisations, members and keys in PostgreSQL, as operators list and change them. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { columnsOf, readPage, retryBriefly, rowOf, rowsOf } from "../../postgres/client/rows.ts"
import { makeSetCap } from "../../postgres/stores/memberCaps.ts"
import { Changes } from "../../runtime/Changes.ts"
import type { PageRequest } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Accounts,
  type KeyFilter,
  KeyRecord,
  KeyTotals,
  type MemberFilter,
  MemberRecord,
  MemberTotals,
  type OrganizationFilter,
  OrganizationRecord,
  OrganizationTotals
} from "../../services/operators/Accounts.ts"
import { unknownPriceList } from "../../services/PriceLists.ts"

const organizationColumns = columnsOf(OrganizationRecord, "o", {
  balanceNano: "p.balance",
  heldNano: "p.held",
  uncoveredNano: "p.uncovered",
  creditNano: "p.credit",
  holdsOnCredit: "p.holds_on_credit",
  lowNano: "p.low_balance",
  stoppedReason: "p.stopped_reason"
})
const memberColumns = columnsOf(MemberRecord, "o", {
  capNano: "b.amount",
  capturedNano: "coalesce(mm.captured, 0)",
  heldNano: "coalesce(mm.held, 0)"
})
const keyColumns = columnsOf(KeyRecord, "o")

const ListRow = Schema.Struct({ id: Schema.String, name: Schema.String })

type RowSchema = Schema.Top & { readonly DecodingServices: never }

/** A kind of account: organisation, member or key. The ids of its table sort in order of time. */
interface AccountKind<S extends RowSchema> {
  readonly schema: S
  readonly table: string
  /** The name of the kind in errors. */
  readonly label: string
  /** Reads the accounts whose rows this subquery selects, under the alias `o`. */
  readonly selectFrom: (rows: Statement.Fragment) => Statement.Statement<object>
}

/** A filter in SQL. The name prefix is separate, since an index serves it. */
interface Conditions {
  readonly namePrefix: string | null
  readonly others: Statement.Fragment
}

/** Greater than every text with this prefix, in the order of code points (`COLLATE "C"`). */
const prefixEnd = (prefix: string): string => `${prefix}\u{10ffff}`

/** The maximum number of rows with one name prefix that a page may have to sort. */
const MAX_SORTED_ROWS = 1000

export const layerAccounts = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const changes = yield* Changes
    const { timeZone } = yield* Settings
    const setCap = yield* makeSetCap

    const currentMonth = sql`date_trunc('month', now() AT TIME ZONE ${timeZone})::date`

    const organizationKind: AccountKind<typeof OrganizationRecord> = {
      schema: OrganizationRecord,
      table: "organizations",
      label: "organisation",
      selectFrom: (rows) => sql`
        SELECT ${sql.literal(organizationColumns)}
          FROM ${rows} o JOIN pools p ON p.organization_id = o.id`
    }
    const memberKind: AccountKind<typeof MemberRecord> = {
      schema: MemberRecord,
      table: "members",
      label: "member",
      // A cluster reads the caps and the months of a left join in subqueries of their own, which are
      // therefore limited to those of the members.
      selectFrom: (rows) => sql`
        WITH listed AS ${rows}
        SELECT ${sql.literal(memberColumns)} FROM listed o
          LEFT JOIN (SELECT * FROM budgets
                      WHERE (organization_id, subject_id) IN (SELECT organization_id, id FROM listed)
                        AND is_cap) b
            ON b.organization_id = o.organization_id AND b.subject_id = o.id
          LEFT JOIN (SELECT * FROM member_months
                      WHERE (organization_id, member_id) IN (SELECT organization_id, id FROM listed)
                        AND month = ${currentMonth}) mm
            ON mm.organization_id = o.organization_id AND mm.member_id = o.id`
    }
    const keyKind: AccountKind<typeof KeyRecord> = {
      schema: KeyRecord,
      table: "api_keys",
      label: "key",
      selectFrom: (rows) => sql`SELECT ${sql.literal(keyColumns)} FROM ${rows} o`
    }

    /** Whether the name has the prefix, in a form that the index of names serves. */
    const hasPrefix = (prefix: string) =>
      sql`lower(name) COLLATE "C" >= lower(${prefix})
          AND lower(name) COLLATE "C" < lower(${prefixEnd(prefix)})`
    const isPresent = (column: string, expected: boolean | null) =>
      sql.literal(expected === null ? "true" : `${column} IS ${expected ? "NOT NULL" : "NULL"}`)

    const isLow = (expected: boolean | null) =>
      expected === null
        ? sql`true`
        : sql`id IN (SELECT organization_id FROM pools
                      WHERE coalesce(balance < low_balance, false) = ${expected})`

    const organizationConditions = (filter: OrganizationFilter): Conditions => ({
      namePrefix: filter.name,
      others: sql`${isPresent("disabled_at", filter.enabled === null ? null : !filter.enabled)}
              AND ${isLow(filter.hasLowBalance)}`
    })
    const memberConditions = ({ organizationId, name, enabled }: MemberFilter): Conditions => ({
      namePrefix: name,
      others: sql`${equals("organization_id", organizationId)}
              AND ${isPresent("disabled_at", enabled === null ? null : !enabled)}`
    })
    const keyConditions = (filter: KeyFilter): Conditions => ({
      namePrefix: filter.name,
      others: sql`${equals("organization_id", filter.organizationId)}
              AND ${equals("member_id", filter.memberId)}
              AND ${isPresent("revoked_at", filter.revoked)}`
    })
    const matches = ({ namePrefix, others }: Conditions) =>
      namePrefix === null ? others : sql`${others} AND ${hasPrefix(namePrefix)}`

    /**
     * The rows that a page is read from. If few rows have the name prefix, they are read through
     * the index of names and sorted: `OFFSET 0` keeps the planner from scanning the ids for them.
     * If many rows have it, a scan along the ids fills the page sooner, so the condition has a form
     * that the index of names cannot serve.
     */
    const rowsToPage = Effect.fnUntraced(function* (
      table: Statement.Fragment,
      namePrefix: string | null
    ) {
      if (namePrefix === null) return table
      const candidates = yield* retryBriefly(
        sql`SELECT 1 FROM ${table} WHERE ${hasPrefix(namePrefix)} LIMIT ${MAX_SORTED_ROWS + 1}`
      )
      return candidates.length <= MAX_SORTED_ROWS
        ? sql`(SELECT * FROM ${table} WHERE ${hasPrefix(namePrefix)} OFFSET 0) candidates`
        : sql`(SELECT * FROM ${table} WHERE starts_with(lower(name), lower(${namePrefix}))) candidates`
    })

    /**
     * The rows of the page are chosen before the joins: a join in the same query might read the
     * complete table.
     */
    const list = Effect.fnUntraced(function* <S extends RowSchema>(
      { schema, table, selectFrom }: AccountKind<S>,
      { namePrefix, others }: Conditions,
      page: PageRequest
    ) {
      const { after, limit } = page
      const rows = yield* rowsToPage(sql.literal(table), namePrefix)
      return yield* readPage(schema, page, {
        isEntry: (entry) => sql`SELECT 1 FROM ${rows} WHERE id = ${entry} AND ${others}`,
        newest: sql`
          ${selectFrom(sql`(
            SELECT * FROM ${rows} WHERE ${others} AND ${isAfterCursor("id", after)}
             ORDER BY id DESC LIMIT ${limit + 1})`)}
           ORDER BY o.id DESC`
      })
    })

    const find = Effect.fnUntraced(function* <S extends RowSchema>(
      { schema, table, label, selectFrom }: AccountKind<S>,
      id: string
    ) {
      const row = sql`(SELECT * FROM ${sql.literal(table)} WHERE id = ${id})`
      const [account] = yield* rowsOf(schema)(retryBriefly(selectFrom(row)))
      if (account === undefined) return yield* new NotFound({ message: `No such ${label}` })
      return account
    })

    /** The value of a column after a change; undefined keeps the current value. */
    const valueAfter = (column: string, value: unknown) =>
      value === undefined ? sql.literal(column) : sql`${value}`
    /** An earlier time stays: `least` ignores null. */
    const disabledAtAfter = (enabled: boolean | undefined) => {
      if (enabled === undefined) return sql.literal("disabled_at")
      return sql.literal(enabled ? "NULL" : "least(disabled_at, now())")
    }

    const write = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
      retryBriefly(changes.changeAndNotify("keys", statement))

    return Accounts.of({
      organizations: Effect.fn("Accounts.organizations")((filter, page) =>
        list(organizationKind, organizationConditions(filter), page)
      ),
      organizationTotals: Effect.fn("Accounts.organizationTotals")((filter) =>
        rowOf(OrganizationTotals)(
          retryBriefly(sql`
            SELECT count(*)::int AS count, coalesce(sum(p.balance), 0)::text AS "balanceNano",
                   coalesce(sum(p.held), 0)::text AS "heldNano"
              FROM (SELECT id FROM organizations
                     WHERE ${matches(organizationConditions(filter))}) o
              JOIN pools p ON p.organization_id = o.id`)
        )
      ),
      organization: Effect.fn("Accounts.organization")((id) => find(organizationKind, id)),
      changeOrganization: Effect.fn("Accounts.changeOrganization")(function* (id, change) {
        const { name, enabled, creditNano, holdsOnCredit, watermark } = change
        yield* write(sql`
          UPDATE organizations
             SET name = ${valueAfter("name", name)}, disabled_at = ${disabledAtAfter(enabled)},
                 watermark = ${valueAfter("watermark", watermark)}
           WHERE id = ${id}`)
        if (creditNano !== undefined || holdsOnCredit !== undefined) {
          const credit = sql`coalesce(${creditNano ?? null}::bigint, credit)`
          const onCredit = sql`coalesce(${holdsOnCredit ?? null}::boolean, holds_on_credit)`
          yield* retryBriefly(sql`
            UPDATE pools
               SET credit = ${credit}, holds_on_credit = ${onCredit},
                   highest_overdraft =
                     greatest(highest_overdraft, CASE WHEN ${onCredit} THEN ${credit} ELSE 0 END)
             WHERE organization_id = ${id}`)
        }
        return yield* find(organizationKind, id)
      }),
      setPriceList: Effect.fn("Accounts.setPriceList")(function* (id, priceListId) {
        yield* find(organizationKind, id)
        const isKnown = yield* write(
          Effect.gen(function* () {
            // The lock keeps the list from being removed before the organisation is on it.
            const lists = yield* sql`
              SELECT 1 FROM price_lists WHERE id = ${priceListId} AND removed_at IS NULL
                 FOR KEY SHARE`
            if (priceListId !== null && lists.length === 0) return false
            yield* sql`UPDATE organizations SET price_list_id = ${priceListId} WHERE id = ${id}`
            return true
          })
        )
        if (isKnown) return
        const lists = yield* rowsOf(ListRow)(
          retryBriefly(sql`SELECT id, name FROM price_lists WHERE removed_at IS NULL`)
        )
        return yield* unknownPriceList(priceListId ?? "", lists)
      }),
      members: Effect.fn("Accounts.members")((filter, page) =>
        list(memberKind, memberConditions(filter), page)
      ),
      memberTotals: Effect.fn("Accounts.memberTotals")((filter) =>
        rowOf(MemberTotals)(
          retryBriefly(sql`
            SELECT * FROM (SELECT count(*)::int AS count FROM members
                            WHERE ${matches(memberConditions(filter))}) c
             CROSS JOIN (
              SELECT coalesce(sum(m.captured), 0)::text AS "capturedNano",
                     coalesce(sum(m.held), 0)::text AS "heldNano"
                FROM (SELECT organization_id, id FROM members
                       WHERE ${matches(memberConditions(filter))}) o
                JOIN member_months m
                  ON m.organization_id = o.organization_id AND m.member_id = o.id
                 AND m.month = ${currentMonth}) s`)
        )
      ),
      member: Effect.fn("Accounts.member")((id) => find(memberKind, id)),
      changeMember: Effect.fn("Accounts.changeMember")(function* (id, change) {
        const { name, enabled, monthlyCapNano } = change
        const { organizationId } = yield* find(memberKind, id)
        const changeRow = sql`
          UPDATE members
             SET name = ${valueAfter("name", name)}, disabled_at = ${disabledAtAfter(enabled)}
           WHERE organization_id = ${organizationId} AND id = ${id}`
        const changeCap =
          monthlyCapNano === undefined ? Effect.void : setCap(organizationId, id, monthlyCapNano)
        yield* write(Effect.andThen(changeRow, changeCap))
        return yield* find(memberKind, id)
      }),
      keys: Effect.fn("Accounts.keys")((filter, page) =>
        list(keyKind, keyConditions(filter), page)
      ),
      keyTotals: Effect.fn("Accounts.keyTotals")((filter) =>
        rowOf(KeyTotals)(
          retryBriefly(
            sql`SELECT count(*)::int AS count FROM api_keys WHERE ${matches(keyConditions(filter))}`
          )
        )
      ),
      key: Effect.fn("Accounts.key")((id) => find(keyKind, id)),
      changeKey: Effect.fn("Accounts.changeKey")(function* (id, change) {
        yield* write(sql`
          UPDATE api_keys
             SET name = ${valueAfter("name", change.name)},
                 scopes = ${valueAfter("scopes", change.scopes)},
                 models = ${valueAfter("models", change.models)},
                 requests_per_minute = ${valueAfter("requests_per_minute", change.requestsPerMinute)},
                 expires_at = ${valueAfter("expires_at", change.expiresAt)}
           WHERE id = ${id}`)
        return yield* find(keyKind, id)
      })
    })
  })
)
