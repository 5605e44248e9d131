/** Executes the scheduled disasters. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Disaster, ScheduledDisaster } from "./schedule.ts"
import { count, type Witness } from "./witness.ts"
import { ACCOUNTANT, type World } from "./world.ts"

const STOP_IGNORED = "gateways that did not end when asked to"

const gatewayAt = (world: World, index: number) =>
  Effect.suspend(() => {
    const gateway = world.gateways[index]
    return gateway === undefined
      ? Effect.die(new Error(`there is no gateway ${index}`))
      : Effect.succeed(gateway)
  })

/**
 * Terminates connections of gateways only: the test reads the ledger on connections with another
 * application name.
 */
const terminate = Effect.fnUntraced(function* (world: World, most: number) {
  const sql = yield* SqlClient.SqlClient
  const ended = yield* world.postgres.up.whenOpen(sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND application_name <> ${ACCOUNTANT}
     ORDER BY random() LIMIT ${most}`)
  return ended.length
})

const strike = Effect.fnUntraced(function* (world: World, witness: Witness, disaster: Disaster) {
  switch (disaster._tag) {
    case "KillGateway": {
      const gateway = yield* gatewayAt(world, disaster.gateway)
      yield* gateway.kill
      return count(witness, "gateways killed")
    }
    case "StopGateway": {
      const gateway = yield* gatewayAt(world, disaster.gateway)
      const ended = yield* gateway.stop
      return count(witness, ended ? "gateways stopped gracefully" : STOP_IGNORED)
    }
    case "PauseGateway": {
      const gateway = yield* gatewayAt(world, disaster.gateway)
      yield* gateway.pause(disaster.seconds)
      return count(witness, "gateways paused")
    }
    case "KillPostgres":
      yield* world.postgres.kill(disaster.downSeconds)
      return count(witness, "PostgreSQL killed")
    case "TerminateBackends":
      return count(witness, "backends terminated", yield* terminate(world, disaster.count))
    case "CutConnections": {
      const hurt = yield* world.wire.hurt(disaster)
      return count(witness, `connections hurt (${disaster.manner})`, hurt)
    }
  }
})

/**
 * Executes the schedule, and returns when its last disaster is over. A backend that was already
 * gone is no error.
 */
export const wreak = (world: World, witness: Witness, schedule: ReadonlyArray<ScheduledDisaster>) =>
  Effect.forEach(
    schedule,
    ({ atSeconds, disaster }) =>
      strike(world, witness, disaster).pipe(
        Effect.catchTag("SqlError", () => Effect.sync(() => count(witness, "disasters missed"))),
        Effect.delay(`${atSeconds} seconds`)
      ),
    { concurrency: "unbounded", discard: true }
  )
