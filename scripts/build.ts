/**
 * Builds the files of the package: modules and types, the files that modules read from their own
 * folder, and the console. Writes to `--out DIR`, otherwise to `dist`; older files there are
 * removed first.
 */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { cp, mkdir, readdir, rm } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"

const root = join(import.meta.dirname, "..")
const BUILT = join(root, "dist")
const CONSOLE = "console"
const MEDIA = "src/simulator/media/sunset.mp4"
/** SQL files with tables and functions. The schema reads them from their features' folders. */
const SCHEMA = "src/{postgres/schema,features/*}/*.sql"

const node = (...args: ReadonlyArray<string>) =>
  execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" })

const removeAllButConsole = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => one !== CONSOLE)) {
    await rm(join(folder, name), { recursive: true })
  }
}

const copyAssets = async (folder: string): Promise<void> => {
  const scripts = globSync(SCHEMA, { cwd: root })
  for (const asset of [MEDIA, ...scripts]) {
    const target = join(folder, dirname(asset).slice("src/".length))
    await mkdir(target, { recursive: true })
    await cp(join(root, asset), join(target, basename(asset)))
  }
}

const { values } = parseArgs({ options: { out: { type: "string" } } })
const folder = resolve(values.out ?? BUILT)
await removeAllButConsole(folder)
// Only one type checker: with several, each would compute the types of Effect again, which is more
// than twice the work.
const compile = ["--project", "scripts/tsconfig.build.json", "--checkers", "1", "--outDir", folder]
node("node_modules/typescript/bin/tsc", ...compile)
await copyAssets(folder)
node("scripts/console/build.ts", "--if-changed")
if (folder !== BUILT) await cp(join(BUILT, CONSOLE), join(folder, CONSOLE), { recursive: true })
