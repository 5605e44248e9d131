/** Moves of organisations between the nodes of a Citus cluster. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SqlClient } from "effect/sql"
import { loadConfig } from "../../config.ts"
import { makeTenants, type TenantMove } from "../../postgres/citus/tenants.ts"
import { reasonOf } from "../../run.ts"
import { namingDatabase } from "../../runtime/databaseErrors.ts"
import { CommandFailure } from "../failures.ts"
import { printResult } from "../output.ts"
import { layerDatabase } from "./database.ts"

const organization = Argument.String("organization").pipe(
  Argument.withDescription("The organisation's id")
)
const node = Flag.String("to").pipe(Flag.withDescription("The node, as HOST:PORT"))

type Tenants = ReturnType<typeof makeTenants>

/** Runs a move on the cluster at DATABASE_URL, and prints where the organisation is then. */
const runMove = Effect.fn("cli.tenant")(
  function* (move: (tenants: Tenants) => Effect.Effect<TenantMove, Error>) {
    const config = yield* loadConfig
    const { databaseUrl } = config
    if (databaseUrl === null) {
      return yield* new CommandFailure({
        message: "Set DATABASE_URL to the coordinator of a Citus cluster"
      })
    }
    // The copy of a large organisation takes longer than any time-out of a gateway's session.
    const mover = Layer.build(
      PgClient.layer({
        url: databaseUrl,
        maxConnections: 1,
        startupParameters: { statement_timeout: "0", lock_timeout: "0" }
      })
    )
    const result = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* move(makeTenants(Context.get(yield* mover, SqlClient.SqlClient), sql))
    }).pipe(Effect.provide(layerDatabase(config)), namingDatabase(config))
    yield* printResult(
      {
        node: result.node,
        organizations: result.organizations,
        seconds: result.seconds,
        pause_seconds: result.pauseSeconds
      },
      () =>
        `The organisation is on ${result.node}, in a shard of ${result.organizations} ` +
        `organisation${result.organizations === 1 ? "" : "s"}. The command took ` +
        `${result.seconds.toFixed(1)} s, of which writes paused for ${result.pauseSeconds.toFixed(2)} s.`
    )
  },
  Effect.scoped,
  Effect.mapError((error) =>
    error instanceof CommandFailure
      ? error
      : new CommandFailure({ message: `The organisation was not moved: ${reasonOf(error)}` })
  )
)

const isolate = Command.make("isolate", { organization }, ({ organization: id }) =>
  runMove((tenants) => tenants.isolate(id))
).pipe(Command.withDescription("Give an organisation a shard of its own, on the node where it is"))

const move = Command.make("move", { organization, to: node }, ({ organization: id, to }) =>
  runMove((tenants) => tenants.move(id, to))
).pipe(
  Command.withDescription("Move an organisation to a node, with the others of its shard, if any")
)

export const tenantCommand = Command.make("tenant").pipe(
  Command.withDescription("Where organisations are stored in a Citus cluster"),
  Command.withSubcommands([isolate, move])
)
