/** Tells transient failures of the database from those of a statement. */
import { Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Overloaded } from "../domain/Errors.ts"

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))

/**
 * The server shuts down, starts or is full (the SQLSTATE classes of operator intervention and
 * insufficient resources), or it is a standby that has not been promoted yet.
 */
const transientCode = /^(?:57P|53|25006)/

/** True when the statement failed for a transient reason, which says nothing about the statement. */
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
 * Fails with a retryable error where the database fails transiently. Only for steps before anything is
 * sent to a vendor: afterwards a retry could be paid twice.
 */
export const failAsOverloaded = <A, E, R>(
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Overloaded, R> =>
  Effect.catchDefect(step, (defect) =>
    isTransient(defect) ? Effect.fail(databaseUnavailable()) : Effect.die(defect)
  )
