/** Gateways as plain production processes, each started again as soon as it is gone. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Clock, Effect, Option, Schedule, type Scope } from "effect"
import { startProcess, type TestProcess } from "../../test/support/processes.ts"

const entry = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface Gateway {
  readonly name: string
  /** Waits until the gateway listens, and answers where. */
  readonly url: Effect.Effect<string>
  /** Where it listens; null while it does not. */
  readonly urlNow: () => string | null
  /** Waits until it listens, then sends the signal. */
  signal(name: NodeJS.Signals): Effect.Effect<void>
  /** Waits until it listens, stops it in mid-run for so many seconds and lets it go on. */
  pause(seconds: number): Effect.Effect<void>
  /**
   * Waits until it listens, asks it to end, and answers the seconds it took; null when it had to be
   * killed in the end.
   */
  readonly stop: Effect.Effect<number | null>
  /** How often it came up, and how often it ended before. */
  readonly starts: () => { readonly served: number; readonly gaveUp: number }
}

const LOOK_AGAIN = "20 millis"
const START_AGAIN_AFTER = "200 millis"
/** Longer than a gateway may take to drain. */
const STOP_PATIENCE = "45 seconds"

/** All that a process printed, under a line that tells when it began. */
const writeLog = (file: string, name: string, startedAt: number, process: TestProcess): void =>
  appendFileSync(
    file,
    `--- ${name} pid ${process.pid} started ${new Date(startedAt).toISOString()}\n${process.stdout()}${process.stderr()}`
  )

/** A process of ours whose output is appended to `<directory>/<name>.log` when it has ended. */
export const startLogged = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly name: string
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
}) {
  const startedAt = yield* Clock.currentTimeMillis
  const started: { process: TestProcess | null } = { process: null }
  // Registered first, so that it runs after the process has been ended by the same scope.
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

/** Keeps a gateway running until the scope closes. */
export const makeGateway = Effect.fnUntraced(function* (options: {
  readonly directory: string
  readonly name: string
  readonly env: Readonly<Record<string, string>>
}): Effect.fn.Return<Gateway, never, Scope.Scope> {
  const running: { process: TestProcess | null; url: string | null } = { process: null, url: null }
  const counts = { served: 0, gaveUp: 0 }

  const live = Effect.gen(function* () {
    const process = yield* startLogged({ ...options, entry })
    const [, url = ""] = yield* process.waitForLine(/listens on (http:\S+)/)
    counts.served++
    running.process = process
    running.url = url
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
        running.process = null
        running.url = null
      })
    )
  )
  yield* Effect.forkScoped(Effect.forever(live))

  const serving = Effect.suspend(() =>
    running.process === null || running.url === null
      ? Effect.fail("not yet" as const)
      : Effect.succeed({ process: running.process, url: running.url })
  ).pipe(Effect.retry(Schedule.spaced(LOOK_AGAIN)), Effect.orDie)

  return {
    name: options.name,
    url: Effect.map(serving, ({ url }) => url),
    urlNow: () => running.url,
    signal: (name) => Effect.flatMap(serving, ({ process }) => process.kill(name)),
    pause: (seconds) =>
      Effect.flatMap(serving, ({ process }) =>
        Effect.acquireUseRelease(
          process.kill("SIGSTOP"),
          () => Effect.sleep(`${seconds} seconds`),
          () => process.kill("SIGCONT")
        )
      ),
    stop: Effect.gen(function* () {
      const { process } = yield* serving
      const askedAt = yield* Clock.currentTimeMillis
      yield* process.kill("SIGTERM")
      if (Option.isNone(yield* Effect.timeoutOption(process.end, STOP_PATIENCE))) {
        yield* process.kill("SIGKILL")
        return null
      }
      return ((yield* Clock.currentTimeMillis) - askedAt) / 1000
    }),
    starts: () => ({ ...counts })
  }
})
