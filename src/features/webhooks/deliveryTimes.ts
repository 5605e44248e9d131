/** The schedule by which a message is sent again that its receiver did not accept. */

/** The longest delay that a receiver may ask for with `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = 24 * 3600
/** The largest random part of a delay, which spreads messages that failed at the same time. */
const JITTER = 0.2

/** Seconds from a `Retry-After` header, which holds seconds or an HTTP date; null where it holds neither. */
export const parseRetryAfter = (header: string | undefined, nowMillis: number): number | null => {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, (at - nowMillis) / 1000)
}

/**
 * Seconds until the next attempt; null where the schedule has no more. `tries` counts the attempts that
 * failed, `minimumSeconds` is what the receiver asked for, and `random` lies between 0 and 1.
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
