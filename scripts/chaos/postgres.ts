/** A real PostgreSQL that is killed and restarted on the same files. */
import { Clock, Effect, Latch, Schedule, type Scope, Semaphore } from "effect"
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

export const makePostgres: Effect.Effect<Postgres, never, Scope.Scope> = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
    (running) => Effect.promise(() => running.stop())
  )
  const up = yield* Latch.make(true)
  const oneAtATime = yield* Semaphore.make(1)
  const restarts: Array<Restart> = []

  const kill = Effect.fn("Postgres.kill")(function* (downSeconds: number) {
    yield* up.close
    yield* Effect.promise(() => server.kill("SIGKILL"))
    const killedAt = yield* Clock.currentTimeMillis
    yield* Effect.sleep(`${downSeconds} seconds`)
    yield* Effect.tryPromise(() => server.start()).pipe(Effect.retry(startAgain), Effect.orDie)
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
