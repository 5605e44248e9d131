/** The lists of mutants fit the sources as they are now. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ledgerMutants } from "../../scripts/mutants/ledger.ts"
import { mistakes } from "../../scripts/mutants/mistakes.ts"
import { mutate } from "../../scripts/mutants/mutant.ts"

const root = join(import.meta.dirname, "..", "..")
const mutants = [...ledgerMutants, ...mistakes]

describe("mutants", () => {
  it("change one place of a file, which occurs once", () => {
    const files = [...new Set(mutants.map(({ file }) => file))]
    const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))
    const unfit = mutants.flatMap((mutant) => {
      const text = texts.get(mutant.file) ?? ""
      const hits = text.split(mutant.place).length - 1
      if (hits !== 1) return [`${mutant.name}: its place occurs ${hits} times in ${mutant.file}`]
      return mutate(mutant, text) === text ? [`${mutant.name}: changes nothing`] : []
    })
    assert.deepStrictEqual(unfit, [])
  })

  it("have names of their own", () => {
    const names = mutants.map(({ name }) => name)
    const repeated = names.filter((name, index) => names.indexOf(name) !== index)
    assert.deepStrictEqual(repeated, [])
  })
})
