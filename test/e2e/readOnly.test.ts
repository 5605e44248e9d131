/** A database that can be read and not be written is no place to send orders to. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asAdmin, layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"

const gatewayOn = (url: string) =>
  Layer.build(
    Layer.fresh(
      layerTestGateway(
        "postgres",
        { ...quickSettings, healthSeconds: 0.05 },
        { database: layerDatabaseAt(url) }
      )
    )
  )

/** Waits until readiness answers with the status. */
const readyUntil = (gateway: Gateway["Service"], status: number) =>
  gateway
    .call("/readyz")
    .pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (answer) => answer.status === status }),
      Effect.timeout("30 seconds")
    )

const CANNOT = '"store":{"status":"failing","detail":"The database cannot be written"}'

it.live("readiness is lost while transactions of the database are read-only", () =>
  Effect.gen(function* () {
    const url = yield* temporaryServerDatabase
    const name = new URL(url).pathname.slice(1)
    const gateway = Context.get(yield* gatewayOn(url), Gateway)
    yield* readyUntil(gateway, 200)
    const become = (setting: string) =>
      Effect.andThen(
        asAdmin(`ALTER DATABASE ${name} ${setting}`),
        asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
      )
    yield* become("SET default_transaction_read_only = on")
    const told = gateway
      .call("/readyz")
      .pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: ({ text }) => text.includes(CANNOT) }),
        Effect.timeout("30 seconds")
      )
    assert.strictEqual((yield* told).status, 503)
    yield* become("RESET default_transaction_read_only")
    yield* readyUntil(gateway, 200)
  }).pipe(Effect.scoped)
)

it.live.each([
  ["without room on its disk", "53100"],
  ["whose role may not write", "42501"]
])("readiness is lost with a database %s", ([, code]) =>
  Effect.gen(function* () {
    const context = yield* gatewayOn(yield* temporaryServerDatabase)
    const gateway = Context.get(context, Gateway)
    const sql = Context.get(context, SqlClient.SqlClient)
    yield* readyUntil(gateway, 200)
    yield* sql.unsafe(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`)
    yield* sql`
      CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON gateway_writes EXECUTE FUNCTION refuse()`
    assert.include((yield* readyUntil(gateway, 503)).text, CANNOT)
    yield* sql`DROP TRIGGER refuse ON gateway_writes`
    yield* readyUntil(gateway, 200)
    const rows = yield* sql`SELECT 1 FROM gateway_writes`
    assert.lengthOf(rows, 1)
  }).pipe(Effect.scoped)
)
