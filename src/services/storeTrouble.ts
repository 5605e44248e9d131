/** Telling a store that is away for a moment from one that refuses what it was given. */
import { Schema } from "effect"
import { SqlError } from "effect/sql"

const Coded = Schema.Struct({ code: Schema.String })
const isCoded = Schema.is(Coded)

/** The server is going, coming or full: the SQLSTATE classes of operator and resource trouble. */
const passingCode = /^(?:57P|53)/

/** True when the statement failed for a reason that passes, and says nothing about the statement. */
export const isPassing = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { reason } = error
  return reason.isRetryable || (isCoded(reason.cause) && passingCode.test(reason.cause.code))
}
