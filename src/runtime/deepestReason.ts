/**
 * The message of the deepest cause of an error. The outer errors only have general messages, such
 * as "fetch failed".
 */
export const deepestReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    return deepestReason(error.errors[0])
  }
  return error.cause === undefined || error.cause === null
    ? error.message
    : deepestReason(error.cause)
}
