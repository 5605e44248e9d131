/** The metrics of the last minutes, polled while the page is open and kept in memory. */
import { useEffect, useState } from "react"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { type Sample, samplesOf } from "./prometheusText.ts"

export interface Scrape {
  /** The time in seconds since 1970. */
  readonly at: number
  readonly samples: ReadonlyArray<Sample>
}

const EVERY_MILLIS = 3_000
/** The maximum number of scrapes in memory, about ten minutes. */
const MAX_SCRAPES = 200

/** Whether a sample is kept: histogram buckets are not needed, only sums and counts. */
const isNeeded = ({ name }: Sample): boolean => !name.endsWith("_bucket")

export const useScrapes = () => {
  const query = useApiQuery(["metrics"], (gateway) => gateway.operations.metrics({}), {
    intervalMillis: EVERY_MILLIS
  })
  const [scrapes, setScrapes] = useState<ReadonlyArray<Scrape>>([])
  const { data, dataUpdatedAt } = query
  useEffect(() => {
    if (data === undefined) return
    const scrape = { at: dataUpdatedAt / 1000, samples: samplesOf(data).filter(isNeeded) }
    setScrapes((before) => [...before.slice(1 - MAX_SCRAPES), scrape])
  }, [data, dataUpdatedAt])
  return { query, scrapes }
}
export type Scrapes = ReturnType<typeof useScrapes>

/**
 * The sum of a metric for each value of the label `by`; if `by` is null, all samples are summed under
 * the key `""`.
 */
export const sumsOf = (
  scrape: Scrape,
  name: string,
  label: string | null = null
): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const sample of scrape.samples) {
    if (sample.name !== name) continue
    const key = label === null ? "" : (sample.labels[label] ?? "")
    sums.set(key, (sums.get(key) ?? 0) + sample.value)
  }
  return sums
}

export const sumOf = (scrape: Scrape | undefined, name: string): number | null =>
  scrape === undefined ? null : (sumsOf(scrape, name).get("") ?? null)
