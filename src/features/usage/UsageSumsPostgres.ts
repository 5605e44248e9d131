/** Sums of usage in PostgreSQL, read off `usage_sums` along its key. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SumGroup } from "../../domain/money/usageSums.ts"
import { repeatable, rowsOf } from "../../postgres/client/rows.ts"
import { Settings } from "../../runtime/Settings.ts"
import { UsageSum, UsageSums } from "./UsageSums.ts"

const columnOf: Record<SumGroup, string> = {
  model: "s.model",
  modality: "s.modality",
  member: "s.member_id",
  key: "s.key_id",
  organization: "s.organization_id",
  channel: "s.channel_id",
  tag: "s.tag_value"
}

export const layerUsageSums = Layer.effect(
  UsageSums,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { timeZone } = yield* Settings

    return UsageSums.of({
      read: Effect.fn("UsageSums.read")(({ step, by, from, to, filter, afterName, most }) => {
        const { organizationId, tag } = filter
        const stored = step ?? "day"
        const start = step === null ? sql`${from}::timestamptz` : sql`s.start`
        const name = by === null ? "''" : columnOf[by]
        const only = (column: string, value: string | null) =>
          value === null ? sql`true` : sql`${sql.literal(column)} = ${value}`
        return rowsOf(UsageSum)(
          repeatable(sql`
            SELECT ${start} AS start, ${sql.literal(name)} COLLATE "C" AS name,
                   sum(s.count)::int AS count, sum(s.failed)::int AS failed,
                   sum(s.charge)::text AS "chargeNano", sum(s.cost)::text AS "costNano",
                   sum(s.without_cost)::int AS "withoutCost", sum(s.returned)::text AS "returnedNano",
                   sum(s.tokens)::text AS tokens, sum(s.seconds)::text AS seconds,
                   sum(s.images)::text AS images
              FROM organizations o
             CROSS JOIN LATERAL (
               SELECT * FROM usage_sums
                WHERE organization_id = o.id AND tag_name = ${tag?.name ?? ""} AND step = ${stored}
                  AND start >= date_trunc(${stored}, ${from}::timestamptz, ${timeZone})
                  AND start < ${to}::timestamptz
                  AND ${only("tag_value", tag?.value ?? null)}
                  AND ${only("member_id", filter.memberId)} AND ${only("key_id", filter.keyId)}
                  AND ${only("model", filter.model)} AND ${only("channel_id", filter.channelId)}
               OFFSET 0) s
             WHERE ${only("o.id", organizationId)}
               AND ${afterName === null ? sql`true` : sql`${sql.literal(name)} COLLATE "C" > ${afterName}`}
             GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${most}`)
        )
      })
    })
  })
)
