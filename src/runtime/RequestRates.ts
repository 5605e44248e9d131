/**
 * Token buckets of this process, one per owner. A bucket is a single number, the time at which it
 * will be full again (GCRA), and full buckets are dropped: memory is bounded by the number of
 * owners in the last minute.
 */
import { Effect } from "effect"

/** Whether a request is allowed, and the state of its bucket. */
export interface Rate {
  readonly isAllowed: boolean
  /** The number of requests per minute, which is also the maximum burst. */
  readonly limit: number
  /** The number of requests currently left. */
  readonly remaining: number
  /** Milliseconds until the bucket is full again. */
  readonly resetMillis: number
  /** Milliseconds until the next request is allowed; 0 if this one was allowed. */
  readonly retryMillis: number
}

// The units of time, in nanoseconds. Whole nanoseconds add up exactly, even over the whole life of
// a process.
const MINUTE = 60_000_000_000
const MILLI = 1_000_000
/** The minimum number of buckets for a sweep. */
const MIN_SWEPT = 1024

export const makeRequestRates = () => {
  const fullAt = new Map<string, number>()
  let sweepAt = MIN_SWEPT

  /**
   * Drops full buckets. A sweep waits until there are twice as many buckets as the last sweep left,
   * so its cost is amortised.
   */
  const dropFull = (now: number): void => {
    if (fullAt.size < sweepAt) return
    for (const [owner, fullAtNanos] of fullAt) {
      if (fullAtNanos <= now) fullAt.delete(owner)
    }
    sweepAt = Math.max(MIN_SWEPT, fullAt.size * 2)
  }

  /** Takes `tokens` from the owner's bucket, or none if the bucket is empty. */
  const rateOf = (owner: string, perMinute: number, tokens: 0 | 1): Effect.Effect<Rate> =>
    Effect.clockWith((clock) => {
      const now = Number(clock.monotonicTimeNanosUnsafe())
      const interval = Math.floor(MINUTE / perMinute)
      const fullBefore = Math.max(now, fullAt.get(owner) ?? now)
      const available = Math.floor((MINUTE - (fullBefore - now)) / interval)
      const isAllowed = available > 0
      const consumedTokens = isAllowed ? tokens : 0
      const fullAfter = fullBefore + consumedTokens * interval
      if (consumedTokens > 0) {
        dropFull(now)
        fullAt.set(owner, fullAfter)
      }
      return Effect.succeed({
        isAllowed,
        limit: perMinute,
        remaining: available - consumedTokens,
        resetMillis: (fullAfter - now) / MILLI,
        retryMillis: isAllowed ? 0 : (fullAfter + interval - now - MINUTE) / MILLI
      })
    })

  return {
    /**
     * Counts one request of the owner, whose bucket refills with `perMinute` (above 0) tokens per
     * minute.
     */
    consume: (owner: string, perMinute: number) => rateOf(owner, perMinute, 1),
    /** Like `consume`, without counting the request. */
    peek: (owner: string, perMinute: number) => rateOf(owner, perMinute, 0),
    bucketCount: () => fullAt.size
  }
}
