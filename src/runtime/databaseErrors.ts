/** Telling a store that is away for a moment from one that refuses what it was given. */
import { Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Overloaded } from "../domain/Errors.ts"

const isCoded = Schema.is(Schema.Struct({ code: Schema.String }))

/**
 * The server is going, coming or full (the SQLSTATE classes of operator and resource trouble), or
 * it is a standby that has not been promoted yet.
 */
const passingCode = /^(?:57P|53|25006)/

/** True when the statement failed for a reason that passes, and says nothing about the statement. */
export const isPassing = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { reason } = error
  return (
    reason.isRetryable ||
    reason.operation === "connect" ||
    (isCoded(reason.cause) && passingCode.test(reason.cause.code))
  )
}

export const comeAgain = () =>
  new Overloaded({
    message: "The service cannot reach its database at the moment",
    retryAfterSeconds: 2
  })

/**
 * Turns passing trouble with the store into an error that a client may answer by asking again. Only
 * for steps before anything is sent to a vendor: afterwards a repeat could be paid twice.
 */
export const unsent = <A, E, R>(
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E | Overloaded, R> =>
  Effect.catchDefect(step, (defect) =>
    isPassing(defect) ? Effect.fail(comeAgain()) : Effect.die(defect)
  )
