/**
 * Background jobs, which the gateway repeats independently of requests: each job is one value, and
 * all run the same way.
 */
import { type Cause, type Duration, Effect } from "effect"

interface BackgroundJob<E, R> {
  /** The value of the field `job` in the log of a failed run. */
  readonly name: string
  /** The time from the end of one run to the start of the next. */
  readonly interval: Duration.Input
  /** The delay before the first run; without it, the job starts immediately. */
  readonly firstDelay?: Duration.Input
  /** Starts the next run early when this effect completes. */
  readonly wakeUp?: Effect.Effect<unknown>
  readonly run: Effect.Effect<unknown, E, R>
  /** Handles the failure of a run; the next run starts after the same interval. */
  readonly onFailure: (cause: Cause.Cause<E>) => Effect.Effect<void>
  /** The metric that shows whether the job keeps up, if there is one. */
  readonly metric?: { readonly id: string }
}

/** Runs the job until the surrounding scope closes, which interrupts it. */
export const startJob = <E, R>(job: BackgroundJob<E, R>) => {
  const { firstDelay, interval, metric, name, onFailure, run, wakeUp = Effect.never } = job
  const fields = metric === undefined ? { job: name } : { job: name, metric: metric.id }
  const runs = run.pipe(
    Effect.catchCause((cause) => Effect.annotateLogs(onFailure(cause), fields)),
    Effect.andThen(Effect.raceFirst(Effect.sleep(interval), wakeUp)),
    Effect.forever
  )
  return Effect.forkScoped(firstDelay === undefined ? runs : Effect.delay(runs, firstDelay))
}
