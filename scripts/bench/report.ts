/** Renders the figures as a table. */
import type { Row } from "./measure/window.ts"
import type { Target } from "./targets.ts"

/** A table whose columns are right-aligned, except for the first two. */
export const renderTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
        )
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

const number = (value: number, digits: number): string =>
  Number.isNaN(value) ? "-" : value.toFixed(digits)

/**
 * How many times as fast our gateway is as this row: by the rates, or by the times where no rate
 * was measured.
 */
const ratio = (row: Row, rows: ReadonlyArray<Row>): string => {
  const ours = rows.find((other) => other.case === row.case && other.subject === "ours")
  if (ours === undefined || ours === row) return ""
  const value = Number.isNaN(row.median.perSecond)
    ? row.median.p50 / ours.median.p50
    : ours.median.perSecond / row.median.perSecond
  return `x${value.toFixed(2)}`
}

/** The explanation of the columns, printed below the table because the columns are narrow. */
const legend = `cpu ms, pg ms, log B: processor time of the subject and of PostgreSQL and bytes of its write-ahead log, of one request
gw, vendor, load, pg, core 0, core 1: shares of a core; where processes are pinned, the gateway has core 0 and the others core 1
shared-port: its gateways may use both cores, so the second one has only what vendor, load and PostgreSQL leave of core 1`

export const renderRows = (rows: ReadonlyArray<Row>): string => {
  const heads = [
    "case",
    "subject",
    "per s",
    "p50 ms",
    "p99 ms",
    "peak MB",
    "cpu ms",
    "pg ms",
    "log B",
    "gw",
    "vendor",
    "load",
    "pg",
    "core 0",
    "core 1",
    "ours to it"
  ]
  const cells = rows.map(({ case: name, subject, median }) => [
    name,
    subject,
    number(median.perSecond, 0),
    number(median.p50, 2),
    number(median.p99, 2),
    number(median.peakMegabytes, 0),
    number(median.subjectMillis, 3),
    number(median.postgresMillis, 3),
    number(median.logBytes, 0),
    number(median.subjectBusy, 2),
    number(median.vendorBusy, 2),
    number(median.loadBusy, 2),
    number(median.postgresBusy, 2),
    number(median.core0Busy, 2),
    number(median.core1Busy, 2)
  ])
  const compared = cells.map((line, index) => {
    const row = rows[index]
    return [...line, row === undefined ? "" : ratio(row, rows)]
  })
  return `${renderTable([heads, ...compared])}\n${legend}`
}

export const renderTargets = (targets: ReadonlyArray<Target>): string =>
  renderTable([
    ["target", "", "bound", "figure", "met"],
    ...targets.map(({ promise, is, bound, figure, met }) => [
      promise,
      is,
      String(bound),
      figure.toFixed(2),
      met ? "yes" : "NO"
    ])
  ])

/** The report as JSON, with NaN as null. */
export const toJson = (report: object): string =>
  `${JSON.stringify(report, (_, value: unknown) => (Number.isNaN(value) ? null : value), 2)}\n`
