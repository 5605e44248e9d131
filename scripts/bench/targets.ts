/** The targets that the figures must meet, as ratios of medians of one run. */
import type { Figure, Row } from "./measure/window.ts"

export interface Target {
  readonly promise: string
  readonly is: "at least" | "at most" | "below"
  readonly bound: number
  readonly figure: number
  readonly met: boolean
}

const figureOf = (
  rows: ReadonlyArray<Row>,
  figure: Figure,
  name: string,
  subject: string
): number | null => {
  const row = rows.find((one) => one.case === name && one.subject === subject)
  return row === undefined ? null : row.median[figure]
}

const ratio = (left: number | null, right: number | null): number | null =>
  left === null || right === null ? null : left / right

/** A target and whether it is met; empty where its figure was not measured. */
const target = (
  promise: string,
  is: Target["is"],
  bound: number,
  figure: number | null
): ReadonlyArray<Target> => {
  if (figure === null || Number.isNaN(figure)) return []
  const met = { "at least": figure >= bound, "at most": figure <= bound, below: figure < bound }
  return [{ promise, is, bound, figure, met: met[is] }]
}

const growthTargets = (grown: ReadonlyArray<Row>): ReadonlyArray<Target> =>
  grown
    .filter(({ subject }) => subject.startsWith("full"))
    .flatMap(({ case: name, subject }) => {
      const empty = subject.replace("full", "empty")
      const [figure, left, right]: readonly [Figure, string, string] = name.startsWith("cold")
        ? ["p50", empty, subject]
        : name === "lag"
          ? ["p99", empty, subject]
          : ["perSecond", subject, empty]
      return target(
        `growth: ${name}${subject.slice("full".length)}, the full database's pace to the empty one's`,
        "at least",
        0.9,
        ratio(figureOf(grown, figure, name, left), figureOf(grown, figure, name, right))
      )
    })

export const judge = (
  rows: ReadonlyArray<Row>,
  grown: ReadonlyArray<Row>
): ReadonlyArray<Target> => {
  const ours = (figure: Figure, name: string, other: string): number | null =>
    ratio(figureOf(rows, figure, name, "ours"), figureOf(rows, figure, name, other))
  const compared = rows.find(({ subject }) => subject.startsWith("ours at "))?.subject ?? ""

  return [
    ...target("image rate to durable's", "at least", 0.42, ours("perSecond", "image", "durable")),
    ...target("image rate to portkey's", "at least", 1.6, ours("perSecond", "image", "portkey")),
    ...target(
      "image alone: median latency to durable's",
      "below",
      2.2,
      ours("p50", "image-alone", "durable")
    ),
    ...target(
      "image: bytes of write-ahead log",
      "at most",
      1500,
      figureOf(rows, "logBytes", "image", "ours")
    ),
    ...target(
      "image: PostgreSQL's processor time to the compared revision's",
      "at most",
      0.5,
      ours("postgresMillis", "image", compared)
    ),
    ...target(
      "image: gateway's processor time to the compared revision's",
      "at most",
      0.65,
      ours("subjectMillis", "image", compared)
    ),
    ...target(
      "video create rate to durable's, with hold and acceptance committed",
      "at least",
      0.42,
      ours("perSecond", "video-create", "durable")
    ),
    ...target("chat rate to portkey's", "at least", 1.5, ours("perSecond", "chat", "portkey")),
    ...target(
      "streamed chat rate to portkey's",
      "at least",
      0.8,
      ours("perSecond", "chat-stream", "portkey")
    ),
    ...target(
      "64 organisations of one caller to one of 64 callers",
      "at least",
      0.8,
      ratio(
        figureOf(rows, "perSecond", "spread", "ours 64 organisations"),
        figureOf(rows, "perSecond", "spread", "ours 1 organisation")
      )
    ),
    ...target(
      "images by a key with two budgets to those by one without",
      "at least",
      0.95,
      ratio(
        figureOf(rows, "perSecond", "budgets", "ours 2 budgets"),
        figureOf(rows, "perSecond", "budgets", "ours no budget")
      )
    ),
    ...target(
      "running video: rate of GET to the bare proxy's",
      "at least",
      0.6,
      ours("perSecond", "video-running", "bare")
    ),
    ...target(
      "4 MB image rate to portkey's",
      "at least",
      8,
      ours("perSecond", "image-4mb", "portkey")
    ),
    ...target(
      "4 MB images: our peak in MB",
      "below",
      400,
      figureOf(rows, "peakMegabytes", "image-4mb", "ours")
    ),
    ...target(
      "completion lag p99: many open to few",
      "below",
      1.3,
      ratio(
        figureOf(rows, "p99", "lag", "ours many open"),
        figureOf(rows, "p99", "lag", "ours few open")
      )
    ),
    ...target(
      "two gateways on one port to one, 256 connections",
      "at least",
      1.2,
      ratio(
        figureOf(rows, "perSecond", "shared-port", "2 gateways"),
        figureOf(rows, "perSecond", "shared-port", "1 gateway")
      )
    ),
    ...growthTargets(grown)
  ]
}
