import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerStores } from "../../../src/gateway.ts"
import { Access } from "../../../src/services/Access.ts"
import { Ledger } from "../../../src/services/Ledger.ts"
import { OperationsStore } from "../../../src/services/Operations.ts"
import { describeOnBoth } from "../../support/databases.ts"

const stores = layerStores({ masterKey: Redacted.make(new Uint8Array(32)), adminToken: null })

interface Stop {
  readonly organization_id: string
  readonly stopped_at: Date | null
  readonly stopped_reason: string | null
}

describeOnBoth(
  "audits that gateways share",
  (it) => {
    it.layer(stores.pipe(Layer.orDie), { timeout: "60 seconds" })((it) => {
      it.effect("exactly the named organisations are stopped, since the first time", () =>
        Effect.gen(function* () {
          const access = yield* Access
          const ledger = yield* Ledger
          const sql = yield* SqlClient.SqlClient
          const [one, two, three] = yield* Effect.all([
            access.createOrganization("one"),
            access.createOrganization("two"),
            access.createOrganization("three")
          ])
          const stops = Effect.map(
            sql<Stop>`SELECT organization_id, stopped_at, stopped_reason FROM pools`,
            (rows) => new Map(rows.map((row) => [row.organization_id, row]))
          )
          const reasons = Effect.map(stops, (found) =>
            [one, two, three].map((id) => found.get(id)?.stopped_reason)
          )
          assert.deepStrictEqual(yield* reasons, [null, null, null])

          yield* ledger.stopSpending(
            new Map([
              [one, "I1"],
              [two, "I2"],
              ["org_nobody", "I3"]
            ])
          )
          assert.deepStrictEqual(yield* reasons, ["I1", "I2", null])
          const since = (yield* stops).get(two)?.stopped_at

          yield* ledger.stopSpending(
            new Map([
              [two, "I4"],
              [three, "I1"]
            ])
          )
          assert.deepStrictEqual(yield* reasons, [null, "I4", "I1"])
          assert.isNull((yield* stops).get(one)?.stopped_at)
          assert.deepStrictEqual((yield* stops).get(two)?.stopped_at, since)

          yield* ledger.stopSpending(new Map())
          assert.deepStrictEqual(yield* reasons, [null, null, null])
          assert.isNull((yield* stops).get(two)?.stopped_at)
        })
      )

      it.effect("what did not change is not written again", () =>
        Effect.gen(function* () {
          const access = yield* Access
          const ledger = yield* Ledger
          const sql = yield* SqlClient.SqlClient
          const id = yield* access.createOrganization("one")
          const version = Effect.map(
            sql<{ version: string }>`
              SELECT xmin::text AS version FROM pools WHERE organization_id = ${id}`,
            ([row]) => row?.version
          )
          yield* ledger.stopSpending(new Map([[id, "I1"]]))
          const written = yield* version
          yield* ledger.stopSpending(new Map([[id, "I1"]]))
          assert.strictEqual(yield* version, written)
          yield* ledger.stopSpending(new Map())
          assert.notStrictEqual(yield* version, written)
        })
      )

      it.effect("an audit is for one gateway at a time, and not due again before its pace", () =>
        Effect.gen(function* () {
          const store = yield* OperationsStore
          const sql = yield* SqlClient.SqlClient
          const takers = (seconds: number) =>
            Effect.map(
              Effect.all(
                Array.from({ length: 8 }, () => store.takeAudit(seconds)),
                { concurrency: "unbounded" }
              ),
              (taken) => taken.filter((mine) => mine).length
            )
          const passed = (time: string) =>
            sql`UPDATE ledger_audit_state SET begun_at = begun_at - ${time}::interval,
                       ended_at = ended_at - ${time}::interval`
          assert.strictEqual((yield* store.report).audit?.ageSeconds, null)
          assert.strictEqual(yield* takers(60), 1)
          yield* passed("2 minutes")
          assert.strictEqual(yield* takers(60), 0, "somebody is at it")
          yield* store.endAudit(3)
          assert.strictEqual((yield* store.report).audit?.violations, 3)
          assert.strictEqual(yield* takers(60), 1, "it began long enough ago")
          yield* store.endAudit(null)
          assert.strictEqual((yield* store.report).audit?.violations, 3)
          assert.strictEqual(yield* takers(60), 0, "too early")
          yield* passed("61 seconds")
          assert.strictEqual(yield* takers(60), 1)
          yield* passed("1 hour")
          assert.strictEqual(yield* takers(60), 1, "who was at it is gone")
        })
      )
    })
  },
  { excludeTestServices: true }
)
