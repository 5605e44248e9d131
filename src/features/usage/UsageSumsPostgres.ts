/** Sums of usage in PostgreSQL, read from `usage_sums` along its primary key. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SumGroup } from "../../domain/money/usageSums.ts"
import { Distribution } from "../../postgres/citus/Distribution.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import { retryBriefly, rowsOf } from "../../postgres/client/rows.ts"
import { usageSumColumns } from "../../postgres/ledger/usageSumColumns.ts"
import { Settings } from "../../runtime/Settings.ts"
import { UsageSum, UsageSums } from "./UsageSums.ts"

const sums = usageSumColumns({
  count: "count",
  failed: "failed",
  chargeNano: "charge",
  costNano: "cost",
  withoutCost: "without_cost",
  reportedCostNano: "reported_cost",
  withoutReportedCost: "without_reported_cost",
  returnedNano: "returned",
  tokens: "tokens",
  seconds: "seconds",
  images: "images",
  clips: "clips",
  characters: "characters",
  searches: "searches"
})

const groupColumns: Record<SumGroup, string> = {
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
    const { equals } = makeConditions(sql)
    const { timeZone } = yield* Settings
    const { isDistributed } = yield* Distribution
    // Each organisation's sums are looked up by the primary key: with stale statistics a join would
    // read the whole table. A cluster accepts only the join.
    const fence = sql.literal(isDistributed ? "" : "OFFSET 0")

    return UsageSums.of({
      read: Effect.fn("UsageSums.read")(({ step, by, from, to, filter, afterName, limit }) => {
        const { organizationId, tag } = filter
        const storedStep = step ?? "day"
        const start = step === null ? sql`${from}::timestamptz` : sql`s.start`
        const name = by === null ? "''" : groupColumns[by]
        return rowsOf(UsageSum)(
          retryBriefly(sql`
            SELECT ${start} AS start, ${sql.literal(name)} COLLATE "C" AS name,
                   ${sql.literal(sums)}
              FROM organizations o
             CROSS JOIN LATERAL (
               SELECT * FROM usage_sums
                WHERE organization_id = o.id AND tag_name = ${tag?.name ?? ""} AND step = ${storedStep}
                  AND start >= date_trunc(${storedStep}, ${from}::timestamptz, ${timeZone})
                  AND start < ${to}::timestamptz
                  AND ${equals("tag_value", tag?.value ?? null)}
                  AND ${equals("member_id", filter.memberId)} AND ${equals("key_id", filter.keyId)}
                  AND ${equals("model", filter.model)} AND ${equals("channel_id", filter.channelId)}
               ${fence}) s
             WHERE ${equals("o.id", organizationId)}
               AND ${afterName === null ? sql`true` : sql`${sql.literal(name)} COLLATE "C" > ${afterName}`}
             GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${limit}`)
        )
      })
    })
  })
)
