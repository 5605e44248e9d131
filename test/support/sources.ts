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

export const specifiersOf = (file: string): ReadonlyArray<string> =>
  [...(sources.get(file) ?? "").matchAll(importPattern)].flatMap((match) =>
    match.slice(1).filter((group) => group !== undefined)
  )

/** Our own files a file imports, as paths inside src. */
export const importsOf = (file: string): ReadonlyArray<string> =>
  specifiersOf(file)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) =>
      relative(root, join(root, dirname(file), specifier))
        .split(sep)
        .join("/")
    )

export const imports = new Map(files.map((file) => [file, importsOf(file)]))

/** Arguments for a Node.js in which `media-gateway/...` is what stands in the sources. */
export const byItsName = ["--import", new URL("ownName.ts", import.meta.url).href]
