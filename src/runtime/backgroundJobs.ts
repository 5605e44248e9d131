/** Work that the gateway repeats beside its requests: each job is one value, and all run the same way. */
import { type Cause, type Duration, Effect } from "effect"

interface BackgroundJob<E, R> {
  /** The field `job` in the log of a failed run. */
  readonly name: string
  /** From the end of one run to the start of the next. */
  readonly interval: Duration.Input
  /** The time before the first run, which otherwise starts at once. */
  readonly firstDelay?: Duration.Input
  /** Starts the next run before the interval has passed. */
  readonly wakeUp?: Effect.Effect<unknown>
  readonly run: Effect.Effect<unknown, E, R>
  /** What becomes of a run that failed; the next one starts after the same interval. */
  readonly onFailure: (cause: Cause.Cause<E>) => Effect.Effect<void>
  /** Shows whether the job keeps up, where a metric does. */
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
