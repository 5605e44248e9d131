/** A promise in `test/README.md` has tests that exist, and a long form that can be run. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { quoted, read, root, rowsOf } from "./documents.ts"

const table = /^\| promise \|[\s\S]*?(?=\n\n)/m.exec(read("test/README.md"))?.[0] ?? ""
const promises = rowsOf(table).map(([promise = "", tests = "", long = ""]) => ({
  promise,
  paths: quoted(tests),
  long: quoted(long)
}))

/** The sources of a test: of a file, or of all files of a folder. */
const sourceOf = (path: string): string =>
  path.endsWith("/")
    ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => read(`${path}${name}`))
        .join("\n")
    : read(path)

describe("the promises", () => {
  it("are found, each with a test or a run of its own", () => {
    assert.isAtLeast(promises.length, 30)
    assert.deepStrictEqual(
      promises.filter(({ paths, long }) => paths.length + long.length === 0),
      []
    )
  })

  it("name tests that exist", () => {
    const missing = promises.flatMap(({ paths }) =>
      paths.filter((path) => !existsSync(join(root, path)))
    )
    assert.deepStrictEqual(missing, [])
  })

  it("name variables that their tests read", () => {
    const unread = promises.flatMap(({ paths, long }) =>
      long
        .filter((command) => !command.startsWith("npm "))
        .flatMap((command) => command.match(/\b[A-Z][A-Z_]+(?==)/g) ?? [command])
        .filter((name) => !paths.some((path) => sourceOf(path).includes(name)))
    )
    assert.deepStrictEqual(unread, [])
  })
})
