/** Gateways as plain production processes, each restarted when it ends. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Clock, Effect, Option, Schedule, type Scope, Semaphore } from "effect"
import { startable, startProcess, type TestProcess } from "../../test/support/processes.ts"

const entry = startable(fileURLToPath(new URL("../../src/main.ts", import.meta.url)))

/** A gateway. Disasters hit it one at a time, and only after it has served for a minimum time. */
export interface Gateway {
  readonly name: string
  /** Waits until the gateway listens, and returns its address. */
  readonly url: Effect.Effect<string>
  /** The address while it listens, otherwise null. */
  readonly urlNow: () => string | null
  /** Whether the gateway listens and is not paused. */
  readonly awake: () => boolean
  /** Sends SIGKILL and waits for the end of the process. */
  readonly kill: Effect.Effect<void>
  /** Pauses the process for a number of seconds (SIGSTOP, then SIGCONT). */
  pause(seconds: number): Effect.Effect<void>
  /**
   * Sends SIGTERM and waits for the end of the process; false when it did not end and SIGKILL had
   * to follow.
   */
  readonly stop: Effect.Effect<boolean>
  /**
   * `served`: the number of starts after which the process listened. `gaveUp`: the number of
   * processes that ended before they listened.
   */
  readonly starts: () => { readonly served: number; readonly gaveUp: number }
}

const LOOK_AGAIN = "20 millis"
/**
 * The minimum time that a gateway serves before a disaster hits it. Without this time, a slow
 * machine would kill gateways faster than they can start.
 */
const SERVES_AT_LEAST_MILLIS = 1500
const START_AGAIN_AFTER = "200 millis"
/** The time limit of a graceful stop, longer than a gateway's drain may take. */
const STOP_PATIENCE = "45 seconds"

/** Appends the output of a process to its log, below a line with its start time. */
const writeLog = (file: string, name: string, startedAt: number, process: TestProcess): void =>
  appendFileSync(
    file,
    `--- ${name} pid ${process.pid} started ${new Date(startedAt).toISOString()}\n${process.stdout()}${process.stderr()}`
  )

/** Starts a process whose output is appended to `<directory>/<name>.log` when it has ended. */
export const startLogged = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly name: string
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
}) {
  const startedAt = yield* Clock.currentTimeMillis
  const started: { process: TestProcess | null } = { process: null }
  // Registered before the process is started: a scope runs its finalizers in reverse order, so this
  // one runs after the process has ended.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const { directory, name } = options
      if (started.process !== null) {
        writeLog(join(directory, `${name}.log`), name, startedAt, started.process)
      }
    })
  )
  const process = yield* startProcess({ entry: options.entry, env: options.env })
  started.process = process
  return process
})

interface Running {
  readonly process: TestProcess
  readonly url: string
  /** The time at which the process began to listen, in milliseconds since 1970. */
  readonly since: number
  paused: boolean
}

/** Keeps a gateway running until the scope closes. */
export const makeGateway = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly name: string
  readonly env: Readonly<Record<string, string>>
}): Effect.fn.Return<Gateway, never, Scope.Scope> {
  const running: { current: Running | null } = { current: null }
  const counts = { served: 0, gaveUp: 0 }
  const oneAtATime = yield* Semaphore.make(1)

  const live = Effect.gen(function* () {
    const process = yield* startLogged({ ...options, entry })
    const [, url = ""] = yield* process.waitForLine(/listens on (http:\S+)/)
    counts.served++
    running.current = { process, url, since: yield* Clock.currentTimeMillis, paused: false }
    yield* process.end
  }).pipe(
    Effect.scoped,
    Effect.catchTag("ProcessEnded", () =>
      Effect.andThen(
        Effect.sync(() => counts.gaveUp++),
        Effect.sleep(START_AGAIN_AFTER)
      )
    ),
    Effect.ensuring(
      Effect.sync(() => {
        running.current = null
      })
    )
  )
  yield* Effect.forkScoped(Effect.forever(live))

  const serving = (leastMillis: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      running.current === null || now - running.current.since < leastMillis
        ? Effect.fail("not yet" as const)
        : Effect.succeed(running.current)
    ).pipe(Effect.retry(Schedule.spaced(LOOK_AGAIN)), Effect.orDie)

  /**
   * Ends a process. Its address is cleared first, so that clients do not choose a gateway that is
   * about to end.
   */
  const end = Effect.fnUntraced(function* (process: TestProcess, signal: NodeJS.Signals) {
    running.current = null
    yield* process.kill(signal)
    return yield* process.end
  })
  const struck = <A>(strike: (gateway: Running) => Effect.Effect<A>) =>
    oneAtATime.withPermits(1)(Effect.flatMap(serving(SERVES_AT_LEAST_MILLIS), strike))

  return {
    name: options.name,
    url: Effect.map(serving(0), ({ url }) => url),
    urlNow: () => running.current?.url ?? null,
    awake: () => running.current?.paused === false,
    kill: Effect.asVoid(struck(({ process }) => end(process, "SIGKILL"))),
    pause: (seconds) =>
      struck((gateway) =>
        Effect.acquireUseRelease(
          Effect.andThen(
            Effect.sync(() => {
              gateway.paused = true
            }),
            gateway.process.kill("SIGSTOP")
          ),
          () => Effect.sleep(`${seconds} seconds`),
          () =>
            Effect.andThen(
              gateway.process.kill("SIGCONT"),
              Effect.sync(() => {
                gateway.paused = false
              })
            )
        )
      ),
    stop: struck(({ process }) =>
      Effect.timeoutOption(end(process, "SIGTERM"), STOP_PATIENCE).pipe(
        Effect.tap((ended) => (Option.isNone(ended) ? end(process, "SIGKILL") : Effect.void)),
        Effect.map(Option.isSome)
      )
    ),
    starts: () => ({ ...counts })
  }
})
