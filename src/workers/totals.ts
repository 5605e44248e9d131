/** The metrics of several processes as those of one gateway, in the text format of Prometheus. */
import { ofTheDatabase } from "../services/metrics.ts"

type Kind = "adds up" | "adds up now" | "is the same"

interface Family {
  /** HELP and TYPE, as they are written. */
  readonly head: ReadonlyArray<string>
  readonly kind: Kind
  /** By name and labels, as they are written. */
  readonly series: ReadonlyMap<string, number>
}

/** By the family's name. */
export type Metrics = ReadonlyMap<string, Family>

const kindOf = (name: string, type: string): Kind =>
  type !== "gauge" ? "adds up" : ofTheDatabase.has(name) ? "is the same" : "adds up now"

/** Reads what the gateway itself writes: each family's lines follow its TYPE. */
export const readMetrics = (text: string): Metrics => {
  const families = new Map<string, Family>()
  let help: Array<string> = []
  let series = new Map<string, number>()
  for (const line of text.split("\n")) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (name !== undefined && type !== undefined) {
      series = new Map()
      families.set(name, { head: [...help, line], kind: kindOf(name, type), series })
      help = []
    } else if (line.startsWith("#")) {
      help = [line]
    } else if (line !== "") {
      const space = line.lastIndexOf(" ")
      series.set(line.slice(0, space), Number(line.slice(space + 1)))
    }
  }
  return families
}

const together = (kind: Kind, one: number, other: number): number =>
  kind === "is the same" ? Math.max(one, other) : one + other

export const addUp = (all: ReadonlyArray<Metrics>): Metrics => {
  const sums = new Map<string, Family & { readonly series: Map<string, number> }>()
  for (const metrics of all) {
    for (const [name, { head, kind, series }] of metrics) {
      const sum = sums.get(name) ?? { head, kind, series: new Map<string, number>() }
      sums.set(name, sum)
      for (const [key, value] of series) {
        const before = sum.series.get(key)
        sum.series.set(key, before === undefined ? value : together(kind, before, value))
      }
    }
  }
  return sums
}

/** What still counts of a process that has ended: a counter must not go back. */
export const leftOf = (metrics: Metrics): Metrics =>
  new Map([...metrics].filter(([, { kind }]) => kind === "adds up"))

export const writeMetrics = (metrics: Metrics): string =>
  [...metrics.values()]
    .flatMap(({ head, series }) => [
      ...head,
      ...[...series].map(([key, value]) => `${key} ${value}`)
    ])
    .map((line) => `${line}\n`)
    .join("")
