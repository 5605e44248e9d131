import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChaosOptions, defaultOptions } from "../../scripts/chaos/options.ts"
import { renderReport } from "../../scripts/chaos/report.ts"
import { runChaos } from "../../scripts/chaos/run.ts"
import { seedOfDay, shareOfDay } from "../support/day.ts"

const options: ChaosOptions = {
  ...defaultOptions,
  seed: String(seedOfDay),
  minutes: 0.25,
  clients: 6,
  rates: { kills: 18, stops: 3, pauses: 5, postgresKills: 5, terminations: 8, cuts: 12 },
  pace: { lease: 1, submitDeadline: 3, imageDeadline: 3, taskDeadline: 12, unknownGrace: 3 },
  // How fast a machine that does other things as well recovers is nothing to fail for.
  recoverySeconds: null
}

/** Simulated worlds judge the same rules each day, so that this run has its turn every third day. */
const isDue = shareOfDay([options], 3).length > 0

it.live.runIf(isDue)(
  `money stays right while gateways and database are killed (seed ${options.seed})`,
  () =>
    Effect.gen(function* () {
      const report = yield* runChaos(options)
      assert.strictEqual(report.violations.length, 0, renderReport(report))
      // Simulated worlds have a case of each rule; a run as short as this one has the commonest.
      const isUsed = (rule: string) =>
        report.verdicts.some((one) => one.rule.includes(rule) && one.checked > 0)
      assert.isTrue(isUsed("every video job has its task"))
      assert.isTrue(isUsed("every ended task was told"))
    }),
  180_000
)
