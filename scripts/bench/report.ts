/** The figures as one table for people. */
import type { Row } from "./rounds.ts"
import type { Target } from "./targets.ts"

/** Right-aligned but for the first two columns. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
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

const number = (value: number | null, digits: number): string =>
  value === null || Number.isNaN(value) ? "-" : value.toFixed(digits)

/** Ours to this one: by rate, and where there is none by its time. */
const ratio = (row: Row, rows: ReadonlyArray<Row>): string => {
  const ours = rows.find((other) => other.case === row.case && other.subject === "ours")
  if (ours === undefined || ours === row) return ""
  const value = Number.isNaN(row.median.perSecond)
    ? row.median.p50 / ours.median.p50
    : ours.median.perSecond / row.median.perSecond
  return `x${value.toFixed(2)}`
}

export const renderRows = (rows: ReadonlyArray<Row>): string =>
  table([
    ["case", "subject", "per s", "p50 ms", "p99 ms", "peak MB", "core", "ours to it"],
    ...rows.map((row) => [
      row.case,
      row.subject,
      number(row.median.perSecond, 0),
      number(row.median.p50, 2),
      number(row.median.p99, 2),
      number(row.median.peakMegabytes, 0),
      number(row.median.core, 2),
      ratio(row, rows)
    ])
  ])

export const renderTargets = (targets: ReadonlyArray<Target>): string =>
  table([
    ["target", "", "bound", "figure", "met"],
    ...targets.map(({ promise, is, bound, figure, met }) => [
      promise,
      is,
      String(bound),
      figure.toFixed(2),
      met ? "yes" : "NO"
    ])
  ])

/** Numbers that are none become null. */
export const toJson = (report: object): string =>
  `${JSON.stringify(report, (_, value: unknown) => (Number.isNaN(value) ? null : value), 2)}\n`
