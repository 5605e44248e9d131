/** The figures of one measured window. */
import { median } from "./stats.ts"

const figures = [
  "perSecond",
  /** The latency in milliseconds, at two percentiles. */
  "p50",
  "p99",
  /** The peak memory of the subject. */
  "peakMegabytes",
  /**
   * The cost of a request: CPU time of the subject and of PostgreSQL, and bytes of the write-ahead
   * log.
   */
  "subjectMillis",
  "postgresMillis",
  "logBytes",
  /** Shares of a core, over the whole window with its ramp. */
  "subjectBusy",
  "vendorBusy",
  "loadBusy",
  "postgresBusy",
  /** Shares of a core that all processes on it used. */
  "core0Busy",
  "core1Busy"
] as const

export type Figure = (typeof figures)[number]

/**
 * The figures of a window; NaN where a figure was not measured or is not available on this system.
 */
export type Window = Readonly<Record<Figure, number>>

export interface Row {
  readonly case: string
  readonly subject: string
  readonly rounds: ReadonlyArray<Window>
  /** The median of all rounds; of memory, the maximum. */
  readonly median: Window
}

export const windowOf = (measured: Partial<Window>): Window => ({
  perSecond: Number.NaN,
  p50: Number.NaN,
  p99: Number.NaN,
  peakMegabytes: Number.NaN,
  subjectMillis: Number.NaN,
  postgresMillis: Number.NaN,
  logBytes: Number.NaN,
  subjectBusy: Number.NaN,
  vendorBusy: Number.NaN,
  loadBusy: Number.NaN,
  postgresBusy: Number.NaN,
  core0Busy: Number.NaN,
  core1Busy: Number.NaN,
  ...measured
})

export const rowOf = (name: string, subject: string, rounds: ReadonlyArray<Window>): Row => {
  const medians = figures.map((figure) => {
    const told = rounds.map((window) => window[figure]).filter((value) => !Number.isNaN(value))
    const isMost = figure === "peakMegabytes" && told.length > 0
    return [figure, isMost ? Math.max(...told) : median(told)] as const
  })
  return { case: name, subject, rounds, median: windowOf(Object.fromEntries(medians)) }
}
