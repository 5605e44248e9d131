import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { latestMigration, migrationNames } from "../../src/postgres/migrations/index.ts"

const numbers = migrationNames.map((name) => Number.parseInt(name, 10))
/** Those that databases have run; 14 was left out. */
const run = [...Array.from({ length: 13 }, (_, index) => index + 1), 15]

describe("migrations", () => {
  it("that databases have run keep their numbers, and none is put between them", () => {
    assert.deepStrictEqual(numbers.slice(0, run.length), run)
    assert.notInclude(numbers, 14)
  })

  it("that are new have numbers above all others, which no database skips", () => {
    const ascending = [...new Set(numbers)].toSorted((one, other) => one - other)
    assert.deepStrictEqual(numbers, ascending)
    assert.strictEqual(latestMigration, numbers.at(-1))
  })

  it("are all run: every file of theirs is listed under its name", () => {
    const files = readdirSync(new URL("../../src/postgres/migrations", import.meta.url))
      .filter((file) => /^\d/.test(file))
      .map((file) => file.replace(/\.ts$/, ""))
    assert.deepStrictEqual(files.toSorted(), migrationNames.toSorted())
  })
})
