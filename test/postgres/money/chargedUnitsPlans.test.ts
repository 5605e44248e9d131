/** What PostgreSQL reads for a month of charged orders, and which orders a month has where its zone is not UTC. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChargedUnits } from "../../../src/features/catalog/ChargedUnits.ts"
import { layerStoresOnServer, organization } from "../../support/ledger.ts"

const ONE_CONNECTION = 1
const MONTHS = 24
const ORDERS_PER_MONTH = 2000

const Reads = Schema.Tuple([Schema.Struct({ all: Schema.BigInt, by_index: Schema.BigInt })])

layer(layerStoresOnServer(ONE_CONNECTION), { excludeTestServices: true, timeout: "60 seconds" })(
  "the charged orders of a month",
  (it) => {
    it.effect("are found where they stand, however many others there are", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const charged = yield* ChargedUnits
        const { organizationId, memberIds } = yield* organization(1n)
        const write = (month: string, created: string, from: number, count: number) => sql`
          INSERT INTO orders (organization_id, id, member_id, key_id, model, modality, is_task, month, hold, quote,
                              job, created_at, expires_at, state, charge, closed_at, input, output, unit,
                              unit_price, basis)
          SELECT ${organizationId}, 'im_' || lpad((${from}::int + n)::text, 12, '0'), ${memberIds[0]}, 'k',
                 'paint-1', 'image', false, ${month}::date, 10, '{"kind": "image", "images": 1}',
                 '{"channelId": "c"}', ${created}::timestamptz + n * interval '20 minutes', now(), 'captured',
                 10, now(), 0, 1, 'image', 10, 'x'
            FROM generate_series(1, ${count}::int) AS n`
        for (let index = 0; index < MONTHS; index++) {
          const month = new Date(Date.UTC(2020, index, 1)).toISOString()
          yield* write(month, month, index * ORDERS_PER_MONTH, ORDERS_PER_MONTH)
        }
        // Where clocks are before those of UTC, and behind.
        const last = MONTHS * ORDERS_PER_MONTH
        yield* write("2021-03-01", "2021-02-28T09:50:00Z", last, 1)
        yield* write("2021-03-01", "2021-04-01T11:30:00Z", last + 1, 1)
        yield* sql`SELECT brin_summarize_new_values('orders_recent')`
        yield* sql`ANALYZE orders`

        const reads = Effect.flatMap(
          Effect.andThen(
            sql`SELECT pg_stat_force_next_flush()`,
            sql`SELECT seq_tup_read AS all, idx_tup_fetch AS by_index FROM pg_stat_user_tables
                 WHERE relname = 'orders'`
          ),
          Schema.decodeUnknownEffect(Reads)
        )
        const [before] = yield* reads
        const groups = yield* charged.readMonth("2021-03")
        const [after] = yield* reads
        assert.deepStrictEqual(
          groups.map(({ model, channelId, count, chargeNano, images }) => [
            model,
            channelId,
            count,
            chargeNano,
            images
          ]),
          [["paint-1", "c", ORDERS_PER_MONTH + 2, 20_020n, 2002n]]
        )
        assert.strictEqual(after.all, before.all)
        // Itself, the days beside it, and what else stands on the pages that are summed up with theirs.
        assert.isBelow(Number(after.by_index - before.by_index), 6 * ORDERS_PER_MONTH)
      })
    )
  }
)
