/** How calls at channels ended, and what follows from many of them. */
import { failureKind, type VendorFailure } from "./VendorOutcome.ts"

/** Of a call that brought what was asked for. */
export const SUCCEEDED = "made"

/** What only the vendor is to blame for: no order, key, balance or rate of ours causes it. */
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

/** Whether a count is of ends of calls: their names are one word. */
export const isCallOutcome = (name: string): boolean => !name.includes(" ")

/** What is counted of a channel beside how its calls ended: the word, and of what. */
export const countName = (what: "took" | "lag" | "estimated" | "used", of: string | number) =>
  `${what} ${of}`

/** Of names with this word: how often by what stands after it. */
export const countsOf = (
  counts: ReadonlyMap<string, number>,
  what: Parameters<typeof countName>[0]
): ReadonlyMap<string, number> =>
  new Map(
    [...counts].flatMap(([name, count]) =>
      name.startsWith(`${what} `) ? [[name.slice(what.length + 1), count] as const] : []
    )
  )

/** Four steps of durations to each doubling, so that one is told by its step within a tenth. */
const STEPS = 4

export const bucketOf = (millis: number): number =>
  Math.round(STEPS * Math.log2(Math.max(1, millis)))

export const bucketMillis = (step: string): number => Math.round(2 ** (Number(step) / STEPS))

/** The duration in milliseconds below which that share of them is; null where there are none. */
export const quantile = (steps: ReadonlyMap<string, number>, share: number): number | null => {
  const total = [...steps.values()].reduce((sum, count) => sum + count, 0)
  let passed = 0
  for (const [step, count] of [...steps].sort(([one], [other]) => Number(one) - Number(other))) {
    passed += count
    if (passed >= total * share) return bucketMillis(step)
  }
  return null
}
