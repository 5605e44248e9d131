/**
 * A key's rate in a worker. The bucket is the primary's; a worker takes some requests out of it at a
 * time and hands them out by itself, so that few requests wait for another process and the workers
 * together never let more through than the bucket holds.
 */
import { Effect } from "effect"
import type { Grant, Rate, RequestRates } from "../runtime/RequestRates.ts"

/** Of a minute's requests, the part that may lie unused in all workers together. */
const LEASED_PART = 1 / 64
/** By then the bucket is as full as it would be had nothing been taken out. */
const LEASE_MILLIS = 60_000
/** Fewer leases than this are not worth a walk over them. */
const WORTH_SWEEPING = 1024

interface Lease {
  readonly perMinute: number
  left: number
  /** In the primary's bucket, when it was asked. */
  remaining: number
  fullAt: number
  endsAt: number
  /** Until then the bucket has nothing to give. */
  emptyUntil: number
  /** Callers that found nothing left. */
  waiting: number
  asking: Promise<void> | null
}

export const makeLeasedRates = (options: {
  readonly workers: number
  /** Asks the primary; must answer as long as it lives. */
  readonly ask: (owner: string, perMinute: number, wanted: number) => Promise<Grant>
}): RequestRates => {
  const leases = new Map<string, Lease>()
  let sweepAt = WORTH_SWEEPING
  const sizeOf = (perMinute: number): number =>
    Math.max(1, Math.floor((perMinute * LEASED_PART) / options.workers))

  const dropEnded = (now: number): void => {
    if (leases.size < sweepAt) return
    for (const [owner, lease] of leases) {
      if (lease.endsAt <= now && lease.waiting === 0) leases.delete(owner)
    }
    sweepAt = Math.max(WORTH_SWEEPING, leases.size * 2)
  }

  const leaseOf = (owner: string, perMinute: number, now: number): Lease => {
    const known = leases.get(owner)
    if (known !== undefined && known.perMinute === perMinute) return known
    dropEnded(now)
    const lease: Lease = {
      ...{ perMinute, left: 0, remaining: 0, fullAt: now, endsAt: now, emptyUntil: now },
      ...{ waiting: 0, asking: null }
    }
    leases.set(owner, lease)
    return lease
  }

  /** One question for all who wait; what it brings is shared by whoever comes first. */
  const ask = (owner: string, lease: Lease, now: () => number): Promise<void> => {
    const wanted = Math.max(sizeOf(lease.perMinute), lease.waiting)
    lease.asking ??= options.ask(owner, lease.perMinute, wanted).then((grant) => {
      const at = now()
      lease.asking = null
      lease.left = grant.granted
      lease.remaining = grant.remaining
      lease.fullAt = at + grant.resetMillis
      lease.endsAt = at + LEASE_MILLIS
      lease.emptyUntil = at + grant.retryMillis
    })
    return lease.asking
  }

  /** Null where the primary must be asked. */
  const takeLeased = (lease: Lease, now: number): Rate | null => {
    const has = lease.left > 0 && now < lease.endsAt
    if (!has && now >= lease.emptyUntil) return null
    if (has) lease.left--
    return {
      allowed: has,
      limit: lease.perMinute,
      remaining: has ? lease.remaining + lease.left : 0,
      resetMillis: Math.max(0, lease.fullAt - now),
      retryMillis: has ? 0 : lease.emptyUntil - now
    }
  }

  return {
    take: (owner, perMinute) =>
      Effect.clockWith((clock) => {
        const now = (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
        const lease = leaseOf(owner, perMinute, now())
        const asking = (): Effect.Effect<Rate> =>
          Effect.flatMap(
            Effect.promise(() => ask(owner, lease, now)),
            () => Effect.suspend(() => takeOr(asking))
          )
        const takeOr = (otherwise: () => Effect.Effect<Rate>): Effect.Effect<Rate> => {
          const rate = takeLeased(lease, now())
          return rate === null ? otherwise() : Effect.succeed(rate)
        }
        return takeOr(() =>
          Effect.acquireUseRelease(
            Effect.sync(() => lease.waiting++),
            asking,
            () => Effect.sync(() => lease.waiting--)
          )
        )
      }),
    kept: () => leases.size
  }
}
