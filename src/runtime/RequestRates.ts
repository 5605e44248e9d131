/**
 * Token buckets of this process, one for each owner. A bucket is one number, the time at which it will be
 * full again, and a full bucket need not be kept: memory is bounded by the owners of the last minute.
 */
import { Effect } from "effect"

/** What became of one request, and what the owner may do next. */
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
/** Fewer buckets than this are not worth a walk over them. */
const WORTH_SWEEPING = 1024

export const makeRequestRates = () => {
  const fullAt = new Map<string, number>()
  let sweepAt = WORTH_SWEEPING

  /** Each walk waits until there are twice as many as the last one left, so it costs little. */
  const dropFull = (now: number): void => {
    if (fullAt.size < sweepAt) return
    for (const [owner, full] of fullAt) {
      if (full <= now) fullAt.delete(owner)
    }
    sweepAt = Math.max(WORTH_SWEEPING, fullAt.size * 2)
  }

  /** The rate of an owner that counts `wanted` requests, or none when there are none left. */
  const rateOf = (owner: string, perMinute: number, wanted: 0 | 1): Effect.Effect<Rate> =>
    Effect.clockWith((clock) => {
      const now = Number(clock.monotonicTimeNanosUnsafe())
      const interval = Math.floor(MINUTE / perMinute)
      const before = Math.max(now, fullAt.get(owner) ?? now)
      const there = Math.floor((MINUTE - (before - now)) / interval)
      const allowed = there > 0
      const counted = allowed ? wanted : 0
      const after = before + counted * interval
      if (counted > 0) {
        dropFull(now)
        fullAt.set(owner, after)
      }
      return Effect.succeed({
        allowed,
        limit: perMinute,
        remaining: there - counted,
        resetMillis: (after - now) / MILLI,
        retryMillis: allowed ? 0 : (after + interval - now - MINUTE) / MILLI
      })
    })

  return {
    /** Counts one request of the owner, whose bucket refills with `perMinute` (above 0) a minute. */
    take: (owner: string, perMinute: number) => rateOf(owner, perMinute, 1),
    /** What the owner may do next; counts nothing. */
    look: (owner: string, perMinute: number) => rateOf(owner, perMinute, 0),
    /** Buckets that are kept. */
    kept: () => fullAt.size
  }
}
