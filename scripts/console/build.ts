/**
 * Builds the console into `dist/console` with a compressed copy of each file, and prints the size
 * of the scripts that its first page loads. With `--if-changed`, builds only if the sources differ
 * from those of the last build.
 */
import { createHash } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { brotliCompressSync, constants } from "node:zlib"
import { build } from "vite"
import { CONSOLE_FILES } from "./viteConfig.ts"

const root = join(import.meta.dirname, "..", "..")
/** The sources that the build includes. */
const sources = ["console", "client", "contract", "http/api", "features", "domain", "services"].map(
  (room) => `src/${room}`
)
const others = [
  "src/runtime/texts/csvText.ts",
  "package-lock.json",
  "scripts/console/build.ts",
  "scripts/console/viteConfig.ts"
]
const BUILT_FROM = join(CONSOLE_FILES, ".built-from")

/** The maximum size of the compressed scripts of the first page, in bytes. */
export const MAX_FIRST_SCRIPT = 372_000

const digestOfSources = async (): Promise<string> => {
  const files = await Promise.all(
    sources.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    )
  )
  const digest = createHash("sha256")
  for (const file of [...files.flat().sort(), ...others.map((name) => join(root, name))]) {
    digest.update(file.slice(root.length)).update(await readFile(file))
  }
  return digest.digest("hex")
}

const compressible = new Set([".js", ".css", ".html", ".svg", ".json"])
const QUALITY = 11

/**
 * The size of each file in bytes, compressed where compression helps. The compressed file is stored
 * next to the original.
 */
const compressAll = async (): Promise<ReadonlyMap<string, number>> => {
  const entries = await readdir(CONSOLE_FILES, { recursive: true, withFileTypes: true })
  const sizes = new Map<string, number>()
  for (const entry of entries.filter(
    (one) => one.isFile() && compressible.has(extname(one.name))
  )) {
    const path = join(entry.parentPath, entry.name)
    const packed = brotliCompressSync(await readFile(path), {
      params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY }
    })
    await writeFile(`${path}.br`, packed)
    sizes.set(path.slice(CONSOLE_FILES.length + 1), packed.length)
  }
  return sizes
}

/** The scripts that the HTML page itself names: the browser loads them before it shows anything. */
const firstScripts = async (): Promise<ReadonlyArray<string>> => {
  const page = await readFile(join(CONSOLE_FILES, "index.html"), "utf8")
  return [...page.matchAll(/(?:src|href)="\/console\/([^"]+\.js)"/g)].map(([, path]) => path ?? "")
}

const buildConsole = async (ifChanged: boolean): Promise<void> => {
  const digest = await digestOfSources()
  const last = await readFile(BUILT_FROM, "utf8").catch(() => null)
  if (ifChanged && last === digest) return
  console.log("building the console ...")
  // React omits its slow development code only with this setting.
  process.env.NODE_ENV = "production"
  await build({ configFile: join(import.meta.dirname, "viteConfig.ts"), logLevel: "warn" })
  const sizes = await compressAll()
  const first = (await firstScripts()).reduce((sum, path) => sum + (sizes.get(path) ?? 0), 0)
  console.log(`the console's first page loads ${Math.round(first / 1000)} kB of script, compressed`)
  if (first > MAX_FIRST_SCRIPT) {
    throw new Error(`the console's first page may load ${MAX_FIRST_SCRIPT} bytes of script at most`)
  }
  await writeFile(BUILT_FROM, digest)
}

if (import.meta.main) await buildConsole(process.argv.includes("--if-changed"))
