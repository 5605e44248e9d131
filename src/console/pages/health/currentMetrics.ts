/** The current metrics of the gateway that serves this page. */
import { useApiQuery } from "../../gateway/hooks.tsx"
import { type Sample, samplesOf } from "./prometheusText.ts"

const EVERY_MILLIS = 5_000

/** Polled while the page is open; undefined until the first reading. */
export const useSamples = (): ReadonlyArray<Sample> | undefined => {
  const { data } = useApiQuery(["metrics"], (gateway) => gateway.operations.metrics({}), {
    intervalMillis: EVERY_MILLIS
  })
  return data === undefined ? undefined : samplesOf(data)
}

/** The sum of a metric over all its labels; null where the gateway does not report it. */
export const sumOf = (samples: ReadonlyArray<Sample> | undefined, name: string): number | null => {
  const matches = (samples ?? []).filter((sample) => sample.name === name)
  return matches.length === 0 ? null : matches.reduce((sum, { value }) => sum + value, 0)
}
