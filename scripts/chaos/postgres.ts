/** A real PostgreSQL that dies and comes back on the same files. */
import { Clock, Effect, Latch, Schedule, type Scope, Semaphore } from "effect"
import { startPostgres } from "../../test/support/postgresServer.ts"

/** Times are milliseconds since 1970. */
export interface Restart {
  readonly killedAt: number
  /** When it answered again. */
  readonly readyAt: number
}

export interface Postgres {
  /** The superuser's. */
  readonly url: string
  readonly port: number
  /** Open while the server accepts connections. */
  readonly up: Latch.Latch
  /** SIGKILL, and the start again after so many seconds; returns when it answers. */
  kill(downSeconds: number): Effect.Effect<void>
  readonly restarts: ReadonlyArray<Restart>
}

/** The children of a killed server hold its memory for a moment, and no new one starts meanwhile. */
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
