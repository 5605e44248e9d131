import { Worker } from "node:worker_threads"
import { Deferred, Effect, type Scope } from "effect"
import { EmbeddedDatabaseFailed } from "./embeddedErrors.ts"

/** The `workerData` of the worker. */
export interface DatabaseServerInput {
  /** The locked data directory; the cluster is `postgres` inside it. */
  readonly directory: string
  readonly socketPath: string
}

/** Messages from the worker. Any message sent to the worker stops it. */
export type DatabaseServerMessage =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Failed"; readonly message: string }

// The sources run as TypeScript and the published package as JavaScript; the worker's file is next
// to this one.
const workerFile = new URL(
  import.meta.url.endsWith(".ts") ? "./embeddedWorker.ts" : "./embeddedWorker.js",
  import.meta.url
)

/**
 * Starts PGlite and its socket server in a worker thread, and waits until the server accepts
 * connections. Closing the scope stops the socket server, closes PGlite with a checkpoint and ends
 * the thread. `failure` completes with the reason if the database stops by itself.
 */
export const startDatabaseServer = Effect.fnUntraced(function* (
  input: DatabaseServerInput
): Effect.fn.Return<
  { readonly failure: Effect.Effect<EmbeddedDatabaseFailed> },
  EmbeddedDatabaseFailed,
  Scope.Scope
> {
  const ready = yield* Deferred.make<void, EmbeddedDatabaseFailed>()
  const exitFailure = yield* Deferred.make<EmbeddedDatabaseFailed>()

  const start = Effect.sync(() => {
    const worker = new Worker(workerFile, { workerData: input, stdout: true, stderr: true })
    worker.stdout.resume()
    worker.stderr.resume()
    let reason: { readonly message: string; readonly cause?: unknown } | undefined
    worker.on("message", (message: DatabaseServerMessage) => {
      if (message._tag === "Ready") Deferred.doneUnsafe(ready, Effect.void)
      else reason = { message: message.message }
    })
    worker.on("error", (cause) => {
      reason ??= { message: String(cause), cause }
    })
    worker.on("exit", (code) => {
      const { message, ...details } = reason ?? { message: `its thread ended with code ${code}` }
      const failure = new EmbeddedDatabaseFailed({
        message: `The embedded database in ${input.directory} stopped: ${message}`,
        directory: input.directory,
        ...details
      })
      Deferred.doneUnsafe(ready, Effect.fail(failure))
      Deferred.doneUnsafe(exitFailure, Effect.succeed(failure))
    })
    return worker
  })

  const stop = (worker: Worker) =>
    Effect.sync(() => worker.postMessage("stop")).pipe(
      Effect.andThen(Deferred.await(exitFailure)),
      // Ending the thread loses no acknowledged commit: the next start replays the write-ahead log.
      Effect.timeoutOrElse({
        duration: "30 seconds",
        orElse: () => Effect.promise(() => worker.terminate())
      })
    )

  yield* Effect.acquireRelease(start, stop)
  yield* Deferred.await(ready)
  return { failure: Deferred.await(exitFailure) }
})
