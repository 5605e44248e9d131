/**
 * Mutation test: changes the sources in one place at a time, in a copy of the working tree. By
 * default, the ledger's tests run on each mutant of the ledger's SQL; with `--by simulation`, the
 * simulation runs on these and on mistakes in orders, polling, webhooks, idempotency, cancelling
 * and the queue; `--of ledger` and `--of mistakes` take one of the two lists. A mutant that is not detected is printed as alive, and the run fails. `--only`
 * takes parts of mutants' names.
 *
 *   npm run mutants
 *   npm run mutants -- --only correction --only budget
 *   npm run mutants -- --by simulation --seeds 400
 */
import { parseArgs } from "node:util"
import { runBySimulation } from "./bySimulation.ts"
import { runByTests } from "./byTests.ts"
import { ledgerMutants } from "./ledger.ts"
import { mistakes } from "./mistakes.ts"
import type { Mutant } from "./mutant.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    by: { type: "string", default: "tests" },
    of: { type: "string", default: "all" },
    seeds: { type: "string", default: "400" }
  }
})
const { by, of, only } = values
if (by !== "tests" && by !== "simulation") {
  throw new Error(`--by: Expected tests or simulation, got ${JSON.stringify(by)}`)
}
const seeds = Number(values.seeds)
if (!Number.isSafeInteger(seeds) || seeds < 1) {
  throw new Error(`--seeds: Expected a number above 0, got ${JSON.stringify(values.seeds)}`)
}

const listOf = (name: string): ReadonlyArray<Mutant> => {
  switch (name) {
    case "all":
      return [...ledgerMutants, ...mistakes]
    case "ledger":
      return ledgerMutants
    case "mistakes":
      return mistakes
    default:
      throw new Error(`--of: Expected all, ledger or mistakes, got ${JSON.stringify(name)}`)
  }
}

const chosen = (mutants: ReadonlyArray<Mutant>) =>
  mutants.filter(({ name }) => only.some((part) => name.includes(part)))

const areAllKilled =
  by === "tests"
    ? await runByTests(chosen(ledgerMutants))
    : await runBySimulation(chosen(listOf(of)), seeds)
process.exitCode = areAllKilled ? 0 : 1
