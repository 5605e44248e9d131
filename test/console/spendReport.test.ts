import { assert, it } from "@effect/vitest"
import { spendPeriodsOf } from "../../src/console/parts/money/spendPeriods.ts"
import { changeOf, seriesOf, totalsOf } from "../../src/console/parts/money/spendTotals.ts"

const now = Date.parse("2026-12-01T10:30:00Z")

const periodsOf = (filters: Readonly<Record<string, string>>) =>
  spendPeriodsOf((name) => filters[name] ?? "", now)

it("two periods have the same number of days or months, and share none", () => {
  const days = Array.from(
    { length: 20 },
    (_, index) => now - (now % 86_400_000) - index * 86_400_000
  )
  const week = periodsOf({ range: "7d" })
  const indexes = (period: typeof week.current) =>
    days.flatMap((day, index) => (period.contains(day) ? [index] : []))
  assert.deepStrictEqual(indexes(week.current), [0, 1, 2, 3, 4, 5, 6])
  assert.deepStrictEqual(indexes(week.previous), [7, 8, 9, 10, 11, 12, 13])
  const months = Array.from({ length: 30 }, (_, index) => Date.UTC(2026, 11 - index, 1))
  const year = periodsOf({ range: "12m" })
  assert.lengthOf(months.filter(year.current.contains), 12)
  assert.lengthOf(months.filter(year.previous.contains), 12)
})

it("a custom range is compared with as many days, and whole months with as many months", () => {
  const custom = (filters: Readonly<Record<string, string>>) => {
    const { current, previous } = periodsOf({ range: "own", ...filters })
    return [current.query, previous.query]
  }
  assert.deepStrictEqual(custom({ from: "2026-11-08", to: "2026-11-10" }), [
    { from: "2026-11-08", to: "2026-11-10" },
    { from: "2026-11-05", to: "2026-11-07" }
  ])
  assert.deepStrictEqual(custom({ from: "2026-10-15", to: "2026-11-10", interval: "month" }), [
    { from: "2026-10-01", to: "2026-11-10" },
    { from: "2026-08-01", to: "2026-09-30" }
  ])
})

const row = (name: string, charge: string, margin: string | null = "0") => ({
  name,
  start: "2026-11-30T00:00:00Z",
  count: 1,
  failed: 0,
  charge,
  margin
})
const byName = { nameOf: ({ name }: { readonly name: string }) => name, measure: "charge" } as const

it("totals are exact, have the names of both periods, and a sum of unknown amounts is unknown", () => {
  const totals = totalsOf(
    [row("a", "0.1"), row("b", "0.5", null), row("a", "0.2")],
    [row("c", "4"), row("a", "0.2")],
    byName
  )
  assert.deepStrictEqual(
    totals.map(({ name, amounts, previous }) => [
      name,
      amounts.charge,
      amounts.margin,
      previous.charge
    ]),
    [
      ["b", "0.5", null, "0"],
      ["a", "0.3", "0", "0.2"],
      ["c", "0", "0", "4"]
    ]
  )
  assert.deepStrictEqual(changeOf("0.3", "0.2"), { difference: "+0.1", percent: "+50.0 %" })
  assert.deepStrictEqual(changeOf("0", "4"), { difference: "-4", percent: "-100.0 %" })
  assert.deepStrictEqual(changeOf("0.5", "0"), { difference: "+0.5", percent: null })
  assert.isNull(changeOf(null, "1"))
})

it("the bars of a chart add up to the total, whatever the number of names", () => {
  const rows = Array.from({ length: 12 }, (_, index) => row(`model-${index}`, String(index + 1)))
  const series = seriesOf(rows, [Date.parse("2026-11-30T00:00:00Z")], {
    ...byName,
    totals: totalsOf(rows, [], byName),
    labelOf: (name) => name,
    otherLabel: "Others"
  })
  assert.deepStrictEqual(
    series.map(({ values }) => values[0]),
    [12, 11, 10, 9, 8, 7, 6, 5, 10]
  )
  assert.strictEqual(series.at(-1)?.label, "Others")
})
