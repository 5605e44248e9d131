/** Runs the ledger's tests on each mutant of the ledger. */
import { join } from "node:path"
import { root, runIn, withCopy, withMutant } from "./copies.ts"
import type { Mutant } from "./mutant.ts"

/** Whether the ledger's tests pass in the copy. */
const testsPass = async (copy: string): Promise<boolean> => {
  const { succeeded } = await runIn(copy, process.execPath, [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--bail=1",
    "test/contract/Ledger",
    "test/contract/Stores",
    "test/contract/TaskRepo",
    "test/postgres/ledger",
    "test/postgres/money"
  ])
  return succeeded
}

/** Prints whether the tests detect each mutant; returns whether they detect all. */
export const runByTests = async (mutants: ReadonlyArray<Mutant>): Promise<boolean> => {
  let alive = 0
  await withCopy(async (copy) => {
    if (!(await testsPass(copy))) throw new Error("the tests fail without any mutant")
    for (const [index, mutant] of mutants.entries()) {
      const survived = await withMutant(copy, mutant, () => testsPass(copy))
      if (survived) alive++
      const number = String(index + 1).padStart(2)
      console.log(`${number}  ${survived ? "ALIVE " : "killed"}  ${mutant.name}`)
    }
    console.log(`${mutants.length - alive} of ${mutants.length} killed`)
  })
  return alive === 0
}
