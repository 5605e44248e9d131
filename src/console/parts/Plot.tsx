/** A plot of values over time, with a table of the same values for screen readers. */
import { useComputedColorScheme } from "@mantine/core"
import { useElementSize } from "@mantine/hooks"
import { useEffect, useRef } from "react"
import { useTranslation } from "react-i18next"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"

interface Line {
  readonly label: string
  /** One value for each of `times`; null where there is none. */
  readonly values: ReadonlyArray<number | null>
}

export interface PlotProps {
  /** The accessible name of the plot. */
  readonly label: string
  /** The times in seconds since 1970, ascending. */
  readonly times: ReadonlyArray<number>
  readonly lines: ReadonlyArray<Line>
  readonly kind?: "lines" | "bars" | "steps"
  readonly height: number
}

/** Colours that can be distinguished with colour blindness, in light and dark mode. */
const COLORS = [
  "#4c6ef5",
  "#e8590c",
  "#0ca678",
  "#ae3ec9",
  "#f08c00",
  "#1098ad",
  "#e64980",
  "#868e96"
]
const INKS = {
  light: { ink: "#495057", grid: "#dee2e6" },
  dark: { ink: "#b8bcc4", grid: "#424242" }
} as const
const BAR_PART = 0.7
const BAR_MOST = 60
const FILL = "33"
/** The minimum distance of ticks in pixels, which fits a date in words. */
const TICK_SPACE = 76
const MINUTE = 60
const DAY = 86_400
/** The minimum distance of ticks that counts as months; shorter than any month. */
const MONTH = 28 * DAY

/** The date format of ticks that are `apart` seconds apart. */
const tickFormat = (spacingSeconds: number): Intl.DateTimeFormatOptions => {
  if (spacingSeconds >= MONTH) return { year: "numeric", month: "short" }
  if (spacingSeconds >= DAY) return { month: "short", day: "numeric" }
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const
  return spacingSeconds >= MINUTE ? time : { ...time, second: "2-digit" }
}

/**
 * The room on each side of a bar plot in seconds: half the distance of two bars, since each bar is
 * centred at its time.
 */
const paddingSecondsOf = (times: ReadonlyArray<number>): number => {
  const [first = 0] = times
  const last = times.at(-1) ?? first
  return last > first ? (last - first) / (times.length - 1) / 2 : DAY / 2
}

const pathsOf = (kind: NonNullable<PlotProps["kind"]>) =>
  kind === "bars"
    ? uPlot.paths.bars?.({ size: [BAR_PART, BAR_MOST] })
    : kind === "steps"
      ? uPlot.paths.stepped?.({ align: 1 })
      : undefined

/** The width of a value axis in pixels. */
const widthOf = (_: unknown, values: ReadonlyArray<string> | null): number =>
  Math.max(64, 24 + 8 * Math.max(0, ...(values ?? []).map(({ length }) => length)))

/**
 * The plot component. It must be loaded with `lazy`, as it is the only part that needs the plot
 * library.
 */
const Plot = ({ label, times, lines, kind = "lines", height }: PlotProps) => {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  const { ref: box, width } = useElementSize()
  const container = useRef<HTMLDivElement>(null)
  const { ink, grid } = INKS[useComputedColorScheme("light")]
  useEffect(() => {
    const node = container.current
    if (node === null || width === 0) return
    const axis = {
      stroke: ink,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1 }
    }
    const paths = pathsOf(kind)
    const paddingSeconds = kind === "bars" ? paddingSecondsOf(times) : 0
    const tooltipFormat = new Intl.DateTimeFormat(language, {
      dateStyle: "medium",
      timeStyle: "short"
    })
    const plot = new uPlot(
      {
        width,
        height,
        axes: [
          {
            ...axis,
            space: TICK_SPACE,
            values: (_, ticks, __, ___, spacingSeconds) => {
              const tick = new Intl.DateTimeFormat(language, tickFormat(spacingSeconds))
              return ticks.map((at) => tick.format(at * 1000))
            }
          },
          { ...axis, size: widthOf }
        ],
        scales: {
          x: { range: (_, low, high) => [low - paddingSeconds, high + paddingSeconds] },
          y: { range: (_, low, high) => [Math.min(0, low), high <= 0 ? 1 : high * 1.05] }
        },
        series: [
          {
            label: t("time"),
            value: (_, at) => (at === null ? "–" : tooltipFormat.format(at * 1000))
          },
          ...lines.map((line, index) => {
            const color = COLORS[index % COLORS.length] ?? ink
            return {
              label: line.label,
              stroke: color,
              width: 2,
              ...(kind === "lines" ? {} : { fill: `${color}${FILL}`, points: { show: false } }),
              ...(paths === undefined ? {} : { paths })
            }
          })
        ]
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      node
    )
    return () => plot.destroy()
  }, [width, height, kind, times, lines, ink, grid, language, t])
  return (
    <div ref={box} className="plot" role="img" aria-label={label} style={{ minHeight: height }}>
      <div ref={container} />
    </div>
  )
}
export default Plot
