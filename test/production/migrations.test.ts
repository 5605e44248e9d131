/** Migrations are applied once whoever starts first, and readiness waits for them. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { clusterSecrets, connect, startGateway } from "../support/cluster.ts"
import { emptyServerDatabase, temporaryDataDir } from "../support/databases.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { freePort } from "../support/postgresServer.ts"
import { startProcess } from "../support/processes.ts"

const migrate = (env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const process = yield* startProcess({ entry: shippedEntry, args: ["migrate"], env })
    const end = yield* process.end
    assert.deepStrictEqual(end, { code: 0, signal: null }, process.stderr())
    return process.stdout().trim()
  })

it.live("three gateways and two one-shots that start together migrate a database once", () =>
  Effect.gen(function* () {
    const env = { DATABASE_URL: yield* emptyServerDatabase }
    const [gateways, said] = yield* Effect.all(
      [
        Effect.all(
          Array.from({ length: 3 }, () => startGateway(env, shippedEntry)),
          { concurrency: 3 }
        ),
        Effect.all([migrate(env), migrate(env)], { concurrency: 2 })
      ],
      { concurrency: 2 }
    )
    for (const gateway of gateways) {
      assert.strictEqual((yield* call(`${gateway.url}/readyz`)).status, 200)
    }
    for (const words of said)
      assert.match(words, /^(Applied migration 1 \(gateway\)|The database has every)/)
    const sql = yield* connect(env.DATABASE_URL)
    assert.deepStrictEqual(yield* sql`SELECT migration_id AS id FROM effect_sql_migrations`, [
      { id: 1 }
    ])
    assert.strictEqual(
      yield* migrate(env),
      "The database has every migration up to 1: nothing was to do."
    )
  }).pipe(Effect.scoped)
)

it.live("a gateway that leaves migrating to another lives, waits, and is ready by itself", () =>
  Effect.gen(function* () {
    const DATABASE_URL = yield* emptyServerDatabase
    const port = yield* Effect.promise(freePort)
    const gateway = yield* startProcess({
      entry: shippedEntry,
      env: { ...clusterSecrets, DATABASE_URL, GATEWAY_MIGRATE: "0", PORT: `${port}` }
    })
    const ask = (path: string) => call(`http://127.0.0.1:${port}${path}`)
    yield* gateway.waitForLine(/waits for migrations/)
    assert.strictEqual((yield* ask("/healthz")).text, '{"status":"ok"}')
    const waiting = yield* ask("/readyz")
    assert.strictEqual(waiting.status, 503)
    assert.include(waiting.text, '"migrations":{"status":"failing"')
    const order = yield* ask("/v1/models")
    assert.strictEqual(order.status, 503)
    assert.include(order.text, '"code":"overloaded"')
    assert.strictEqual(order.headers.get("retry-after"), "2")
    const sql = yield* connect(DATABASE_URL)
    const made = sql`SELECT to_regclass('organizations') IS NOT NULL AS made`
    assert.deepStrictEqual(yield* made, [{ made: false }])

    assert.strictEqual(yield* migrate({ DATABASE_URL }), "Applied migration 1 (gateway).")
    yield* gateway.waitForLine(/listens on/)
    assert.strictEqual((yield* ask("/readyz")).status, 200)
    assert.include((yield* ask("/v1/models")).text, '"code":"invalid_api_key"')
  }).pipe(Effect.scoped)
)

it.live("a gateway does not wait for what nobody else can do", () =>
  Effect.gen(function* () {
    const gateway = yield* startProcess({
      entry: shippedEntry,
      env: { GATEWAY_MIGRATE: "0", PORT: "0", DATA_DIR: yield* temporaryDataDir() }
    })
    assert.deepStrictEqual(yield* gateway.end, { code: 1, signal: null })
    assert.include(gateway.stderr(), "GATEWAY_MIGRATE is 0, but nobody else can migrate")
  }).pipe(Effect.scoped)
)
