/** Simulated worlds. SIMULATED_SEEDS sets how many, SIMULATED_FIRST the first seed. */
import { assert, describe, it } from "@effect/vitest"
import type { Result } from "../../scripts/simulation/protocol.ts"
import { simulate } from "../../scripts/simulation/simulate.ts"

const SEEDS = Number(process.env.SIMULATED_SEEDS ?? 12)
const FIRST = Number(process.env.SIMULATED_FIRST ?? 1)
const PROCESSES = 2

/** Rules for which few worlds have a case. */
const rareRules: ReadonlySet<string> = new Set([
  "R2 who was refused for money or a key caused no job",
  "C1 a cancel is answered with the end; one that is done costs nothing",
  "C2 what was released as cancelled was cancelled, or never made",
  "C4 nothing is both cancelled and charged"
])

const results: Array<Result> = []

describe("simulated worlds", () => {
  it(`break no rule, and go the same way twice (seeds from ${FIRST})`, async () => {
    await simulate({
      first: FIRST,
      count: SEEDS,
      processes: PROCESSES,
      isYear: false,
      isTwice: true,
      isShrinking: true,
      untilMillis: null,
      without: [],
      logPath: null,
      onResult: (result) => {
        results.push(result)
        return result.violations.length === 0
      }
    })
    const broken = results.filter(({ violations }) => violations.length > 0)
    assert.deepStrictEqual(
      broken.map(({ command, violations }) => [command, ...violations]),
      []
    )
    assert.lengthOf(results, SEEDS)
    // A rule that was never checked proves nothing.
    const rules = Object.keys(results[0]?.checked ?? {}).filter((rule) => !rareRules.has(rule))
    const isUnused = (rule: string) => results.every(({ checked }) => checked[rule] === 0)
    assert.isAbove(rules.length, 30)
    assert.deepStrictEqual(rules.filter(isUnused), [])
    const sum = (count: (result: Result) => number) =>
      results.reduce((total, result) => total + count(result), 0)
    assert.isAbove(
      sum(({ orders }) => orders),
      SEEDS
    )
    assert.isAbove(
      sum(({ faults }) => faults),
      SEEDS
    )
  })
})
