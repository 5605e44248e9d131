/**
 * Token buckets, one for each owner. A bucket is one number, the time at which it will be
 * full again, and a full bucket need not be kept: memory is bounded by the owners of the last minute.
 */
import { Clock, Effect } from "effect"

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

/** What a bucket gave of the several requests it was asked for. */
export interface Grant {
  readonly granted: number
  /** What is left in the bucket, in whole requests. */
  readonly remaining: number
  /** Until the bucket is full again. */
  readonly resetMillis: number
  /** Until it has one more to give; 0 where all were granted. */
  readonly retryMillis: number
}

export interface RequestRates {
  /** Counts one request of the owner, whose bucket refills with `perMinute` (above 0) a minute. */
  take(owner: string, perMinute: number): Effect.Effect<Rate>
  /** Buckets that are kept. */
  readonly kept: () => number
}

export interface RequestBuckets extends RequestRates {
  /** What the owner may do next; counts nothing. */
  look(owner: string, perMinute: number): Effect.Effect<Rate>
  /** Takes one request back that was counted. */
  giveBack(owner: string, perMinute: number): Effect.Effect<void>
  /** Counts as many requests as there are left, of those that are wanted. */
  takeSome(owner: string, perMinute: number, wanted: number): Effect.Effect<Grant>
}

// Whole nanoseconds add up exactly, also over a process's whole life.
const MINUTE = 60_000_000_000
const MILLI = 1_000_000
/** Fewer buckets than this are not worth a walk over them. */
const WORTH_SWEEPING = 1024

export const makeRequestRates = (): RequestBuckets => {
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

  const bucketOf = (owner: string, perMinute: number, now: number) => {
    const interval = Math.floor(MINUTE / perMinute)
    const before = Math.max(now, fullAt.get(owner) ?? now)
    return { interval, before, there: Math.floor((MINUTE - (before - now)) / interval) }
  }

  const take = (owner: string, perMinute: number, wanted: number, now: number): Grant => {
    const { interval, before, there } = bucketOf(owner, perMinute, now)
    const granted = Math.min(wanted, there)
    const after = before + granted * interval
    if (granted > 0) {
      dropFull(now)
      fullAt.set(owner, after)
    }
    return {
      granted,
      remaining: there - granted,
      resetMillis: (after - now) / MILLI,
      retryMillis: granted === wanted ? 0 : (after + interval - now - MINUTE) / MILLI
    }
  }

  const look = (owner: string, perMinute: number, now: number): Rate => {
    const { interval, before, there } = bucketOf(owner, perMinute, now)
    return {
      allowed: there > 0,
      limit: perMinute,
      remaining: there,
      resetMillis: (before - now) / MILLI,
      retryMillis: there > 0 ? 0 : (before + interval - now - MINUTE) / MILLI
    }
  }

  const giveBack = (owner: string, perMinute: number, now: number): void => {
    const { interval, before } = bucketOf(owner, perMinute, now)
    if (before - interval > now) fullAt.set(owner, before - interval)
    else fullAt.delete(owner)
  }

  const takeSome: RequestBuckets["takeSome"] = (owner, perMinute, wanted) =>
    Effect.map(Clock.monotonicTimeNanos, (nanos) => take(owner, perMinute, wanted, Number(nanos)))

  return {
    takeSome,
    look: (owner, perMinute) =>
      Effect.map(Clock.monotonicTimeNanos, (nanos) => look(owner, perMinute, Number(nanos))),
    giveBack: (owner, perMinute) =>
      Effect.map(Clock.monotonicTimeNanos, (nanos) => giveBack(owner, perMinute, Number(nanos))),
    take: (owner, perMinute) =>
      Effect.map(takeSome(owner, perMinute, 1), ({ granted, ...rest }) => ({
        allowed: granted === 1,
        limit: perMinute,
        ...rest
      })),
    kept: () => fullAt.size
  }
}
