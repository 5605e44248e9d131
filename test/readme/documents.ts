/** The READMEs of the repository, as the tests of this folder read them. */
import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { imports as sourceImports } from "../support/sources.ts"

export const root = join(import.meta.dirname, "..", "..")

const readmesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.split(sep).at(-1) === "README.md")
    .map((name) => [folder, ...name.split(sep)].join("/"))

/** Their paths from the root. */
export const readmes: ReadonlyArray<string> = [
  "README.md",
  ...["src", "test", "scripts"].flatMap(readmesIn)
]

export const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** Every block of code in a language, by its file, its language and its place among the file's. */
export const examples: ReadonlyMap<string, string> = new Map(
  readmes.flatMap((file) => {
    const counts = new Map<string, number>()
    return [...read(file).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
      ([, language = "", code = ""]) => {
        const place = (counts.get(language) ?? 0) + 1
        counts.set(language, place)
        return [`${file} ${language} ${place}`, code] as const
      }
    )
  })
)

export const example = (name: string): string => {
  const code = examples.get(name)
  if (code === undefined) throw new Error(`there is no example ${name}`)
  return code
}

/** What stands between the marks `begin NAME` and `end NAME`. */
export const marked = (file: string, name: string): string => {
  const found = new RegExp(`<!-- begin ${name} -->\n([\\s\\S]*?)<!-- end ${name} -->`).exec(
    read(file)
  )
  if (found?.[1] === undefined) throw new Error(`${file} has no marks of ${name}`)
  return found[1]
}

/** Cells of the rows of a table in Markdown, without its head. */
export const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
    )

/** Texts in backquotes. */
export const quoted = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)

/** Our own files that each of our files imports, all from the root. */
export const imports: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  [...sourceImports].map(([file, targets]) => [
    `src/${file}`,
    targets.map((target) => `src/${target}`)
  ])
)
