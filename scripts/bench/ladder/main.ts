/**
 * Measures what each step of an image order costs: starts one gateway for each step, which does
 * all work up to this step and answers, runs the same order on them and on a bare proxy in
 * interleaved rounds, and prints the processor time that each step adds, in microseconds and in that
 * of the bare proxy, beside its budget. `--cases` selects steps.
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
import { startPeer } from "../subjects/peers/peers.ts"
import { openServer } from "../subjects/server.ts"
import { signal } from "../subjects/subject.ts"
import { startVendor } from "../subjects/vendorControl.ts"
import { BenchFailed, type World } from "../subjects/world.ts"
import { stepNames, steps } from "./steps.ts"

const entry = fileURLToPath(new URL("./gateway.ts", import.meta.url))

const microsOf = ({ median: { subjectMillis } }: Row): number => subjectMillis * 1000

/** What each step adds to the step before, and the sum. */
const render = (rows: ReadonlyArray<Row>, bareMicros: number): string => {
  let before = 0
  const lines = stepNames.flatMap((step) => {
    const row = rows.find(({ subject }) => subject === step)
    if (row === undefined) return []
    const { does, budget } = steps[step]
    const sum = microsOf(row)
    const adds = sum - before
    before = sum
    const ratio = (adds / bareMicros).toFixed(1)
    return [[step, does, adds.toFixed(0), ratio, budget.toFixed(1), sum.toFixed(0)]]
  })
  return renderTable([["step", "does", "adds", "of bare", "budget", "sum"], ...lines])
}

const program = Effect.gen(function* () {
  const options = readOptions(process.argv.slice(2))
  const placement = yield* Effect.promise(() => placeProcesses(options.pinned))
  const server = yield* openServer(options.database)
  const world: World = { options, placement, server, vendor: yield* startVendor }
  const wanted = stepNames.filter((step) => options.cases?.has(step) ?? true)
  const started = yield* Effect.forEach(wanted, (step) =>
    startOurs(world, { name: step, entry, env: { LADDER_STEP: step } })
  )
  yield* Effect.forEach(started, (subject) => signal(subject, "SIGSTOP"))
  // Only a gateway with the real ledger charges what it answers.
  const early = started.filter(({ name }) => name !== "ledger")
  const subjects = started.map((subject) =>
    early.includes(subject) ? { ...subject, books: null } : subject
  )
  const bare = yield* startPeer("bare", world, true)
  yield* signal(bare, "SIGSTOP")
  const rows = yield* runRounds(imageCase, [...subjects, bare], world)
  for (const { name, books } of early) {
    if ((yield* books.charges) > 0) {
      return yield* new BenchFailed({ message: `${name}: its gateway does more than this step` })
    }
  }
  const bareMicros =
    rows.filter(({ subject }) => subject === bare.name).map(microsOf)[0] ?? Number.NaN
  yield* Console.log(
    `\n${render(rows, bareMicros)}\n\nprocessor time in microseconds an image; a bare proxy takes ${bareMicros.toFixed(0)}`
  )
})

NodeRuntime.runMain(Effect.scoped(program))
