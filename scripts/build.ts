/**
 * Builds what the package ships: modules and types, what they read from beside themselves, and the
 * console. With `--out DIR` there, and otherwise into `dist`, of which nothing older stays.
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
/** Tables and functions, which the schema applies from beside their features. */
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
// Several checkers would each work out the types of Effect anew: that takes more than twice the work.
const compile = ["--project", "scripts/tsconfig.build.json", "--checkers", "1", "--outDir", folder]
node("node_modules/typescript/bin/tsc", ...compile)
await copyAssets(folder)
node("scripts/console/build.ts", "--if-changed")
if (folder !== BUILT) await cp(join(BUILT, CONSOLE), join(folder, CONSOLE), { recursive: true })
