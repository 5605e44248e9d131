/** Distinguishes transient failures of the database from failures of a statement. */
import { Cause, Effect, type Redacted, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Overloaded } from "../domain/Errors.ts"
import { deepestReason } from "./deepestReason.ts"

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))
const hasMessage = Schema.is(Schema.Struct({ message: Schema.String }))

/**
 * SQLSTATE codes of a server that shuts down, starts or is full (the classes of operator
 * intervention and insufficient resources), or that is a standby not promoted yet.
 */
const transientCode = /^(?:57P|53|25006)/

/**
 * The errors of a Citus cluster about a statement that waited while its shard moved to another node,
 * or whose node was killed. Their SQLSTATE is that of any internal error.
 */
const movedOrKilled =
  /^(?:could not find valid entry for shard|failed to find shard|cannot find (?:the )?shard|relation "\w+_\d{6,}" does not exist|postmaster was shut down)/

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
    (hasCode(reason.cause) && transientCode.test(reason.cause.code)) ||
    (hasMessage(reason.cause) && movedOrKilled.test(reason.cause.message))
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

const isConnectFailure = (error: unknown): boolean =>
  error instanceof Error &&
  ((SqlError.isSqlError(error) && error.reason.operation === "connect") ||
    isConnectFailure(error.cause))

/**
 * No connection to the database of `DATABASE_URL` could be opened.
 * @public
 */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()(
  "DatabaseUnreachable",
  { message: Schema.String }
) {}

/**
 * Fails with an error that names `DATABASE_URL` where no connection to its database could be opened,
 * also where that was a defect.
 */
export const namingDatabase =
  ({ databaseUrl }: { readonly databaseUrl: Redacted.Redacted | null }) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | DatabaseUnreachable, R> =>
    Effect.catchCause(program, (cause): Effect.Effect<never, E | DatabaseUnreachable> => {
      const failure = cause.reasons
        .map((reason) =>
          Cause.isFailReason(reason)
            ? reason.error
            : Cause.isDieReason(reason)
              ? reason.defect
              : null
        )
        .find(isConnectFailure)
      return databaseUrl === null || failure === undefined
        ? Effect.failCause(cause)
        : new DatabaseUnreachable({
            message: `DATABASE_URL names a database that cannot be reached: ${deepestReason(failure)}`
          })
    })
