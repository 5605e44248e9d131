/** What PostgreSQL reads for a movement of money, seen from its own statistics. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../src/services/Ledger.ts"
import { layerStoresOnServer, organization, usageOf } from "../../support/ledger.ts"

const ONE_CONNECTION = 1

const Indexes = Schema.Array(Schema.Struct({ name: Schema.String, read: Schema.BigInt }))

const Updates = Schema.Tuple([Schema.Struct({ all: Schema.BigInt, in_place: Schema.BigInt })])

layer(layerStoresOnServer(ONE_CONNECTION), { excludeTestServices: true, timeout: "60 seconds" })(
  "the plans of the ledger",
  (it) => {
    it.effect("look rows up by their key, not through all of an organisation or table", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const organizations = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          organization(1000n)
        )
        const asked = Effect.flatMap(
          Effect.andThen(
            sql`SELECT pg_stat_force_next_flush()`,
            sql`SELECT indexrelname AS name, idx_tup_read AS read FROM pg_stat_user_indexes
                 WHERE relname IN ('orders', 'member_months', 'members', 'pools')
                   AND idx_scan > 0
                 ORDER BY 1`
          ),
          Schema.decodeUnknownEffect(Indexes)
        )
        const before = new Map((yield* asked).map(({ name, read }) => [name, read]))
        for (let round = 0; round < 10; round++) {
          for (const few of [organizations.slice(0, 1), organizations.slice(1, 5)]) {
            const requests = few.flatMap(({ hold, close }) =>
              [hold(3n), hold(4n)].map((request) => ({ request, close }))
            )
            const everywhere = { concurrency: "unbounded" } as const
            yield* Effect.forEach(requests, ({ request }) => ledger.hold(request), everywhere)
            yield* Effect.forEach(
              requests,
              ({ request, close }) =>
                ledger.capture({ ...close(request.id), chargeNano: 2n, usage: usageOf(2n) }),
              everywhere
            )
          }
        }
        const after = yield* asked
        const keys = ["member_months_pkey", "members_pkey", "orders_pkey", "pools_pkey"]
        assert.deepEqual(
          after.map(({ name }) => name),
          keys
        )
        for (const { name, read } of after) {
          // 200 movements; of each table a whole reading has 50 rows or more.
          assert.isBelow(Number(read - (before.get(name) ?? 0n)), 5 * 200, name)
        }
      })
    )

    it.effect("close orders in place, without touching an index", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const updates = Effect.flatMap(
          Effect.andThen(
            sql`SELECT pg_stat_force_next_flush()`,
            sql`SELECT n_tup_upd AS all, n_tup_hot_upd AS in_place FROM pg_stat_user_tables
                 WHERE relname = 'orders'`
          ),
          Schema.decodeUnknownEffect(Updates)
        )
        const [before] = yield* updates
        // As large as those of an image, with the call that made it.
        const quote = { kind: "image", images: 1, nanoPerImage: "200000000", holdNano: "200000000" }
        const job = { channelId: "standard", protocol: "ip_a", upstreamModel: "vendor-paint-1" }
        const call = {
          startedAt: new Date(),
          durationMillis: 12,
          status: 200,
          bytes: 4096,
          requestId: "req_0123456789abcdef0123456789abcdef"
        }
        const { hold, close } = yield* organization(1_000_000_000n)
        for (let round = 0; round < 20; round++) {
          const requests = Array.from({ length: 20 }, () => hold(3n, { quote, job }))
          yield* Effect.forEach(requests, ledger.hold, { concurrency: 4 })
          yield* Effect.forEach(
            requests,
            ({ id }, index) =>
              index % 4 === 0
                ? ledger.release({ ...close(id), orphan: null, forgetKey: false })
                : ledger.capture({ ...close(id), chargeNano: 2n, usage: usageOf(2n), call }),
            { concurrency: 4 }
          )
        }
        const [after] = yield* updates
        assert.strictEqual(after.all - before.all, 400n)
        assert.strictEqual(after.in_place - before.in_place, 400n)
      })
    )
  }
)
