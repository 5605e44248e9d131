/** The tables can be distributed by their organisation as `distribute.sql` says. */
import { readFile } from "node:fs/promises"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../../src/postgres/client/rows.ts"
import { layerDatabase } from "../../support/databases.ts"

const textOf = (url: string) =>
  Effect.promise(() => readFile(new URL(url, import.meta.url), "utf8"))

/** Those of all organisations, of the operators and of the gateways themselves. */
const onTheCoordinator = [
  "admin_audit",
  "call_ends",
  "channel_counts",
  "channel_failures",
  "channel_places",
  "channel_queues",
  "channel_turns",
  "gateway_writes",
  "ledger_audit_state",
  "ledger_audited",
  "migration_rules",
  "orders_settled",
  "reconciliation_entries",
  "reconciliation_lines",
  "reconciliations",
  "rests",
  "sessions",
  "waiting_orders"
]

const Names = Schema.Struct({ name: Schema.String })

const runFile = Effect.fnUntraced(function* (text: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`DO $do$ BEGIN EXECUTE $file$${text}$file$; END $do$`)
})

const withRules = Effect.flatMap(textOf("citusRules.sql"), runFile)

/** Undone at its end. */
const tried = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.flip(
      sql.withTransaction(Effect.flatMap(effect, (answer) => Effect.fail({ answer })))
    )
  })

layer(layerDatabase("postgres"), { timeout: "60 seconds" })("growth past one PostgreSQL", (it) => {
  it.effect("every table is a reference, is distributed or is listed here", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const file = yield* textOf("../../../src/postgres/citus/distribute.sql")
      const names = rowsOf(Names)
      const result = yield* tried(
        Effect.gen(function* () {
          yield* withRules
          yield* runFile(file)
          return yield* names(sql`
            SELECT c.relname AS name FROM pg_class c
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
               AND NOT c.relispartition
               AND c.relname NOT IN ('placed', 'effect_sql_migrations')
               AND NOT EXISTS (SELECT FROM placed p WHERE p.name = c.oid AND p.kind <> 'local')
             ORDER BY 1`)
        })
      )
      assert.deepStrictEqual(
        "answer" in result ? result.answer.map(({ name }) => name) : result,
        onTheCoordinator
      )
      // What stays refers to nothing that goes, or only to what is everywhere.
      const led = yield* names(sql`
        SELECT conname AS name FROM pg_constraint
         WHERE contype = 'f' AND conrelid::regclass::text IN ${sql.in(onTheCoordinator)}
           AND confrelid::regclass::text NOT IN ${sql.in([...onTheCoordinator, "organizations"])}`)
      assert.deepStrictEqual(led, [])
    })
  )

  for (const [fault, change, message] of [
    [
      "a unique key without the organisation",
      "CREATE UNIQUE INDEX tasks_once ON tasks (id)",
      /tasks: unique tasks_once does not name organization_id/
    ],
    [
      "a reference past the organisation",
      `CREATE UNIQUE INDEX orders_once ON orders (organization_id, id, month);
       ALTER TABLE orphans DROP CONSTRAINT orphans_organization_id_order_id_fkey;
       ALTER TABLE orphans ADD COLUMN other text;
       ALTER TABLE orphans ADD CONSTRAINT astray FOREIGN KEY (other, order_id)
         REFERENCES orders (organization_id, id)`,
      /orphans: astray leads to another node/
    ],
    [
      "a counter of one node",
      "ALTER TABLE orders ADD COLUMN nth bigserial",
      /orders: nth is counted by a sequence of one node/
    ],
    [
      "a trigger of a statement",
      `CREATE TRIGGER all_told AFTER UPDATE ON pools
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      /pools: trigger all_told is not of a row/
    ]
  ] as const) {
    it.effect(`${fault} is found`, () =>
      Effect.gen(function* () {
        const file = yield* textOf("../../../src/postgres/citus/distribute.sql")
        const result = yield* tried(
          Effect.andThen(withRules, Effect.andThen(runFile(change), runFile(file)))
        )
        assert.match(
          JSON.stringify(result, (_, value) =>
            value instanceof Error
              ? { ...value, message: value.message, cause: value.cause }
              : value
          ),
          message
        )
      })
    )
  }
})
