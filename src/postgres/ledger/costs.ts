/** What was charged and what vendors bill for it, summed up by the database. */
import { Duration, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CostGroup } from "../../domain/money/Quote.ts"
import { cutPage, type PageRequest } from "../../runtime/Page.ts"
import { CostLine, type CostPeriod } from "../../services/UsageLog.ts"
import { rowsOf, within } from "../client/rows.ts"

/** Sums are numerics. */
const CostRow = Schema.Struct({
  ...CostLine.fields,
  chargeNano: Schema.BigIntFromString,
  costNano: Schema.BigIntFromString,
  marginNano: Schema.BigIntFromString
})

/** A year of a large deployment is many rows, and an operator waits for it. */
const PATIENCE = Duration.minutes(1)

/** In order of their characters' codes, so that a cursor means the same on every database. */
const groupsIn = (sql: SqlClient.SqlClient, timeZone: string) =>
  ({
    model: sql`o.model COLLATE "C"`,
    channel: sql`(o.job ->> 'channelId') COLLATE "C"`,
    organization: sql`o.organization_id COLLATE "C"`,
    day: sql`to_char(o.closed_at AT TIME ZONE ${timeZone}, 'YYYY-MM-DD') COLLATE "C"`
  }) satisfies Record<CostGroup, unknown>

export const readCosts = (sql: SqlClient.SqlClient, timeZone: string) => {
  const groups = groupsIn(sql, timeZone)
  return Effect.fn("UsageLog.costs")(function* (
    by: CostGroup,
    { from, to }: CostPeriod,
    { after, limit }: PageRequest
  ) {
    const midnight = (day: string, later: number) =>
      sql`((${day}::date + ${later}::int)::timestamp AT TIME ZONE ${timeZone})`
    const summed = sql`
      SELECT c.name, count(*)::int AS "count", sum(c.charge)::text AS "chargeNano",
             coalesce(sum(c.cost), 0)::text AS "costNano",
             (sum(c.charge) - coalesce(sum(c.cost), 0))::text AS "marginNano",
             count(*) FILTER (WHERE c.cost IS NULL)::int AS "withoutCost"
        FROM (SELECT ${groups[by]} AS name, o.charge, o.cost FROM orders o
               WHERE o.state = 'captured'
                 AND o.closed_at >= ${midnight(from, 0)} AND o.closed_at < ${midnight(to, 1)}) c
       WHERE c.name > ${after ?? ""}
       GROUP BY c.name ORDER BY c.name LIMIT ${limit + 1}`
    const rows = yield* rowsOf(CostRow)(
      within(PATIENCE)(
        sql.withTransaction(
          Effect.andThen(
            sql`SELECT set_config('statement_timeout', ${`${Duration.toMillis(PATIENCE)}`}, true)`,
            summed
          )
        )
      )
    )
    return cutPage(rows, limit)
  })
}
