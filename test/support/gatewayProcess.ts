/** The gateway as a process that kills itself at a named place on the money's way. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Console, Effect, Layer, Option } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { loadConfig } from "../../src/config.ts"
import {
  type Migration,
  Migrations,
  shippedMigrations
} from "../../src/postgres/schema/migrations.ts"
import { layerGateway } from "../../src/program.ts"
import { Failpoints } from "../../src/runtime/Failpoints.ts"
import { loadSecrets } from "../../src/secrets.ts"

const killAt = Config.String("KILL_AT").pipe(Config.withDefault("nowhere"))

/**
 * With NEXT_MIGRATION this is the version after this one, whose only change is a migration: a column
 * that it fills and nobody else knows, and of which older gateways `serve` or `stop`.
 */
const nextVersion = Effect.map(
  Config.option(Config.Literals(["serve", "stop"], "NEXT_MIGRATION")),
  Option.match({
    onNone: () => shippedMigrations,
    onSome: (olderGateways): ReadonlyArray<Migration> => [
      ...shippedMigrations,
      {
        name: "next",
        olderGateways,
        apply: Effect.flatMap(SqlClient.SqlClient, (sql) =>
          Effect.andThen(
            sql`ALTER TABLE orders ADD COLUMN of_next text NOT NULL DEFAULT 'next'`,
            sql`CREATE INDEX orders_of_next ON orders (organization_id, of_next)`
          )
        )
      }
    ]
  })
)

const layerFailpoints = Layer.effect(
  Failpoints,
  Effect.map(killAt, (place) => ({
    pass: (failpoint) =>
      Effect.sync(() => {
        if (failpoint === place) process.kill(process.pid, "SIGKILL")
      })
  }))
)

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  return yield* Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    yield* Console.log(`listens on ${HttpServer.formatAddress(address)}`)
    return yield* Effect.never
  }).pipe(
    Effect.scoped,
    Effect.provide(
      layerGateway(config, secrets).pipe(
        Layer.provide([layerFailpoints, Layer.effect(Migrations, nextVersion)])
      )
    )
  )
}).pipe(Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]))

NodeRuntime.runMain(program)
