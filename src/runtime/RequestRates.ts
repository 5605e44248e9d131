/**
 * Token buckets of this process, one for each owner. A bucket is one number, the time at which it will be
 * full again (GCRA), and full buckets are dropped: memory is bounded by the owners of the last minute.
 */
import { Effect } from "effect"

/** Whether a request is allowed, and the state of its bucket. */
export interface Rate {
  readonly allowed: boolean
  /** Requests a minute, and the most that may come at once. */
  readonly limit: number
  /** Whole requests left at the moment. */
  readonly remaining: number
  /** Until the bucket is full again. */
  readonly resetMillis: number
  /** Until the next request is allowed; 0 where this one was. */
  readonly retryMillis: number
}

// Whole nanoseconds add up exactly, also over a process's whole life.
const MINUTE = 60_000_000_000
const MILLI = 1_000_000
/** Fewer buckets than this are not swept. */
const MIN_SWEPT = 1024

export const makeRequestRates = () => {
  const fullAt = new Map<string, number>()
  let sweepAt = MIN_SWEPT

  /** A sweep waits until there are twice as many buckets as the last one left, so its cost is amortised. */
  const dropFull = (now: number): void => {
    if (fullAt.size < sweepAt) return
    for (const [owner, full] of fullAt) {
      if (full <= now) fullAt.delete(owner)
    }
    sweepAt = Math.max(MIN_SWEPT, fullAt.size * 2)
  }

  /** Takes `tokens` out of the owner's bucket, or none when it is empty. */
  const rateOf = (owner: string, perMinute: number, tokens: 0 | 1): Effect.Effect<Rate> =>
    Effect.clockWith((clock) => {
      const now = Number(clock.monotonicTimeNanosUnsafe())
      const interval = Math.floor(MINUTE / perMinute)
      const fullBefore = Math.max(now, fullAt.get(owner) ?? now)
      const available = Math.floor((MINUTE - (fullBefore - now)) / interval)
      const allowed = available > 0
      const consumed = allowed ? tokens : 0
      const fullAfter = fullBefore + consumed * interval
      if (consumed > 0) {
        dropFull(now)
        fullAt.set(owner, fullAfter)
      }
      return Effect.succeed({
        allowed,
        limit: perMinute,
        remaining: available - consumed,
        resetMillis: (fullAfter - now) / MILLI,
        retryMillis: allowed ? 0 : (fullAfter + interval - now - MINUTE) / MILLI
      })
    })

  return {
    /** Counts one request of the owner, whose bucket refills with `perMinute` (above 0) a minute. */
    consume: (owner: string, perMinute: number) => rateOf(owner, perMinute, 1),
    /** The same without counting the request. */
    peek: (owner: string, perMinute: number) => rateOf(owner, perMinute, 0),
    bucketCount: () => fullAt.size
  }
}
