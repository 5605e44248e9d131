/** The sources of the gateway, and what they import. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"

const root = join(import.meta.dirname, "..", "..", "src")

export const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => name.split(sep).join("/"))
  .sort()

export const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]))

/** Static, re-exported, bare and dynamic imports. */
const importPattern =
  /^(?:import|export)\s[^"';]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\s*\(\s*"([^"]+)"/gm

const matchesOf = (file: string) => [...(sources.get(file) ?? "").matchAll(importPattern)]

const specifierOf = (match: RegExpExecArray): ReadonlyArray<string> =>
  match.slice(1).filter((group) => group !== undefined)

export const specifiersOf = (file: string): ReadonlyArray<string> =>
  matchesOf(file).flatMap(specifierOf)

const pathsOf = (file: string, specifiers: ReadonlyArray<string>): ReadonlyArray<string> =>
  specifiers
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) =>
      relative(root, join(root, dirname(file), specifier))
        .split(sep)
        .join("/")
    )

/** Our own files a file imports, as paths inside src. */
export const importsOf = (file: string): ReadonlyArray<string> => pathsOf(file, specifiersOf(file))

/** Those of them that are loaded with it: what is imported for its types alone is not. */
export const loadedBy = (file: string): ReadonlyArray<string> =>
  pathsOf(
    file,
    matchesOf(file)
      .filter(([statement]) => !statement.startsWith("import type"))
      .flatMap(specifierOf)
  )

export const imports = new Map(files.map((file) => [file, importsOf(file)]))

/** Arguments for a Node.js in which `media-gateway/...` is what stands in the sources. */
export const byItsName = ["--import", new URL("ownName.ts", import.meta.url).href]
