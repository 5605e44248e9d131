/**
 * Budgets in PostgreSQL. Budgets and their uses are created and changed under the lock of the pool.
 */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { budgetPeriods } from "../../domain/money/budgets.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  readPage,
  retryBriefly,
  rowsOf,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import { Changes } from "../../runtime/Changes.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Budget,
  Budgets,
  budgetPrefix,
  noSuchBudget,
  noSuchSubject
} from "../../services/money/Budgets.ts"

const columns = columnsOf(Budget, "b", {
  amountNano: "b.amount",
  heldNano: "coalesce(u.held, 0)",
  capturedNano: "coalesce(u.captured, 0)",
  startedAt: "p.started_at",
  resetsAt: "p.resets_at"
})

const subjectTables = { organization: "organizations", member: "members", key: "api_keys" } as const

export const layerBudgets = Layer.effect(
  Budgets,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { equals, isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const { timeZone } = yield* Settings
    const changes = yield* Changes
    /** Whether a key has a budget of its own is a part of what gateways cache of the key. */
    const notifyOfKeys = <A>(change: Effect.Effect<A, SqlError.SqlError>) =>
      changes.changeAndNotify("keys", change)

    /**
     * Budgets of these rows with the use of the current period. A period without a row has no use.
     */
    const budgetsOf = (rows: Statement.Fragment) => sql`
      SELECT ${sql.literal(columns)}
        FROM ${rows} b
        JOIN (SELECT period, period_start(period, ${timeZone}) AS start,
                     CASE WHEN period <> 'total'
                          THEN period_start(period, ${timeZone})::timestamp AT TIME ZONE ${timeZone}
                          END AS started_at,
                     period_end(period, ${timeZone}) AS resets_at
                FROM unnest(${[...budgetPeriods]}::text[]) AS period) p ON p.period = b.period
        LEFT JOIN budget_uses u
          ON u.organization_id = b.organization_id AND u.id = use_id(b.id, p.start)`

    const find = Effect.fn("Budgets.find")(function* (organizationId: string, id: string) {
      const [budget] = yield* rowsOf(Budget)(
        retryBriefly(
          budgetsOf(sql`
            (SELECT * FROM budgets WHERE organization_id = ${organizationId} AND id = ${id})`)
        )
      )
      return budget ?? (yield* noSuchBudget)
    })

    const hasSubject = (organizationId: string, scope: Budget["scope"], subjectId: string) => {
      const table = sql.literal(subjectTables[scope])
      const isOfOrganization =
        scope === "organization"
          ? sql`${subjectId} = ${organizationId}`
          : sql`organization_id = ${organizationId}`
      return Effect.map(
        retryBriefly(sql`SELECT 1 FROM ${table} WHERE id = ${subjectId} AND ${isOfOrganization}`),
        (rows) => rows.length > 0
      )
    }

    return Budgets.of({
      create: Effect.fn("Budgets.create")(function* (budget) {
        const { organizationId, scope, subjectId, period, amountNano, thresholds } = budget
        if (!(yield* hasSubject(organizationId, scope, subjectId))) {
          return yield* noSuchSubject(scope)
        }
        const id = budgetPrefix + (yield* random.uuidV7())
        yield* retryBriefly(
          notifyOfKeys(sql`
            SELECT create_budget(${timeZone}, ${organizationId}, ${id}, ${scope}, ${subjectId},
                                 ${period}, ${amountNano}, ${[...thresholds]}::int[], false)`)
        )
        return yield* find(organizationId, id)
      }),
      find,
      change: Effect.fn("Budgets.change")(function* (organizationId, id, change) {
        const { amountNano = null, thresholds } = change
        const percents = thresholds === undefined ? null : [...thresholds]
        yield* retryBriefly(sql`
          SELECT change_budget(${timeZone}, ${organizationId}, ${id}, ${amountNano}::bigint,
                               ${percents}::int[])`)
        return yield* find(organizationId, id)
      }),
      remove: Effect.fn("Budgets.remove")(function* (organizationId, id) {
        yield* find(organizationId, id)
        yield* Effect.orDie(
          notifyOfKeys(withStatementTimeout(sql`SELECT remove_budget(${organizationId}, ${id})`))
        )
      }),
      list: Effect.fn("Budgets.list")((organizationId, subjectId, page) => {
        const { after, limit } = page
        const isListed = sql`organization_id = ${organizationId}
                    AND ${equals("subject_id", subjectId)}`
        return readPage(Budget, page, {
          isEntry: (id) => sql`SELECT 1 FROM budgets WHERE ${isListed} AND id = ${id}`,
          newest: sql`
            ${budgetsOf(sql`(
              SELECT * FROM budgets WHERE ${isListed} AND ${isAfterCursor("id", after)}
               ORDER BY id DESC LIMIT ${limit + 1})`)}
             ORDER BY b.id DESC`
        })
      }),
      listUsed: Effect.fn("Budgets.listUsed")((minPercent, page) => {
        const { after, limit } = page
        const used = sql`(coalesce(u.held, 0) + coalesce(u.captured, 0))::numeric`
        return readPage(Budget, page, {
          isEntry: (id) => sql`SELECT 1 FROM budgets WHERE id = ${id}`,
          newest: sql`
            ${budgetsOf(sql`budgets`)}
             WHERE ${used} > 0 AND ${used} * 100 >= b.amount::numeric * ${minPercent}
               AND ${isAfterCursor("b.id", after)}
             ORDER BY b.id DESC LIMIT ${limit + 1}`
        })
      }),
      listApplicable: Effect.fn("Budgets.listApplicable")(({ organizationId, memberId, keyId }) =>
        rowsOf(Budget)(
          retryBriefly(
            budgetsOf(sql`
              (SELECT * FROM budgets WHERE organization_id = ${organizationId}
                  AND subject_id IN (${organizationId}, ${memberId}, ${keyId}))`)
          )
        )
      )
    })
  })
)
