/**
 * Measures what each step of an image order costs: starts one gateway for each step, which does
 * all work up to this step and answers, runs the same order on them in interleaved rounds, and
 * prints the processor time that each step adds, beside its budget. `--cases` selects steps.
 *
 *   npm run bench:ladder -- --rounds 5 --seconds 3
 */
import { fileURLToPath } from "node:url"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { imageCase } from "../cases/cases.ts"
import { runRounds } from "../cases/rounds.ts"
import { placeProcesses } from "../measure/machine.ts"
import type { Row } from "../measure/window.ts"
import { readOptions } from "../options.ts"
import { renderTable } from "../report.ts"
import { startOurs } from "../subjects/ours.ts"
import { openServer } from "../subjects/server.ts"
import { type Subject, signal } from "../subjects/subject.ts"
import { startVendor } from "../subjects/vendorControl.ts"
import type { World } from "../subjects/world.ts"
import { stepNames, steps } from "./steps.ts"

const entry = fileURLToPath(new URL("./gateway.ts", import.meta.url))

/** The processor time of each step in microseconds, and what it adds to the step before. */
const render = (rows: ReadonlyArray<Row>): string => {
  let before = 0
  const lines = stepNames.flatMap((step) => {
    const row = rows.find(({ subject }) => subject === step)
    if (row === undefined) return []
    const { does, budget } = steps[step]
    const sum = row.median.subjectMillis * 1000
    const adds = sum - before
    before = sum
    return [[step, does, ...[adds, budget, sum].map((micros) => micros.toFixed(0))]]
  })
  return renderTable([["step", "does", "adds", "budget", "sum"], ...lines])
}

const program = Effect.gen(function* () {
  const options = readOptions(process.argv.slice(2))
  const placement = yield* Effect.promise(() => placeProcesses(options.pinned))
  const server = yield* openServer(options.database)
  const world: World = { options, placement, server, vendor: yield* startVendor }
  const wanted = stepNames.filter((step) => options.cases?.has(step) ?? true)
  const subjects = yield* Effect.forEach(wanted, (step) =>
    Effect.gen(function* () {
      const asked = { name: step, entry, env: { LADDER_STEP: step } }
      const subject: Subject = yield* startOurs(world, asked)
      yield* signal(subject, "SIGSTOP")
      // Only a gateway with the real ledger charges what it answers.
      return step === "ledger" ? subject : { ...subject, books: null }
    })
  )
  const rows = yield* runRounds(imageCase, subjects, world)
  yield* Console.log(`\n${render(rows)}\n\nprocessor time of the gateway in microseconds an image`)
})

NodeRuntime.runMain(Effect.scoped(program))
