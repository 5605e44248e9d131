/** A chart of values over time. Its page also has the values as text, for screen readers. */
import { Paper, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis
} from "recharts"
import { ColorMark, colorAt } from "./colors.tsx"

export interface ChartSeries {
  readonly label: string
  /** One value for each of `times`; null where there is none. */
  readonly values: ReadonlyArray<number | null>
}

export interface ChartProps {
  /** The accessible name of the chart. */
  readonly label: string
  /** The unit of the values, above their axis. */
  readonly unit: string
  /** The times in milliseconds since 1970, ascending. */
  readonly times: ReadonlyArray<number>
  readonly series: ReadonlyArray<ChartSeries>
  /** Bars stand on each other, so that their height is the total. */
  readonly kind: "bars" | "steps"
  readonly height: number
  readonly formatValue: (value: number) => string
  /** Whether the values are counts, so that their axis has whole numbers only. */
  readonly isCount?: boolean
  /** The text of a time at the axis, or in full in the tooltip. */
  readonly formatTime: (time: number, isFull: boolean) => string
}

/** The text of an axis; a chart's other texts inherit the page's font. */
const tick = { fontSize: 12, fill: "var(--mantine-color-dimmed)" }
const GRID = "var(--mantine-color-default-border)"
const axis = { tick, tickLine: false, stroke: GRID }
const MIN_TICK_GAP = 28
/** The number of parts between the ticks of a continuous time axis. */
const TICKS = 5
const MOST_BAR_WIDTH = 48

const ChartTooltip = ({
  active,
  payload,
  label,
  chart
}: TooltipContentProps & { readonly chart: ChartProps }) => {
  const { t } = useTranslation()
  const { series, kind, formatValue, formatTime, unit } = chart
  if (!active || typeof label !== "number") return null
  const values = payload.flatMap(({ name, value }) =>
    typeof value === "number" ? [{ index: Number(name), value }] : []
  )
  const shownValues = kind === "bars" ? values.filter(({ value }) => value !== 0) : values
  const total = values.reduce((sum, { value }) => sum + value, 0)
  return (
    <Paper withBorder shadow="md" px="sm" py="xs" data-testid="chart-tooltip">
      <Text size="sm" fw={600}>
        {formatTime(label, true)}
      </Text>
      {shownValues.toReversed().map(({ index, value }) => (
        <Text key={index} size="sm">
          <ColorMark index={index} /> {series[index]?.label}{" "}
          <span className="amount">
            {formatValue(value)} {unit}
          </span>
        </Text>
      ))}
      {kind === "bars" && shownValues.length !== 1 ? (
        <Text size="sm" fw={600}>
          {t("total")}{" "}
          <span className="amount">
            {formatValue(total)} {unit}
          </span>
        </Text>
      ) : null}
    </Paper>
  )
}

/** The chart. It must be loaded with `lazy`, as it is the only part that needs the chart library. */
const Chart = (props: ChartProps) => {
  const {
    label,
    unit,
    times,
    series,
    kind,
    height,
    formatValue,
    formatTime,
    isCount = false
  } = props
  const rows = times.map((time, at) => ({
    time,
    values: series.map(({ values }) => values[at] ?? null)
  }))
  type Row = (typeof rows)[number]
  const frame = {
    data: rows,
    responsive: true,
    style: { width: "100%", height },
    margin: { top: 8, right: 8, bottom: 0, left: 0 },
    // The chart is one image to assistive technology, in which nothing takes the focus.
    accessibilityLayer: false
  }
  const common = (
    <>
      <CartesianGrid vertical={false} stroke={GRID} />
      <YAxis
        {...axis}
        width="auto"
        axisLine={false}
        allowDecimals={!isCount}
        tickFormatter={formatValue}
      />
      <Tooltip
        content={(tooltip) => <ChartTooltip {...tooltip} chart={props} />}
        cursor={{ fill: "var(--mantine-color-default-hover)", stroke: GRID }}
        isAnimationActive={false}
        allowEscapeViewBox={{ x: false, y: true }}
        wrapperStyle={{ zIndex: 1 }}
      />
    </>
  )
  const [first = 0] = times
  const span = (times.at(-1) ?? first) - first
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => first + (index * span) / TICKS)
  const timeAxis = {
    ...axis,
    dataKey: "time",
    minTickGap: MIN_TICK_GAP,
    interval: "equidistantPreserveStart" as const,
    tickFormatter: (time: number) => formatTime(time, false)
  }
  return (
    <div className="chart" role="img" aria-label={`${label}, ${unit}`}>
      <Text size="xs" c="dimmed" aria-hidden>
        {unit}
      </Text>
      {kind === "bars" ? (
        <BarChart {...frame} stackOffset="sign">
          {common}
          <XAxis {...timeAxis} />
          {series.map((_, index) => (
            <Bar
              key={series[index]?.label}
              name={String(index)}
              dataKey={({ values }: Row) => values[index]}
              stackId="all"
              fill={colorAt(index)}
              maxBarSize={MOST_BAR_WIDTH}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      ) : (
        <LineChart {...frame}>
          {common}
          <XAxis
            {...timeAxis}
            type="number"
            scale="time"
            ticks={ticks}
            domain={["dataMin", "dataMax"]}
          />
          {series.map((_, index) => (
            <Line
              key={series[index]?.label}
              name={String(index)}
              dataKey={({ values }: Row) => values[index]}
              type="stepAfter"
              stroke={colorAt(index)}
              strokeWidth={2}
              dot={false}
              isAnimationActive={false}
            />
          ))}
        </LineChart>
      )}
    </div>
  )
}
export default Chart
