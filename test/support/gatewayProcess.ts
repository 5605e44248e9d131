/** The gateway as a process that kills or stops itself at a named place on the money's way. */
import { writeSync } from "node:fs"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Console, Effect, Layer, Metric, Option } from "effect"
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

const places = Config.all({
  killAt: Config.String("KILL_AT").pipe(Config.withDefault("nowhere")),
  stopAt: Config.String("STOP_AT").pipe(Config.withDefault("nowhere"))
})

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

/** A stop happens once, is announced, and ends with a SIGCONT. */
const layerFailpoints = Layer.effect(
  Failpoints,
  Effect.gen(function* () {
    const { killAt, stopAt } = yield* places
    let stopped = false
    return {
      pass: (failpoint) =>
        Effect.sync(() => {
          if (failpoint === killAt) process.kill(process.pid, "SIGKILL")
          if (failpoint !== stopAt || stopped) return
          stopped = true
          writeSync(process.stdout.fd, "stops here\n")
          process.kill(process.pid, "SIGSTOP")
        })
    }
  })
)

const STALE_CLAIMS = "gateway_stale_claims_total"

/** The sum over all channels. */
const staleClaims = Effect.map(Metric.snapshot, (metrics) =>
  metrics.reduce(
    (sum, metric) =>
      metric.id === STALE_CLAIMS && metric.type === "Counter"
        ? sum + Number(metric.state.count)
        : sum,
    0
  )
)

const program = Effect.gen(function* () {
  const config = yield* loadConfig
  const secrets = yield* loadSecrets(config)
  return yield* Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(staleClaims, (count) => Console.log(`stale claims: ${count}`))
    )
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
