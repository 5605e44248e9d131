import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createAccess } from "../../src/postgres/migrations/0001_access.ts"
import { createCatalog } from "../../src/postgres/migrations/0002_catalog.ts"
import { createLedger } from "../../src/postgres/migrations/0003_ledger.ts"
import { createTasks } from "../../src/postgres/migrations/0004_tasks.ts"
import { createLedgerFunctions } from "../../src/postgres/migrations/0005_ledger_functions.ts"
import { createLedgerAudit } from "../../src/postgres/migrations/0006_ledger_audit.ts"
import { addListedProtocol } from "../../src/postgres/migrations/0007_listed_protocol.ts"
import { describeOnBoth } from "../support/databases.ts"

describeOnBoth("the protocol a task's model was listed under", (it) => {
  const hold = Effect.fnUntraced(function* (id: string, task: Readonly<Record<string, string>>) {
    const sql = yield* PgClient.PgClient
    const item = {
      id,
      member_id: "m",
      amount: "10",
      ttl_seconds: 60,
      quote: {},
      task: {
        key_id: "k",
        model: "film",
        channel_id: "c",
        upstream_model: "u",
        summary: {},
        submit_seconds: 60,
        ...task
      }
    }
    return yield* sql`SELECT outcome FROM hold_funds('o', 'UTC', ${sql.json([item])})`
  })

  it.effect("is the one it was called by for tasks from before, and then what the order says", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* createAccess
      yield* createCatalog
      yield* createLedger
      yield* createTasks
      yield* createLedgerFunctions
      yield* createLedgerAudit
      yield* sql`INSERT INTO organizations (id, name) VALUES ('o', 'O')`
      yield* sql`INSERT INTO members (organization_id, id, name) VALUES ('o', 'm', 'M')`
      yield* sql`INSERT INTO pools (organization_id, balance) VALUES ('o', 100)`
      yield* hold("before", { protocol: "vp_d" })

      yield* addListedProtocol
      const held = [
        yield* hold("by an older gateway", { protocol: "vp_a" }),
        yield* hold("relayed", { protocol: "vp_c", listed_protocol: "vp_f" })
      ]

      assert.deepStrictEqual(held, [[{ outcome: "held" }], [{ outcome: "held" }]])
      assert.deepStrictEqual(
        yield* sql`SELECT id, protocol, listed_protocol FROM tasks ORDER BY id`,
        [
          { id: "before", protocol: "vp_d", listed_protocol: "vp_d" },
          { id: "by an older gateway", protocol: "vp_a", listed_protocol: "vp_a" },
          { id: "relayed", protocol: "vp_c", listed_protocol: "vp_f" }
        ]
      )
      assert.deepStrictEqual(yield* sql`SELECT held FROM pools`, [{ held: 30n }])
    })
  )
})
