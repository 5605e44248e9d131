/** Reading Prometheus' text format as a scraper does. */
import { Effect } from "effect"
import { Gateway } from "./gateway.ts"

type Labels = Readonly<Record<string, string>>

export interface Scrape {
  readonly text: string
  /** The number of a series; null when there is none with exactly these labels. */
  readonly value: (name: string, labels?: Labels) => number | null
}

const linePattern = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/

/** Throws on a line that is neither a comment nor a sample. */
export const samplesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const match = linePattern.exec(line)
      if (match === null) throw new Error(`not a sample: ${line}`)
      const [, name = "", labels = "", value = ""] = match
      const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)]
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key = "", word = ""]) => [key, word])),
        value: Number(value)
      }
    })

export const parseMetrics = (text: string): Scrape => {
  const series = samplesOf(text)
  const same = (one: Labels, other: Labels) =>
    Object.keys(one).length === Object.keys(other).length &&
    Object.entries(one).every(([key, word]) => other[key] === word)
  return {
    text,
    value: (name, labels = {}) =>
      series.find((one) => one.name === name && same(one.labels, labels))?.value ?? null
  }
}

/** Every sample, by its name and its labels in order. */
export const allSeries = (text: string): ReadonlyMap<string, number> =>
  new Map(
    samplesOf(text).map(({ name, labels, value }) => {
      const all = Object.entries(labels).map(([key, word]) => `${key}=${word}`)
      return [`${name}{${all.sort().join()}}`, value]
    })
  )

export const scrape = Effect.gen(function* () {
  const gateway = yield* Gateway
  return parseMetrics((yield* gateway.metrics).text)
})

/** Scrapes until the numbers are as wanted, and answers them. */
export const scrapeUntil = (wanted: (metrics: Scrape) => boolean) =>
  scrape.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: wanted }),
    Effect.timeout("20 seconds")
  )
