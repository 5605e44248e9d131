/** Distinguishes transient failures of the database from failures of a statement. */
import { Effect, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Overloaded } from "../domain/Errors.ts"

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))

/**
 * SQLSTATE codes of a server that shuts down, starts or is full (the classes of operator
 * intervention and insufficient resources), or that is a standby not promoted yet.
 */
const transientCode = /^(?:57P|53|25006)/

/** The pauses between retries of a call that failed for a transient reason. */
export const transientBackoff = Schedule.min([
  Schedule.exponential("50 millis"),
  Schedule.spaced("1 second")
]).pipe(Schedule.jittered)

/** Whether a statement failed for a transient reason, which says nothing about the statement. */
export const isTransient = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { reason } = error
  return (
    reason.isRetryable ||
    reason.operation === "connect" ||
    (hasCode(reason.cause) && transientCode.test(reason.cause.code))
  )
}

export const databaseUnavailable = () =>
  new Overloaded({
    message: "The service cannot reach its database at the moment",
    retryAfterSeconds: 2
  })

/**
 * Fails with a retryable error if the database fails transiently. Use it only for steps before a
 * request is sent to a vendor: after that, a retry could cause a second paid job.
 */
export const failAsOverloaded = <A, E, R>(
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Overloaded, R> =>
  Effect.catchDefect(step, (defect) =>
    isTransient(defect) ? Effect.fail(databaseUnavailable()) : Effect.die(defect)
  )
