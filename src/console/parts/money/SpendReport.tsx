/** A spend report: figures, a chart, and a table that can be exported as it is seen. */
import { Button, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useMutation } from "@tanstack/react-query"
import { Effect, Stream } from "effect"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { save } from "../../gateway/files.ts"
import { optionOf, useAddressFilters } from "../addressFilters.ts"
import { ColorMark } from "../charts/colors.tsx"
import { TimeChart } from "../charts/TimeChart.tsx"
import { type Column, RowTable } from "../DataTable.tsx"
import { Amount, groupDigits, roundedDigits, Timestamp } from "../texts.tsx"
import { Figures } from "./Figures.tsx"
import type { SpendGroup, SpendLine } from "./SpendLine.ts"
import type { SpendPeriods } from "./spendPeriods.ts"
import { dayBeginning, type Step, slotsOf, slotText } from "./spendSlots.ts"
import { changeOf, measures, type SpendTotal, seriesOf, totalOf, totalsOf } from "./spendTotals.ts"

/** A column that is also in the exported file, by its text. */
interface ReportColumn<Row> extends Column<Row> {
  readonly text: (row: Row) => string
}

interface Props {
  readonly periods: SpendPeriods
  readonly rows: ReadonlyArray<SpendLine>
  readonly previousRows: ReadonlyArray<SpendLine>
  /** The group of the lines; undefined for sums of all orders. */
  readonly group: SpendGroup | undefined
  readonly labelOf: (name: string) => string
}

const startText = (start: string, step: Step): string =>
  step === "hour" ? start : dayBeginning(start).slice(0, step === "day" ? 10 : 7)

const StartCell = ({ start, step }: { readonly start: string; readonly step: Step }) =>
  step === "hour" ? (
    <Timestamp at={start} />
  ) : (
    <time dateTime={start} title={start} className="amount">
      {startText(start, step)}
    </time>
  )

/** The text that a file has for an unknown amount. */
const UNKNOWN = ""

const exportRows = async <Row,>(
  columns: ReadonlyArray<ReportColumn<Row>>,
  rows: ReadonlyArray<Row>
): Promise<Blob> => {
  // Loaded with the first export only.
  const { csvText } = await import("../../../runtime/texts/csvText.ts")
  const records = rows.map((row) =>
    Object.fromEntries(columns.map(({ label, text }) => [label, text(row)]))
  )
  const text = csvText(columns.map(({ label }) => label))(Stream.fromIterable(records))
  return new Blob([await Effect.runPromise(Stream.mkString(text))], { type: "text/csv" })
}

export const SpendReport = ({ periods, rows, previousRows, group, labelOf }: Props) => {
  const { t, i18n } = useTranslation("money")
  const { t: shell } = useTranslation()
  const { get, set } = useAddressFilters()
  const { interval, current } = periods
  const allRows = [...rows, ...previousRows]
  const currency = allRows[0]?.currency ?? ""
  const available = measures.filter((measure) => allRows.some((row) => row[measure] !== undefined))
  const measure = available.find((candidate) => candidate === get("measure")) ?? "charge"
  const nameOf = (row: SpendLine): string => (group === undefined ? "" : (row[group] ?? ""))
  const totals = totalsOf(rows, previousRows, { nameOf, measure })
  const all = totalOf(t("spend.all"), rows, previousRows)
  const shownTotals = group === undefined ? [all] : [...totals, all]
  const view = optionOf(get("table"), ["totals", "times"])

  const isAll = (total: SpendTotal) => total === all
  const totalLabel = (total: SpendTotal) => (isAll(total) ? total.name : labelOf(total.name))
  const emphasize = (total: SpendTotal, content: ReactNode) =>
    isAll(total) ? <strong>{content}</strong> : content
  const amountColumns = <Row,>(
    amountOf: (row: Row, measure: (typeof measures)[number]) => string | null
  ): ReadonlyArray<ReportColumn<Row>> =>
    available.map((candidate) => ({
      name: candidate,
      label: t(`spend.measures.${candidate}`),
      cell: (row) => <Amount value={amountOf(row, candidate)} />,
      text: (row) => amountOf(row, candidate) ?? UNKNOWN,
      isNumber: true
    }))
  const countColumns: ReadonlyArray<ReportColumn<{ count: number; failed: number }>> = (
    ["count", "failed"] as const
  ).map((name) => ({
    name,
    label: t(`spend.${name}`),
    cell: ({ [name]: count }) => <span className="amount">{groupDigits(String(count))}</span>,
    text: ({ [name]: count }) => String(count),
    isNumber: true
  }))
  const groupLabel = group === undefined ? t("spend.all") : t(`spend.groups.${group}`)
  const measureLabel = t(`spend.measures.${measure}`)
  const totalColumns: ReadonlyArray<ReportColumn<SpendTotal>> = [
    {
      name: "name",
      label: groupLabel,
      cell: (total) =>
        emphasize(
          total,
          <>
            {isAll(total) && group !== undefined ? null : (
              <ColorMark index={Math.max(0, totals.indexOf(total))} />
            )}{" "}
            {totalLabel(total)}
          </>
        ),
      text: totalLabel
    },
    ...countColumns,
    ...amountColumns<SpendTotal>(({ amounts }, candidate) => amounts[candidate]),
    {
      name: "previous",
      label: t("spend.previous", { measure: measureLabel }),
      cell: ({ previous }) => <Amount value={previous[measure]} />,
      text: ({ previous }) => previous[measure] ?? UNKNOWN,
      isNumber: true
    },
    {
      name: "change",
      label: t("spend.change"),
      cell: ({ amounts, previous }) => {
        const change = changeOf(amounts[measure], previous[measure])
        if (change === null) return shell("unknown")
        return (
          <span className="amount">
            {groupDigits(change.difference)}
            {change.percent === null ? "" : ` (${change.percent})`}
          </span>
        )
      },
      text: ({ amounts, previous }) =>
        changeOf(amounts[measure], previous[measure])?.difference ?? UNKNOWN,
      isNumber: true
    }
  ]
  const timeColumns: ReadonlyArray<ReportColumn<SpendLine>> = [
    {
      name: "start",
      label: t("spend.start"),
      cell: ({ start }) => <StartCell start={start} step={interval} />,
      text: ({ start }) => startText(start, interval)
    },
    ...(group === undefined
      ? []
      : [
          {
            name: "name",
            label: groupLabel,
            cell: (row: SpendLine) => labelOf(nameOf(row)),
            text: (row: SpendLine) => labelOf(nameOf(row))
          }
        ]),
    ...countColumns,
    ...amountColumns<SpendLine>((row, candidate) => row[candidate] ?? null),
    {
      name: "units",
      label: t("spend.units"),
      cell: ({ units, unit }) =>
        units === null || unit === null
          ? "–"
          : `${groupDigits(String(units))} ${t("spend.unit", { context: unit })}`,
      text: ({ units }) => (units === null ? UNKNOWN : String(units)),
      isNumber: true,
      isHidden: true
    }
  ]
  const file = useMutation({
    mutationFn: async () =>
      save(
        view === "totals"
          ? await exportRows(totalColumns, shownTotals)
          : await exportRows(timeColumns, rows),
        "spend.csv"
      )
  })

  if (allRows.length === 0) {
    return (
      <Text c="dimmed" ta="center" py="lg">
        {t("spend.nothing")}
      </Text>
    )
  }
  const slots = slotsOf(
    rows.map(({ start }) => Date.parse(start)),
    interval,
    current
  )
  const noteOf = (candidate: (typeof measures)[number]): string => {
    const change = changeOf(all.amounts[candidate], all.previous[candidate])
    const before = all.previous[candidate]
    if (change === null || before === null) return t("spend.unknownChange")
    return t("spend.changeFrom", {
      change: change.percent ?? groupDigits(change.difference),
      previous: groupDigits(before)
    })
  }
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <Figures
          figures={available.map((candidate) => ({
            label: t(`spend.measures.${candidate}`),
            value: <Amount value={all.amounts[candidate]} currency={currency} />,
            note: noteOf(candidate)
          }))}
        />
        <Select
          label={t("spend.measure")}
          value={measure}
          allowDeselect={false}
          data={available.map((value) => ({ value, label: t(`spend.measures.${value}`) }))}
          onChange={(value) => set({ measure: value })}
          w={130}
        />
      </Group>
      <TimeChart
        label={t("spend.title")}
        unit={currency}
        kind="bars"
        times={slots}
        series={seriesOf(rows, slots, {
          totals,
          nameOf,
          labelOf: (name) => (group === undefined ? measureLabel : labelOf(name)),
          measure,
          otherLabel: t("spend.others")
        })}
        formatValue={roundedDigits}
        formatTime={(time, isFull) => slotText(time, interval, { language: i18n.language, isFull })}
      />
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t("spend.table")}
          value={view}
          data={[
            { value: "totals", label: t("spend.totals") },
            { value: "times", label: t("spend.overTime") }
          ]}
          onChange={(value) => set({ table: value === "totals" ? null : value })}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          loading={file.isPending}
          onClick={() => file.mutate()}
        >
          {t("usage.csv")}
        </Button>
      </Group>
      {view === "totals" ? (
        <RowTable label={t("spend.totals")} columns={totalColumns} rows={shownTotals} />
      ) : (
        <RowTable label={t("spend.title")} columns={timeColumns} rows={rows} />
      )}
    </Stack>
  )
}
