/** When a message is sent again that was not taken. */

/** The longest that a receiver may ask for. */
const LONGEST_SECONDS = 24 * 3600
/** So much of the time is added by chance, so that messages that failed together come apart. */
const JITTER = 0.2

/** Seconds, or a date as in HTTP; null for what is neither. */
export const parseRetryAfter = (header: string | undefined, nowMillis: number): number | null => {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, (at - nowMillis) / 1000)
}

/**
 * Seconds until the next attempt; null where that was the last one. `tries` counts the attempts that
 * failed, `asked` is what the receiver asked for, and `chance` lies between 0 and 1.
 */
export const secondsToNextTry = (
  schedule: ReadonlyArray<number>,
  tries: number,
  asked: number | null,
  chance: number
): number | null => {
  const planned = schedule[tries - 1]
  if (planned === undefined) return null
  return Math.max(planned * (1 + JITTER * chance), Math.min(asked ?? 0, LONGEST_SECONDS))
}
