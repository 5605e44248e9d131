/** What PostgreSQL reads for a movement of money, seen from its own statistics. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../src/services/Ledger.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { layerStoresOn, organization, usageOf } from "../support/ledger.ts"

const ONE_CONNECTION = 1

/** A database nobody has analysed: its plans are made of guesses, and kept. */
const layerFresh = Layer.unwrap(
  Effect.map(temporaryServerDatabase, (url) => layerStoresOn(layerDatabaseAt(url, ONE_CONNECTION)))
)

const Indexes = Schema.Array(Schema.Struct({ name: Schema.String }))

layer(layerFresh, { excludeTestServices: true, timeout: "60 seconds" })(
  "the plans of the ledger",
  (it) => {
    it.effect("look holds up by their key, not through all holds of an organisation", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const { hold, close } = yield* organization(1000n)
        for (let round = 0; round < 10; round++) {
          const requests = [hold(3n), hold(4n)]
          const everywhere = { concurrency: "unbounded" } as const
          yield* Effect.forEach(requests, (request) => ledger.hold(request), everywhere)
          yield* Effect.forEach(
            requests,
            ({ id }) => ledger.capture({ ...close(id), chargeNano: 2n, usage: usageOf(2n) }),
            everywhere
          )
        }
        yield* sql`SELECT pg_stat_force_next_flush()`
        const read = yield* Effect.flatMap(
          sql`SELECT indexrelname AS name FROM pg_stat_user_indexes
               WHERE relname IN ('holds', 'member_months') AND idx_scan > 0 ORDER BY 1`,
          Schema.decodeUnknownEffect(Indexes)
        )
        assert.deepEqual(read, [{ name: "holds_pkey" }, { name: "member_months_pkey" }])
      })
    )
  }
)
