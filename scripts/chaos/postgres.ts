/** A real PostgreSQL, or a Citus cluster, that is killed and restarted on the same files. */
import { Clock, Effect, Latch, Schedule, type Scope, Semaphore } from "effect"
import { startCitusCluster } from "../../test/support/citusCluster.ts"
import { startPostgres } from "../../test/support/postgresServer.ts"

/** A restart of PostgreSQL, with times in milliseconds since 1970. */
export interface Restart {
  readonly killedAt: number
  /** The time at which the server accepted connections again. */
  readonly readyAt: number
}

export interface Postgres {
  /** The URL for the superuser. */
  readonly url: string
  readonly port: number
  /** Open while the server accepts connections. */
  readonly up: Latch.Latch
  /**
   * Sends SIGKILL, and starts the server again after `downSeconds`. Returns when it accepts
   * connections.
   */
  kill(downSeconds: number): Effect.Effect<void>
  readonly restarts: ReadonlyArray<Restart>
}

/**
 * The retries of a start: child processes of a killed server keep its shared memory for a moment,
 * and no new server starts during that time.
 */
const startAgain = { schedule: Schedule.spaced("100 millis"), times: 300 }

/** The server of a run: how it is killed, and started again on the same files. */
interface Server {
  readonly url: string
  readonly port: number
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
}

const makeServer: Effect.Effect<Server, never, Scope.Scope> = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
    (running) => Effect.promise(() => running.stop())
  )
  return {
    url: server.url,
    port: server.port,
    kill: Effect.promise(() => server.kill("SIGKILL")),
    start: Effect.tryPromise(() => server.start()).pipe(Effect.retry(startAgain), Effect.orDie)
  }
})

/** A cluster, of which one node after the other is killed: a worker, the next one, the coordinator. */
const makeCluster = Effect.fnUntraced(function* (program: string) {
  const { url, port, coordinator, workers } = yield* startCitusCluster(program)
  const nodes = [...workers, coordinator]
  let killed = -1
  const node = Effect.sync(() => nodes[killed % nodes.length] ?? coordinator)
  return {
    url,
    port,
    kill: Effect.suspend(() => {
      killed++
      return Effect.flatMap(node, ({ kill }) => kill)
    }),
    start: Effect.flatMap(node, ({ start }) => start)
  } satisfies Server
})

/** A PostgreSQL server, or a cluster that the program makes. */
export const makePostgres = Effect.fnUntraced(function* (
  citusProgram: string | null
): Effect.fn.Return<Postgres, never, Scope.Scope> {
  const server = yield* citusProgram === null ? makeServer : makeCluster(citusProgram)
  const up = yield* Latch.make(true)
  const oneAtATime = yield* Semaphore.make(1)
  const restarts: Array<Restart> = []

  const kill = Effect.fn("Postgres.kill")(function* (downSeconds: number) {
    yield* up.close
    yield* server.kill
    const killedAt = yield* Clock.currentTimeMillis
    yield* Effect.sleep(`${downSeconds} seconds`)
    yield* server.start
    restarts.push({ killedAt, readyAt: yield* Clock.currentTimeMillis })
    yield* up.open
  })

  return {
    url: server.url,
    port: server.port,
    up,
    kill: (downSeconds) => oneAtATime.withPermits(1)(Effect.uninterruptible(kill(downSeconds))),
    restarts
  }
})
