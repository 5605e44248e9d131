/** What a test can see of the ledger only by its rows. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../src/services/Ledger.ts"
import { layerLedgerOn, organization, usageOf } from "../support/ledger.ts"

for (const kind of ["embedded", "postgres"] as const) {
  layer(layerLedgerOn(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `the ledger's rows (${kind})`,
    (it) => {
      it.effect("settles in the month of the hold, whatever month it is by then", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const { organizationId, memberIds, hold, close } = yield* organization(100n)
          const [old, fresh, released] = [hold(10n), hold(20n), hold(30n)]
          for (const request of [old, fresh, released]) yield* ledger.hold(request)
          // As if two of the holds had been taken in a November long ago.
          yield* sql`
            INSERT INTO member_months (organization_id, member_id, month, held)
            VALUES (${organizationId}, ${memberIds[0]}, '2001-11-01', 40)`
          yield* sql`UPDATE member_months SET held = held - 40
                      WHERE organization_id = ${organizationId} AND month <> '2001-11-01'`
          yield* sql`UPDATE orders SET month = '2001-11-01'
                      WHERE organization_id = ${organizationId} AND id IN (${old.id}, ${released.id})`
          yield* ledger.hold(hold(5n))
          yield* ledger.capture({ ...close(old.id), chargeNano: 7n, usage: usageOf(7n) })
          yield* ledger.release({ ...close(released.id), orphan: null, forgetKey: false })
          assert.deepInclude(yield* ledger.memberMonth(organizationId, memberIds[0] ?? ""), {
            capturedNano: 0n,
            heldNano: 25n
          })
          const months = yield* sql`SELECT held, captured FROM member_months
            WHERE organization_id = ${organizationId} AND month = '2001-11-01'`
          assert.deepEqual(months, [{ held: 0n, captured: 7n }])
          assert.deepEqual(yield* ledger.verify, [])
        })
      )

      it.effect("a poisoned movement fails alone, those beside it are made", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { organizationId, hold } = yield* organization(100n)
          const poisoned = hold(1n, { quote: { text: "\u0000" } })
          const requests = [hold(1n), hold(2n), poisoned, hold(3n), hold(4n)]
          const exits = yield* Effect.all(
            requests.map((request) => Effect.exit(ledger.hold(request))),
            { concurrency: "unbounded" }
          )
          assert.deepEqual(
            exits.map(({ _tag }) => _tag),
            ["Success", "Success", "Failure", "Success", "Success"]
          )
          assert.strictEqual((yield* ledger.balance(organizationId)).heldNano, 10n)
          assert.deepEqual(yield* ledger.verify, [])
        })
      )
    }
  )
}
