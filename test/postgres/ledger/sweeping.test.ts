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
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [])

        yield* later("5 minutes")
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [open.id])
        assert.deepStrictEqual(yield* ledger.verify, [])

        yield* later("1 hour")
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 0)
        assert.deepStrictEqual((yield* settled).lingering, [])
        assert.deepStrictEqual(yield* ledger.verify, [])
      })
    )

    it.effect("find at once what was left before a long time without sweeps", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        yield* ledger.hold(hold(2n))
        yield* later("30 days")
        yield* ledger.hold(hold(3n))
        yield* later("5 minutes")
        assert.strictEqual(yield* ledger.sweepExpiredHolds("all"), 2)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
        assert.closeTo((yield* settled).ageSeconds, 120, 60)
      })
    )

    it.effect("find what was ordered while the database's clock was ahead", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE orders_settled SET before = now() + interval '1 hour'`
        yield* ledger.hold(hold(2n))
        yield* ledger.sweepExpiredHolds("overdue")
        assert.isAbove((yield* settled).ageSeconds, 0)
        yield* later("1 hour")
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
      })
    )

    it.effect("find what was seen after its time had passed, when its organisation is read", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { organizationId, hold } = yield* organization(100n)
        const sql = yield* SqlClient.SqlClient
        const late = hold(2n)
        yield* ledger.hold(late)
        yield* later("1 hour")
        yield* sql`UPDATE orders_settled SET before = now()`
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 0)
        const [violation] = yield* ledger.verifyOf([organizationId])
        assert.strictEqual(violation?.subject, late.id)
        assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
        assert.strictEqual(yield* ledger.sweepExpiredHolds("overdue"), 1)
        assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 0n)
      })
    )
  }
)
