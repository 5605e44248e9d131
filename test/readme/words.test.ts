/** What the READMEs point to is there: files, headings, scripts and variables. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { marked, quoted, read, readmes, root, rowsOf } from "./documents.ts"

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-")

const anchorsIn = (file: string): ReadonlyArray<string> =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading))

const scripts: object = JSON.parse(read("package.json")).scripts

const variables = new Set(
  rowsOf(marked("src/operations/README.md", "variables")).flatMap(([name = ""]) => quoted(name))
)
/** Of `npm run demo:walk`, and of the first calls. */
const othersVariables = ["GATEWAY_KEY", "GATEWAY_URL"]

describe.each(readmes)("%s", (file) => {
  const text = read(file)

  it("has links that lead somewhere", () => {
    const dead = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].flatMap(
      ([link, path = "", anchor]) => {
        const target = path === "" ? file : join(dirname(file), path)
        if (!existsSync(join(root, target))) return [link]
        return anchor === undefined || anchorsIn(target).includes(anchor) ? [] : [link]
      }
    )
    assert.deepStrictEqual(dead, [])
  })

  it("names files that exist", () => {
    const paths = quoted(text).filter((name) => /^(?:src|test|scripts)\/[\w./-]+$/.test(name))
    // Files that a recipe adds, and an example of a name.
    const made = /vp_g|\/X\./
    const missing = paths.filter((path) => !made.test(path) && !existsSync(join(root, path)))
    assert.deepStrictEqual(missing, [])
  })

  it("names scripts that exist", () => {
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name)
    assert.deepStrictEqual(
      named.filter((name) => !(name in scripts)),
      []
    )
  })

  it("names variables that are read", () => {
    const named = new Set(text.match(/\bGATEWAY_[A-Z_]+[A-Z]\b/g) ?? [])
    assert.deepStrictEqual(
      [...named].filter((name) => !variables.has(name) && !othersVariables.includes(name)),
      []
    )
  })
})

it("the warnings of npm on the oldest Node are explained while packages need a newer one", () => {
  const oldest = /needs Node (\d+) or newer/.exec(read("README.md"))?.[1]
  assert.strictEqual(oldest, "20")
  const needsNewer = /"node": ">=2[2-9]/.test(read("package-lock.json"))
  assert.strictEqual(read("README.md").includes("`EBADENGINE`"), needsNewer)
})

describe("the glossary", () => {
  const [, glossary = ""] = read("README.md").split(/^## Glossary$/m)
  const rows = rowsOf(glossary).map(([word = ""]) => word)

  it("explains every word that stands in italics", () => {
    const words = readmes.flatMap((file) =>
      [...read(file).matchAll(/(?<![*\w])\*([a-z ]+)\*(?![*\w])/g)].map(([, word = ""]) => word)
    )
    assert.isNotEmpty(words)
    const terms = rows.flatMap((row) => row.split(", "))
    assert.deepStrictEqual(
      words.filter((word) => !terms.includes(word)),
      []
    )
  })

  it("is in the order of the alphabet", () => {
    const compare = new Intl.Collator("en").compare
    assert.deepStrictEqual(rows, rows.toSorted(compare))
  })
})
