/** The benchmark in its smallest form, so that it still runs when somebody needs its figures. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { inject } from "vitest"
import { median, quantile, Samples } from "../../scripts/bench/stats.ts"
import { judge } from "../../scripts/bench/targets.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { startProcess } from "../support/processes.ts"

const entry = fileURLToPath(new URL("../../scripts/bench/main.ts", import.meta.url))

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
      const bench = yield* startProcess({
        entry,
        args: [
          ...["--rounds", "1", "--seconds", "1", "--cases", "image", "--subjects", "ours,bare"],
          ...["--database", inject("postgresUrl"), "--unpinned", "--json", json]
        ]
      })
      const { code } = yield* bench.end
      assert.strictEqual(code, 0, bench.stderr())
      const report = yield* Schema.decodeUnknownEffect(Report)(readFileSync(json, "utf8"))
      assert.deepStrictEqual(
        report.rows.map((row) => `${row.case} ${row.subject}`),
        ["image ours", "image bare"]
      )
      for (const row of report.rows) assert.isAbove(row.median.perSecond, 0)
      assert.deepStrictEqual(
        report.targets.map(({ promise }) => promise),
        ["image rate to the bare proxy's"]
      )
      assert.include(bench.stdout(), "image rate to the bare proxy's")
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
    const row = (name: string, subject: string, perSecond: number, p50: number) => ({
      case: name,
      subject,
      rounds: [],
      median: { perSecond, p50, p99: p50, peakMegabytes: null, core: null }
    })
    const rows = (ours: number) => [
      row("image", "ours", ours, 1),
      row("image", "portkey", 100, 1),
      row("image-alone", "direct", 1, 1),
      row("image-alone", "ours", 1, 3),
      row("image-alone", "portkey", 1, 2)
    ]
    const found = (ours: number) =>
      judge(rows(ours), []).map(({ figure, met }) => [figure, met] as const)
    assert.deepStrictEqual(found(600), [
      [6, true],
      [2, false]
    ])
    assert.deepStrictEqual(found(599)[0], [5.99, false])
  })
})
