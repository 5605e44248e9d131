import { Cause, Exit } from "effect"

/** True when nobody listened: a node error hides its reason in causes of causes. */
const saysRefused = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if ("code" in error && error.code === "ECONNREFUSED") return true
  return error instanceof AggregateError ? error.errors.some(saysRefused) : saysRefused(error.cause)
}

/** The request did not reach anybody, so it may be sent elsewhere. */
export const isRefused = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && saysRefused(Cause.squash(exit.cause))
