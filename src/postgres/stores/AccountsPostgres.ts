/** Organisations, members and keys in PostgreSQL, as operators list and change them. */
import { Effect, Layer, type Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { NotFound } from "../../domain/Errors.ts"
import { Changes } from "../../runtime/Changes.ts"
import type { PageRequest } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Accounts,
  KeyRecord,
  MemberRecord,
  OrganizationRecord
} from "../../services/operators/Accounts.ts"
import { columnsOf, readPage, repeatable, rowsOf } from "../client/rows.ts"
import { makeSetCap } from "../money/BudgetsPostgres.ts"

const organizationColumns = columnsOf(OrganizationRecord, "o", {
  balanceNano: "p.balance",
  heldNano: "p.held",
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
           AND mm.month = date_trunc('month', now() AT TIME ZONE ${timeZone})::date`
    }
    const keys: Kind<typeof KeyRecord> = {
      ...{ record: KeyRecord, table: "api_keys", word: "key" },
      of: (rows) => sql`SELECT ${sql.literal(keyColumns)} FROM ${rows} o`
    }

    /** The rows of a page are found first: a join of the tables could read on without an end. */
    const list = <S extends Rows>(
      { record, table, of }: Kind<S>,
      such: Statement.Fragment,
      page: PageRequest
    ) => {
      const { after, limit } = page
      const from = sql.literal(table)
      return readPage(record, page, {
        isEntry: (entry) => sql`SELECT 1 FROM ${from} WHERE id = ${entry} AND ${such}`,
        newest: sql`
          ${of(sql`(
            SELECT * FROM ${from} WHERE ${such} AND ${after === null ? sql`true` : sql`id < ${after}`}
             ORDER BY id DESC LIMIT ${limit + 1})`)}
           ORDER BY o.id DESC`
      })
    }

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

    const write = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
      repeatable(changes.telling("keys", statement))

    return Accounts.of({
      organizations: Effect.fn("Accounts.organizations")((page) =>
        list(organizations, sql`true`, page)
      ),
      organization: Effect.fn("Accounts.organization")(organization),
      changeOrganization: Effect.fn("Accounts.changeOrganization")((id, { name, enabled }) =>
        Effect.andThen(
          write(sql`
            UPDATE organizations SET name = ${kept("name", name)}, disabled_at = ${disabledAt(enabled)}
             WHERE id = ${id}`),
          organization(id)
        )
      ),
      members: Effect.fn("Accounts.members")(({ organizationId }, page) =>
        list(members, matching("organization_id", organizationId), page)
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
      keys: Effect.fn("Accounts.keys")(({ organizationId, memberId }, page) => {
        const such = sql`${matching("organization_id", organizationId)}
                     AND ${matching("member_id", memberId)}`
        return list(keys, such, page)
      }),
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
