/** The programs that tests start, with their modules joined to a few files. */
import { copyFile, readdir, symlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { build } from "rolldown"

const root = join(import.meta.dirname, "..", "..")

const programs = [
  "test/support/gatewayProcess.ts",
  "test/support/loudProcess.ts",
  "test/postgres/insertUntilKilled.ts",
  "src/main.ts",
  "src/cli/rotateMasterKey.ts",
  "src/cli/applyMigrations.ts"
]

/** Looked for beside the file that starts or reads them. */
const threads = ["src/postgres/embedded/embeddedWorker.ts"]
const assets = ["src/simulator/media/sunset.mp4"]
const schema = "src/postgres/schema"

/**
 * Joins the modules of each program into the directory, and answers the files to start by the paths
 * of the sources. Node spends most of a start on finding and reading hundreds of modules, and a run
 * of the tests starts programs hundreds of times.
 */
export const joinPrograms = async (directory: string): Promise<Record<string, string>> => {
  await build({
    cwd: root,
    input: [...programs, ...threads],
    platform: "node",
    // It reads files that lie beside its own.
    external: /^@electric-sql\//,
    logLevel: "warn",
    output: {
      dir: directory,
      format: "esm",
      // What is switched on must be on before it is used.
      strictExecutionOrder: true
    }
  })
  const scripts = (await readdir(join(root, schema))).filter((file) => file.endsWith(".sql"))
  for (const asset of [...assets, ...scripts.map((file) => join(schema, file))])
    await copyFile(join(root, asset), join(directory, basename(asset)))
  await symlink(join(root, "node_modules"), join(directory, "node_modules"))
  return Object.fromEntries(
    programs.map((path) => [join(root, path), join(directory, `${basename(path, ".ts")}.js`)])
  )
}
