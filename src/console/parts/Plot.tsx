/** Values over time as a plot, with the same values as a table beside it for those who do not see it. */
import { useComputedColorScheme } from "@mantine/core"
import { useElementSize } from "@mantine/hooks"
import { useEffect, useRef } from "react"
import { useTranslation } from "react-i18next"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"

interface Line {
  readonly label: string
  /** One for each of `times`; null where there is none. */
  readonly values: ReadonlyArray<number | null>
}

export interface PlotProps {
  /** What it shows, for those who do not see it. */
  readonly label: string
  /** Seconds since 1970, ascending. */
  readonly times: ReadonlyArray<number>
  readonly lines: ReadonlyArray<Line>
  readonly kind?: "lines" | "bars" | "steps"
  readonly height: number
}

/** Told apart by people who see few colours as well, in light and in dark. */
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
/** Room for a date in words, in pixels. */
const TICK_SPACE = 76
const MINUTE = 60
const DAY = 86_400
/** Shorter than any month. */
const MONTH = 28 * DAY

/** What stands at the ticks of times that are so many seconds apart. */
const tickFormat = (apart: number): Intl.DateTimeFormatOptions => {
  if (apart >= MONTH) return { year: "numeric", month: "short" }
  if (apart >= DAY) return { month: "short", day: "numeric" }
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const
  return apart >= MINUTE ? time : { ...time, second: "2-digit" }
}

/** A bar has its time in its middle, and room on both sides. */
const roomOf = (times: ReadonlyArray<number>): number => {
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

/** Pixels that the numbers of an axis need. */
const widthOf = (_: unknown, values: ReadonlyArray<string> | null): number =>
  Math.max(64, 24 + 8 * Math.max(0, ...(values ?? []).map(({ length }) => length)))

/** To be loaded by `lazy`, as it is the only part that needs a library of plots. */
const Plot = ({ label, times, lines, kind = "lines", height }: PlotProps) => {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  const { ref: box, width } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const { ink, grid } = INKS[useComputedColorScheme("light")]
  useEffect(() => {
    const node = place.current
    if (node === null || width === 0) return
    const axis = {
      stroke: ink,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1 }
    }
    const paths = pathsOf(kind)
    const room = kind === "bars" ? roomOf(times) : 0
    const said = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" })
    const plot = new uPlot(
      {
        width,
        height,
        axes: [
          {
            ...axis,
            space: TICK_SPACE,
            values: (_, ticks, __, ___, apart) => {
              const tick = new Intl.DateTimeFormat(language, tickFormat(apart))
              return ticks.map((at) => tick.format(at * 1000))
            }
          },
          { ...axis, size: widthOf }
        ],
        scales: {
          x: { range: (_, low, high) => [low - room, high + room] },
          y: { range: (_, low, high) => [Math.min(0, low), high <= 0 ? 1 : high * 1.05] }
        },
        series: [
          {
            label: t("time"),
            value: (_, at) => (at === null ? "–" : said.format(at * 1000))
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
      <div ref={place} />
    </div>
  )
}
export default Plot
