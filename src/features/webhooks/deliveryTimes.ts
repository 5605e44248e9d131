/** The retry schedule of messages that their receiver did not accept. */

/** The maximum delay that a receiver may request with `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = 24 * 3600
/**
 * The maximum jitter: the random share of a delay, which spreads messages that failed at the same
 * time.
 */
const JITTER = 0.2

/**
 * The seconds in a `Retry-After` header, which has seconds or an HTTP date; null where it has
 * neither.
 */
export const parseRetryAfter = (header: string | undefined, nowMillis: number): number | null => {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, (at - nowMillis) / 1000)
}

/**
 * Seconds until the next attempt; null where the schedule has no further attempt. `tries` is the
 * number of failed attempts, `minimumSeconds` is the delay that the receiver requested, and
 * `random` is between 0 and 1.
 */
export const secondsToNextTry = (
  schedule: ReadonlyArray<number>,
  tries: number,
  minimumSeconds: number | null,
  random: number
): number | null => {
  const delaySeconds = schedule[tries - 1]
  if (delaySeconds === undefined) return null
  return Math.max(
    delaySeconds * (1 + JITTER * random),
    Math.min(minimumSeconds ?? 0, MAX_RETRY_AFTER_SECONDS)
  )
}
