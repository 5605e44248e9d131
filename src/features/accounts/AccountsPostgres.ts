/** Organisations, members and keys in PostgreSQL, as operators list and change them. */
import { Effect, Layer, type Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { columnsOf, readPage, repeatable, rowOf, rowsOf } from "../../postgres/client/rows.ts"
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

const organizationColumns = columnsOf(OrganizationRecord, "o", {
  balanceNano: "p.balance",
  heldNano: "p.held",
  uncoveredNano: "p.uncovered",
  creditNano: "p.credit",
  lowNano: "p.low_balance",
  stoppedReason: "p.stopped_reason"
})
const memberColumns = columnsOf(MemberRecord, "o", {
  capNano: "b.amount",
  capturedNano: "coalesce(mm.captured, 0)",
  heldNano: "coalesce(mm.held, 0)"
})
const keyColumns = columnsOf(KeyRecord, "o")

type Rows = Schema.Top & { readonly DecodingServices: never }

/** Greater than any text that begins like this one, by the codes of characters. */
const afterAll = (beginning: string): string => `${beginning}\u{10ffff}`

/** What a filter leaves: by a name, and of those the ones that are such. */
interface Left {
  readonly name: string | null
  readonly such: Statement.Fragment
}

/** Rows of a name that are sorted for a page. */
const FEW = 1000

/** Its table has ids in order of time; `of` reads records of some of its rows. */
interface Kind<S extends Rows> {
  readonly record: S
  readonly table: string
  readonly word: string
  readonly of: (rows: Statement.Fragment) => Statement.Statement<object>
}

export const layerAccounts = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const changes = yield* Changes
    const { timeZone } = yield* Settings
    const setCap = yield* makeSetCap

    const month = sql`date_trunc('month', now() AT TIME ZONE ${timeZone})::date`

    const organizations: Kind<typeof OrganizationRecord> = {
      ...{ record: OrganizationRecord, table: "organizations", word: "organisation" },
      of: (rows) => sql`
        SELECT ${sql.literal(organizationColumns)}
          FROM ${rows} o JOIN pools p ON p.organization_id = o.id`
    }
    const members: Kind<typeof MemberRecord> = {
      ...{ record: MemberRecord, table: "members", word: "member" },
      of: (rows) => sql`
        SELECT ${sql.literal(memberColumns)} FROM ${rows} o
          LEFT JOIN budgets b
            ON b.organization_id = o.organization_id AND b.subject_id = o.id AND b.is_cap
          LEFT JOIN member_months mm
            ON mm.organization_id = o.organization_id AND mm.member_id = o.id
           AND mm.month = ${month}`
    }
    const keys: Kind<typeof KeyRecord> = {
      ...{ record: KeyRecord, table: "api_keys", word: "key" },
      of: (rows) => sql`SELECT ${sql.literal(keyColumns)} FROM ${rows} o`
    }

    const named = (name: string | null) =>
      name === null
        ? sql`true`
        : sql`lower(name) COLLATE "C" >= lower(${name})
              AND lower(name) COLLATE "C" < lower(${afterAll(name)})`

    /** Whether the index of names leads to few rows; of many, a page is read along the ids sooner. */
    const isRare = (table: Statement.Fragment, name: string) =>
      Effect.map(
        repeatable(sql`SELECT 1 FROM ${table} WHERE ${named(name)} LIMIT ${FEW + 1}`),
        (rows) => rows.length <= FEW
      )

    /** The rows of a page are found first: a join of the tables could read on without an end. */
    const list = Effect.fnUntraced(function* <S extends Rows>(
      { record, table, of }: Kind<S>,
      { such, name }: Left,
      page: PageRequest
    ) {
      const { after, limit } = page
      const all = sql.literal(table)
      const rows =
        name === null
          ? all
          : (yield* isRare(all, name))
            ? sql`(SELECT * FROM ${all} WHERE ${named(name)} OFFSET 0) named`
            : sql`(SELECT * FROM ${all} WHERE starts_with(lower(name), lower(${name}))) named`
      return yield* readPage(record, page, {
        isEntry: (entry) => sql`SELECT 1 FROM ${rows} WHERE id = ${entry} AND ${such}`,
        newest: sql`
          ${of(sql`(
            SELECT * FROM ${rows} WHERE ${such} AND ${after === null ? sql`true` : sql`id < ${after}`}
             ORDER BY id DESC LIMIT ${limit + 1})`)}
           ORDER BY o.id DESC`
      })
    })

    const one = <S extends Rows>({ record, table, word, of }: Kind<S>, id: string) =>
      Effect.flatMap(
        rowsOf(record)(repeatable(of(sql`(SELECT * FROM ${sql.literal(table)} WHERE id = ${id})`))),
        ([row]) =>
          row === undefined
            ? Effect.fail(new NotFound({ message: `No such ${word}` }))
            : Effect.succeed(row)
      )

    const organization = (id: string) => one(organizations, id)
    const member = (id: string) => one(members, id)
    const key = (id: string) => one(keys, id)

    /** The new value of a column; undefined leaves it. */
    const kept = (column: string, value: unknown) =>
      value === undefined ? sql.literal(column) : sql`${value}`
    const disabledAt = (enabled: boolean | undefined) =>
      sql.literal(
        enabled === undefined ? "disabled_at" : enabled ? "NULL" : "coalesce(disabled_at, now())"
      )
    const matching = (column: string, value: string | null) =>
      value === null ? sql`true` : sql`${sql.literal(column)} = ${value}`
    const isSet = (column: string, set: boolean | null) =>
      sql.literal(set === null ? "true" : `${column} IS ${set ? "NOT NULL" : "NULL"}`)

    const ofOrganizations = ({ name, enabled }: OrganizationFilter) => ({
      name,
      such: isSet("disabled_at", enabled === null ? null : !enabled)
    })
    const ofMembers = ({ organizationId, ...filter }: MemberFilter) => {
      const { name, such } = ofOrganizations(filter)
      return { name, such: sql`${matching("organization_id", organizationId)} AND ${such}` }
    }
    const ofKeys = ({ organizationId, memberId, name, revoked }: KeyFilter) => ({
      name,
      such: sql`${matching("organization_id", organizationId)} AND ${matching("member_id", memberId)}
            AND ${isSet("revoked_at", revoked)}`
    })
    const isOf = ({ such, name }: Left) => sql`${such} AND ${named(name)}`

    const write = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
      repeatable(changes.changeAndNotify("keys", statement))

    return Accounts.of({
      organizations: Effect.fn("Accounts.organizations")((filter, page) =>
        list(organizations, ofOrganizations(filter), page)
      ),
      organizationTotals: Effect.fn("Accounts.organizationTotals")((filter) =>
        rowOf(OrganizationTotals)(
          repeatable(sql`
            SELECT count(*)::int AS count, coalesce(sum(p.balance), 0)::text AS "balanceNano",
                   coalesce(sum(p.held), 0)::text AS "heldNano"
              FROM (SELECT id FROM organizations WHERE ${isOf(ofOrganizations(filter))}) o
              JOIN pools p ON p.organization_id = o.id`)
        )
      ),
      organization: Effect.fn("Accounts.organization")(organization),
      changeOrganization: Effect.fn("Accounts.changeOrganization")(function* (
        id,
        { name, enabled, creditNano }
      ) {
        yield* write(sql`
          UPDATE organizations SET name = ${kept("name", name)}, disabled_at = ${disabledAt(enabled)}
           WHERE id = ${id}`)
        if (creditNano !== undefined) {
          yield* repeatable(sql`
            UPDATE pools SET credit = ${creditNano}::bigint WHERE organization_id = ${id}`)
        }
        return yield* organization(id)
      }),
      members: Effect.fn("Accounts.members")((filter, page) =>
        list(members, ofMembers(filter), page)
      ),
      memberTotals: Effect.fn("Accounts.memberTotals")((filter) =>
        rowOf(MemberTotals)(
          repeatable(sql`
            SELECT count(*)::int AS count, coalesce(sum(m.captured), 0)::text AS "capturedNano",
                   coalesce(sum(m.held), 0)::text AS "heldNano"
              FROM (SELECT organization_id, id FROM members WHERE ${isOf(ofMembers(filter))}) o
              LEFT JOIN member_months m
                ON m.organization_id = o.organization_id AND m.member_id = o.id AND m.month = ${month}`)
        )
      ),
      member: Effect.fn("Accounts.member")(member),
      changeMember: Effect.fn("Accounts.changeMember")((id, { name, enabled, monthlyCapNano }) =>
        Effect.gen(function* () {
          const { organizationId } = yield* member(id)
          yield* write(
            sql`UPDATE members SET name = ${kept("name", name)}, disabled_at = ${disabledAt(enabled)}
                 WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
              Effect.andThen(
                monthlyCapNano === undefined
                  ? Effect.void
                  : setCap(organizationId, id, monthlyCapNano)
              )
            )
          )
          return yield* member(id)
        })
      ),
      keys: Effect.fn("Accounts.keys")((filter, page) => list(keys, ofKeys(filter), page)),
      keyTotals: Effect.fn("Accounts.keyTotals")((filter) =>
        rowOf(KeyTotals)(
          repeatable(sql`SELECT count(*)::int AS count FROM api_keys WHERE ${isOf(ofKeys(filter))}`)
        )
      ),
      key: Effect.fn("Accounts.key")(key),
      changeKey: Effect.fn("Accounts.changeKey")((id, change) =>
        Effect.andThen(
          write(sql`
            UPDATE api_keys
               SET name = ${kept("name", change.name)}, scopes = ${kept("scopes", change.scopes)},
                   models = ${kept("models", change.models)},
                   requests_per_minute = ${kept("requests_per_minute", change.requestsPerMinute)},
                   expires_at = ${kept("expires_at", change.expiresAt)}
             WHERE id = ${id}`),
          key(id)
        )
      )
    })
  })
)
