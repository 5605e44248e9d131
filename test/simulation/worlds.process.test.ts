/** Simulated worlds. SIMULATED_SEEDS sets how many, SIMULATED_FIRST the first seed. */
import { assert, describe, it } from "@effect/vitest"
import type { Result } from "../../scripts/simulation/protocol.ts"
import { simulate } from "../../scripts/simulation/simulate.ts"

const SEEDS = Number(process.env.SIMULATED_SEEDS ?? 10)
// The worlds from this one on check each rule.
const FIRST = Number(process.env.SIMULATED_FIRST ?? 195)
// The suite has other work for the other cores.
const PROCESSES = 1
/** A broken world is made smaller, which takes minutes. */
const limits = { timeout: 600_000 }

const results: Array<Result> = []

describe("simulated worlds", () => {
  it(`break no rule, and go the same way twice (seeds from ${FIRST})`, limits, async () => {
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
    const rules = new Set(results.flatMap(({ checked }) => Object.keys(checked)))
    const isUnused = (rule: string) => results.every(({ checked }) => (checked[rule] ?? 0) === 0)
    assert.isAbove(rules.size, 30)
    assert.deepStrictEqual([...rules].filter(isUnused), [])
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
