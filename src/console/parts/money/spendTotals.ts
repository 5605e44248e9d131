/** The totals of a spend report by name, beside those of the period before, and its chart's series. */
import { formatNano } from "../../../domain/money/Money.ts"
import type { ChartSeries } from "../charts/Chart.tsx"
import { MOST_SERIES } from "../charts/colors.tsx"
import { nanoOf, sumOf } from "./decimals.ts"

export const measures = ["charge", "returned", "cost", "margin"] as const
export type Measure = (typeof measures)[number]

/** The fields of a line of a series that are summed. */
export interface SpendFigures extends Partial<Record<Measure, string | null>> {
  readonly start: string
  readonly count: number
  readonly failed: number
}

export interface SpendTotal {
  /** The name in the series, by which the total is grouped. */
  readonly name: string
  readonly count: number
  readonly failed: number
  /** A sum is null where an amount of it is unknown. */
  readonly amounts: Readonly<Record<Measure, string | null>>
  /** The amounts of the period before. */
  readonly previous: Readonly<Record<Measure, string | null>>
}

const sumOrUnknown = (rows: ReadonlyArray<SpendFigures>, measure: Measure): string | null => {
  const amounts = rows.flatMap(({ [measure]: amount }) => (amount === undefined ? [] : [amount]))
  const known = amounts.filter((amount) => amount !== null)
  return known.length < amounts.length ? null : sumOf(known)
}

const amountsOf = (rows: ReadonlyArray<SpendFigures>): SpendTotal["amounts"] => ({
  charge: sumOrUnknown(rows, "charge"),
  returned: sumOrUnknown(rows, "returned"),
  cost: sumOrUnknown(rows, "cost"),
  margin: sumOrUnknown(rows, "margin")
})

export const totalOf = (
  name: string,
  rows: ReadonlyArray<SpendFigures>,
  previousRows: ReadonlyArray<SpendFigures>
): SpendTotal => ({
  name,
  count: rows.reduce((sum, { count }) => sum + count, 0),
  failed: rows.reduce((sum, { failed }) => sum + failed, 0),
  amounts: amountsOf(rows),
  previous: amountsOf(previousRows)
})

/** The total of each name in either period, by the measure, the largest first. */
export const totalsOf = <Row extends SpendFigures>(
  rows: ReadonlyArray<Row>,
  previousRows: ReadonlyArray<Row>,
  { nameOf, measure }: { readonly nameOf: (row: Row) => string; readonly measure: Measure }
): ReadonlyArray<SpendTotal> => {
  const current = Map.groupBy(rows, nameOf)
  const previous = Map.groupBy(previousRows, nameOf)
  return [...new Set([...current.keys(), ...previous.keys()])]
    .map((name) => totalOf(name, current.get(name) ?? [], previous.get(name) ?? []))
    .toSorted(
      (total, other) => Number(other.amounts[measure] ?? 0) - Number(total.amounts[measure] ?? 0)
    )
}

/**
 * The difference to the period before, with its sign, and as a share of that period; null where an
 * amount is unknown.
 */
export const changeOf = (amount: string | null, previous: string | null) => {
  if (amount === null || previous === null) return null
  const before = nanoOf(previous)
  const difference = nanoOf(amount) - before
  const share = before === 0n ? null : (Number(difference) / Math.abs(Number(before))) * 100
  const sign = difference > 0n ? "+" : ""
  return {
    difference: `${sign}${formatNano(difference)}`,
    percent: share === null ? null : `${sign}${share.toFixed(1)} %`
  }
}

/** The series of the largest totals, and one of all others, so that the bars add up to the total. */
export const seriesOf = <Row extends SpendFigures>(
  rows: ReadonlyArray<Row>,
  slots: ReadonlyArray<number>,
  options: {
    readonly totals: ReadonlyArray<SpendTotal>
    readonly nameOf: (row: Row) => string
    readonly labelOf: (name: string) => string
    readonly measure: Measure
    readonly otherLabel: string
  }
): ReadonlyArray<ChartSeries> => {
  const { totals, nameOf, labelOf, measure, otherLabel } = options
  const largest = totals.slice(0, MOST_SERIES).map(({ name }) => name)
  const isLarge = new Set(largest)
  // The others are under null.
  const bySeries = Map.groupBy(rows, (row) => {
    const name = nameOf(row)
    return isLarge.has(name) ? name : null
  })
  const valuesOf = (name: string | null): ChartSeries["values"] => {
    const bySlot = Map.groupBy(bySeries.get(name) ?? [], ({ start }) => Date.parse(start))
    return slots.map((slot) => {
      const amount = sumOrUnknown(bySlot.get(slot) ?? [], measure)
      return amount === null ? null : Number(amount)
    })
  }
  const series = largest.map((name) => ({ label: labelOf(name), values: valuesOf(name) }))
  return bySeries.has(null) ? [...series, { label: otherLabel, values: valuesOf(null) }] : series
}
