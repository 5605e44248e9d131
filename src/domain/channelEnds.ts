/** The outcomes of calls at channels, and histograms of their durations. */
import { type FailureKind, failureKind, type VendorFailure } from "./VendorOutcome.ts"

/**
 * The name of the outcome of a successful call; every other outcome has the name of its failure.
 */
export const SUCCEEDED = "made"

/** The name of the outcome of a call that the vendor refused for its content. */
export const REFUSED: FailureKind = "refused"

/**
 * Failures that only the vendor can cause. Failures that an order, or the gateway's key, balance or
 * rate limit at the vendor can cause are excluded.
 */
const vendorsFaults: ReadonlySet<string> = new Set([
  "unreachable",
  "overloaded",
  "vendor_error",
  "timeout",
  "connection_lost",
  "broken_answer"
])

export const isVendorsFault = (failure: VendorFailure): boolean =>
  vendorsFaults.has(failureKind(failure))

/** Whether a counter counts outcomes of calls: the names of all other counters contain a space. */
export const isCallOutcome = (name: string): boolean => !name.includes(" ")

/** The name of a channel's counter that does not count outcomes. */
export const countName = (what: "took" | "lag" | "estimated" | "used", of: string | number) =>
  `${what} ${of}`

/** The counters whose names begin with `what`, mapped by the rest of their names. */
export const countsOf = (
  counts: ReadonlyMap<string, number>,
  what: Parameters<typeof countName>[0]
): ReadonlyMap<string, number> =>
  new Map(
    [...counts].flatMap(([name, count]) =>
      name.startsWith(`${what} `) ? [[name.slice(what.length + 1), count] as const] : []
    )
  )

/** The number of histogram buckets per octave, with which a duration is accurate to about 10 %. */
const BUCKETS_PER_OCTAVE = 4

export const bucketOf = (millis: number): number =>
  Math.round(BUCKETS_PER_OCTAVE * Math.log2(Math.max(1, millis)))

export const bucketMillis = (bucket: string): number =>
  Math.round(2 ** (Number(bucket) / BUCKETS_PER_OCTAVE))

/** The quantile of the durations in milliseconds; null if the histogram is empty. */
export const quantile = (buckets: ReadonlyMap<string, number>, share: number): number | null => {
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0)
  let passed = 0
  for (const [bucket, count] of [...buckets].sort(
    ([one], [other]) => Number(one) - Number(other)
  )) {
    passed += count
    if (passed >= total * share) return bucketMillis(bucket)
  }
  return null
}
