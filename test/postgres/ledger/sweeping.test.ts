/** How a sweep finds what was left open, and reads each order once. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../src/services/Ledger.ts"
import { layerStoresOnServer, organization, usageOf } from "../../support/ledger.ts"

const Settled = Schema.Tuple([
  Schema.Struct({ ageSeconds: Schema.Number, lingering: Schema.Array(Schema.String) })
])

const settled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT extract(epoch FROM now() - before)::float8 AS "ageSeconds",
           ARRAY(SELECT id FROM lingering_orders ORDER BY id) AS lingering
      FROM orders_settled`
  const [found] = yield* Schema.decodeUnknownEffect(Settled)(rows)
  return found
})

/** As if all that is there had been there for so much longer. */
const later = Effect.fnUntraced(function* (time: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("ALTER TABLE orders DISABLE TRIGGER orders_close_once")
  yield* sql.unsafe(`UPDATE orders SET created_at = created_at - interval '${time}',
                            expires_at = expires_at - interval '${time}',
                            closed_at = closed_at - interval '${time}'`)
  yield* sql.unsafe("ALTER TABLE orders ENABLE TRIGGER orders_close_once")
  yield* sql.unsafe(`UPDATE orders_settled SET before = before - interval '${time}'`)
})

layer(layerStoresOnServer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "sweeps of orders without a task",
  (it) => {
    it.effect("list what stays open, and give it back when it is overdue", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold, close } = yield* organization(100n)
        const [done, open] = [hold(1n), hold(2n, { ttlSeconds: 3600 })]
        yield* ledger.hold(done)
        yield* ledger.hold(open)
        yield* ledger.capture({ ...close(done.id), chargeNano: 1n, usage: usageOf(1n) })
        assert.strictEqual(yield* ledger.sweepImages("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [])

        yield* later("5 minutes")
        assert.strictEqual(yield* ledger.sweepImages("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [open.id])
        assert.deepStrictEqual(yield* ledger.verify, [])

        yield* later("1 hour")
        assert.strictEqual(yield* ledger.sweepImages("overdue"), 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
        assert.strictEqual(yield* ledger.sweepImages("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [])
        assert.deepStrictEqual(yield* ledger.verify, [])
      })
    )

    it.effect("find what was left before a long time without sweeps, some minutes at a step", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        yield* ledger.hold(hold(2n))
        yield* later("7 days")
        let found = 0
        while (found === 0) {
          const { ageSeconds } = yield* settled
          found = yield* ledger.sweepImages("overdue")
          const moved = ageSeconds - (yield* settled).ageSeconds
          assert.isAbove(moved, 0)
          assert.isAtMost(moved, 600)
        }
        assert.strictEqual(found, 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
      })
    )
  }
)
