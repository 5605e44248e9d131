/** The benchmark in its smallest form, so that it still runs when somebody needs its figures. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { inject } from "vitest"
import { median, quantile, Samples } from "../../scripts/bench/measure/stats.ts"
import { rowOf, windowOf } from "../../scripts/bench/measure/window.ts"
import { judge } from "../../scripts/bench/targets.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { startProcess } from "../support/processes.ts"

/** Runs a benchmark with little load, and answers what it printed. */
const runBench = Effect.fnUntraced(function* (file: string, ...args: ReadonlyArray<string>) {
  const bench = yield* startProcess({
    entry: fileURLToPath(new URL(`../../scripts/bench/${file}`, import.meta.url)),
    args: [
      ...["--rounds", "1", "--seconds", "1", "--warm-up-requests", "200", "--unpinned"],
      ...["--database", inject("postgresUrl")],
      ...args
    ]
  })
  const { code } = yield* bench.end
  assert.strictEqual(code, 0, bench.stderr())
  return bench.stdout()
})

const Report = Schema.fromJsonString(
  Schema.Struct({
    violations: Schema.Tuple([]),
    rows: Schema.Array(
      Schema.Struct({
        case: Schema.String,
        subject: Schema.String,
        median: Schema.Struct({ perSecond: Schema.Finite, p50: Schema.Finite, p99: Schema.Finite })
      })
    ),
    targets: Schema.Array(Schema.Struct({ promise: Schema.String, figure: Schema.Finite }))
  })
)

describe("the benchmark", () => {
  it.effect("measures a case on our gateway, whose books prove it, and on a bare proxy", () =>
    Effect.gen(function* () {
      const json = join(yield* temporaryDataDir(), "figures.json")
      const asked = ["--cases", "image", "--subjects", "ours,bare", "--json", json]
      const printed = yield* runBench("main.ts", ...asked)
      const report = yield* Schema.decodeUnknownEffect(Report)(readFileSync(json, "utf8"))
      assert.deepStrictEqual(
        report.rows.map((row) => `${row.case} ${row.subject}`),
        ["image ours", "image bare"]
      )
      for (const row of report.rows) assert.isAbove(row.median.perSecond, 0)
      assert.deepStrictEqual(
        report.targets.map(({ promise }) => promise),
        ["image: bytes of write-ahead log"]
      )
      assert.include(printed, "image: bytes of write-ahead log")
    })
  )
})

describe("the ladder", () => {
  it.effect("prints what each step adds, and only the last step charges", () =>
    Effect.gen(function* () {
      const printed = yield* runBench("ladder/main.ts", "--cases", "access,ledger")
      const lines = printed.split("\n").map((line) => line.trim().split(/ {2,}/))
      const sums = ["access", "ledger"].map((step) =>
        Number(lines.find(([name]) => name === step)?.at(-1))
      )
      for (const sum of sums) assert.isAbove(sum, 0)
    })
  )
})

describe("the benchmark's figures", () => {
  it("are medians and quantiles of what was measured", () => {
    const samples = new Samples()
    const values = Array.from({ length: 40_000 }, (_, index) => (index * 7919) % 40_000)
    for (const value of values) samples.add(value)
    assert.strictEqual(samples.count, 40_000)
    assert.strictEqual(quantile(samples.sorted(), 0.99), 39_600)
    assert.strictEqual(median([5, 1, 3]), 3)
    assert.isNaN(median([]))
  })

  it("meet a target on its side of the bound only", () => {
    const row = (name: string, subject: string, perSecond: number, p50: number) =>
      rowOf(name, subject, [windowOf({ perSecond, p50, logBytes: 1500, subjectMillis: 1 })])
    const rows = (ours: number) => [
      row("image", "ours", ours, 1),
      row("image", "ours at 03ddaf7", 100, 1),
      row("image", "durable", 1000, 1),
      row("image-alone", "ours", 1, 2.2),
      row("image-alone", "durable", 1, 1)
    ]
    const found = (ours: number) =>
      judge(rows(ours), []).map(({ is, figure, met }) => [is, figure, met] as const)
    assert.deepStrictEqual(found(420), [
      ["at least", 0.42, true],
      ["below", 2.2, false],
      ["at most", 1500, true],
      ["at most", 1, false]
    ])
    assert.deepStrictEqual(found(419)[0], ["at least", 0.419, false])
  })

  it("are compared between a full and an empty database by rate, or by time where that is what counts", () => {
    const grown = [
      rowOf("image", "empty", [windowOf({ perSecond: 100 })]),
      rowOf("image", "full", [windowOf({ perSecond: 90 })]),
      rowOf("cold-image", "empty", [windowOf({ p50: 80 })]),
      rowOf("cold-image", "full", [windowOf({ p50: 100 })])
    ]
    assert.deepStrictEqual(
      judge([], grown).map(({ figure, met }) => [figure, met]),
      [
        [0.9, true],
        [0.8, false]
      ]
    )
  })

  it("of several rounds are medians of what was told, and the most memory", () => {
    const { median } = rowOf("image", "ours", [
      windowOf({ peakMegabytes: 3, p99: 3 }),
      windowOf({ peakMegabytes: 1, p99: 1 }),
      windowOf({ peakMegabytes: 2, p99: 2, logBytes: 7 })
    ])
    assert.deepStrictEqual(median, windowOf({ peakMegabytes: 3, p99: 2, logBytes: 7 }))
  })
})
