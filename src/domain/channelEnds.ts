/** Outcomes of calls at channels, and the durations of many of them as histograms. */
import { failureKind, type VendorFailure } from "./VendorOutcome.ts"

/** The outcome of a call that answered what was ordered; the other outcomes are kinds of failures. */
export const SUCCEEDED = "made"

/** Failures that only the vendor causes: no order, key, balance or rate of ours does. */
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

/** Whether a counter counts outcomes of calls: names of the others contain a space. */
export const isCallOutcome = (name: string): boolean => !name.includes(" ")

/** The name of a channel's counter of something else than outcomes. */
export const countName = (what: "took" | "lag" | "estimated" | "used", of: string | number) =>
  `${what} ${of}`

/** The counters of one thing, by what each counts it of. */
export const countsOf = (
  counts: ReadonlyMap<string, number>,
  what: Parameters<typeof countName>[0]
): ReadonlyMap<string, number> =>
  new Map(
    [...counts].flatMap(([name, count]) =>
      name.startsWith(`${what} `) ? [[name.slice(what.length + 1), count] as const] : []
    )
  )

/** Histogram buckets of durations, four per octave: a bucket is exact to a tenth. */
const BUCKETS_PER_OCTAVE = 4

export const bucketOf = (millis: number): number =>
  Math.round(BUCKETS_PER_OCTAVE * Math.log2(Math.max(1, millis)))

export const bucketMillis = (bucket: string): number =>
  Math.round(2 ** (Number(bucket) / BUCKETS_PER_OCTAVE))

/** The duration in milliseconds below which that share of them is; null where there are none. */
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
