/**
 * Builds the files of the package: modules and types, the files that modules read from their own
 * folder, and the console. Writes to `--out DIR`, otherwise to `dist`; older files there are
 * removed first.
 *
 * The modules of the gateway are joined to a few files. A start spends most of its time on finding
 * and linking modules, and each module keeps memory.
 */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { cp, mkdir, readdir, rm } from "node:fs/promises"
import { basename, dirname, join, relative, resolve } from "node:path"
import { parseArgs } from "node:util"
import { build } from "rolldown"

const root = join(import.meta.dirname, "..")
const BUILT = join(root, "dist")
const CONSOLE = "console"
/** The modules that the manifest names, and the one that a thread is started with. */
const ENTRIES = [
  "main",
  "extend",
  "ai-sdk/provider",
  "client/promiseClient",
  "client/typedClient",
  "testing/doubles",
  "postgres/embedded/embeddedWorker"
]
const MEDIA = "src/simulator/media/sunset.mp4"
/** SQL files with tables and functions. The schema reads them from their features' folders. */
const SCHEMA = "src/{postgres/schema,postgres/citus,features/*}/*.sql"

const node = (...args: ReadonlyArray<string>) =>
  execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" })

const removeAllButConsole = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => one !== CONSOLE)) {
    await rm(join(folder, name), { recursive: true })
  }
}

/** The path of a module below the folder of the sources or of the built files. */
const pathOf = (module: string): string => relative(join(root, "src"), module).replace(/\.ts$/, "")

const joinModules = (folder: string) =>
  build({
    cwd: root,
    input: Object.fromEntries(ENTRIES.map((path) => [path, `src/${path}.ts`])),
    platform: "node",
    // All packages stay outside, because users of the package share them with it.
    external: /^[^./]/,
    preserveEntrySignatures: "allow-extension",
    logLevel: "warn",
    output: {
      dir: folder,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name].js",
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          {
            debugName: "modules that read files beside their own",
            name: (module, bundle) =>
              bundle.getModuleInfo(module)?.code?.includes("import.meta.") ? pathOf(module) : null
          }
        ]
      }
    }
  })

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
await joinModules(folder)
await copyAssets(folder)
node("scripts/console/build.ts", "--if-changed")
if (folder !== BUILT) await cp(join(BUILT, CONSOLE), join(folder, CONSOLE), { recursive: true })
