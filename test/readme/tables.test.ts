import { assert, describe, it } from "@effect/vitest"
import { generated, withTable } from "../../scripts/readmeTables.ts"
import { marked, read, rowsOf } from "./documents.ts"

describe.each(generated)("the table of $name in $file", (table) => {
  it("is the one that `npm run readme` writes", () => {
    assert.strictEqual(read(table.file), withTable(table))
  })
})

it("the table of variables has every variable named in the sources", () => {
  const sources = ["config.ts", "secrets.ts"].map((file) => read(`src/${file}`)).join("\n")
  const named = new Set(sources.match(/"(?:GATEWAY_\w+|HOST|PORT|DATA\w+)"/g) ?? [])
  assert.isAtLeast(named.size, 20)
  const listed = new Set(
    rowsOf(marked("src/operations/README.md", "variables")).map(([name = ""]) => name)
  )
  assert.deepStrictEqual(
    [...named].filter((name) => !listed.has(`\`${name.slice(1, -1)}\``)),
    []
  )
})
