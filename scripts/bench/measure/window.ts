/** The figures of one measured window. */
import { median } from "./stats.ts"

const figures = [
  "perSecond",
  /** Milliseconds. */
  "p50",
  "p99",
  /** Most memory that the subject had at a time. */
  "peakMegabytes",
  /** For each request: processor time of the subject and of PostgreSQL, and bytes of its write-ahead log. */
  "subjectMillis",
  "postgresMillis",
  "logBytes",
  /** Shares of a core, of the whole window with its ramp. */
  "subjectBusy",
  "vendorBusy",
  "loadBusy",
  "postgresBusy",
  /** Of everything that runs on it. */
  "core0Busy",
  "core1Busy"
] as const

export type Figure = (typeof figures)[number]

/** Not a number is what was not measured, or what the system does not tell. */
export type Window = Readonly<Record<Figure, number>>

export interface Row {
  readonly case: string
  readonly subject: string
  readonly rounds: ReadonlyArray<Window>
  /** Of memory, the most of all rounds. */
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
