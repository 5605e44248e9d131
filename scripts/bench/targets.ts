/** What the figures are to show, as ratios of medians of one run. */
import type { Row, Window } from "./rounds.ts"

export interface Target {
  readonly promise: string
  readonly is: "at least" | "below"
  readonly bound: number
  readonly figure: number
  readonly met: boolean
}

/** Answers nothing where a row that is needed was not measured. */
export const judge = (
  rows: ReadonlyArray<Row>,
  grown: ReadonlyArray<Row>
): ReadonlyArray<Target> => {
  const figureOf = (
    of: (window: Window) => number | null,
    name: string,
    subject: string,
    among = rows
  ): number | null => {
    const row = among.find((one) => one.case === name && one.subject === subject)
    return row === undefined ? null : of(row.median)
  }
  const rate = (window: Window) => window.perSecond
  const p50 = (window: Window) => window.p50
  const p99 = (window: Window) => window.p99

  const target = (
    promise: string,
    is: Target["is"],
    bound: number,
    figure: number | null
  ): ReadonlyArray<Target> =>
    figure === null || Number.isNaN(figure)
      ? []
      : [{ promise, is, bound, figure, met: is === "below" ? figure < bound : figure >= bound }]
  const ratio = (left: number | null, right: number | null): number | null =>
    left === null || right === null ? null : left / right
  const rates = (name: string, other: string) =>
    ratio(figureOf(rate, name, "ours"), figureOf(rate, name, other))
  /** Added milliseconds, as a share of what the other adds. */
  const added = (name: string, other: string): number | null => {
    const direct = figureOf(p50, name, "direct")
    const [mine, theirs] = [figureOf(p50, name, "ours"), figureOf(p50, name, other)]
    return direct === null || mine === null || theirs === null
      ? null
      : (mine - direct) / (theirs - direct)
  }

  const ofGrowth = [...new Set(grown.map((row) => row.case))].flatMap((name) => {
    const among = grown.filter((row) => row.case === name)
    const suffixes = among
      .filter(({ subject }) => subject.startsWith("full"))
      .map(({ subject }) => subject.slice("full".length))
    return suffixes.flatMap((suffix) => {
      const [full, empty] = [`full${suffix}`, `empty${suffix}`]
      const [of, left, right] = name.startsWith("cold")
        ? [p50, empty, full]
        : name === "lag"
          ? [p99, empty, full]
          : [rate, full, empty]
      return target(
        `growth: ${name}${suffix}, the full database's pace to the empty one's`,
        "at least",
        0.85,
        ratio(figureOf(of, name, left, among), figureOf(of, name, right, among))
      )
    })
  })

  return [
    ...target("image rate to portkey's", "at least", 6, rates("image", "portkey")),
    ...target("image rate to the bare proxy's", "at least", 0.4, rates("image", "bare")),
    ...target(
      "image alone: latency added to portkey's",
      "below",
      1,
      added("image-alone", "portkey")
    ),
    ...target("4 MB image rate to portkey's", "at least", 4, rates("image-4mb", "portkey")),
    ...target(
      "4 MB images: our peak in MB",
      "below",
      500,
      figureOf((window) => window.peakMegabytes, "image-4mb", "ours")
    ),
    ...target(
      "streamed chat alone: first byte added to portkey's",
      "below",
      1,
      added("chat-stream-alone", "portkey")
    ),
    ...target(
      "video create rate to the bare proxy's",
      "at least",
      0.35,
      rates("video-create", "bare")
    ),
    ...target(
      "finished video rate to the bare proxy's",
      "at least",
      0.7,
      rates("video-finished", "bare")
    ),
    ...target(
      "1,000 callers: 1 organisation to 64",
      "at least",
      0.8,
      ratio(
        figureOf(rate, "hot", "ours 1 organisation"),
        figureOf(rate, "hot", "ours 64 organisations")
      )
    ),
    ...target(
      "completion lag p99: many open to few",
      "below",
      2,
      ratio(figureOf(p99, "lag", "ours many open"), figureOf(p99, "lag", "ours few open"))
    ),
    ...ofGrowth
  ]
}
