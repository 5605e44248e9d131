/** The programs that tests start, with their modules joined to a few files. */
import { cp, glob, symlink } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import { build } from "rolldown"

const root = join(import.meta.dirname, "..", "..")

const programs = [
  "test/support/gatewayProcess.ts",
  "test/support/loudProcess.ts",
  "test/postgres/insertUntilKilled.ts",
  "src/main.ts",
  "src/cli/rotateMasterKey.ts"
]

/** Looked for beside the file that starts it. */
const threads = ["src/postgres/embedded/embeddedWorker.ts"]
/** Looked for beside the file that reads it. */
const media = "src/simulator/media/sunset.mp4"
/** Looked for from the folder of the migrations, which the joined files therefore stand in. */
const migrations = "src/postgres/schema"
/** Looked for in the folder above that of the file that reads it. */
const manifest = "package.json"
const scripts = "src/{postgres/schema,postgres/citus,features/*}/*.sql"

/**
 * Joins the modules of each program into the directory, and answers the files to start by the paths
 * of the sources. Node spends most of a start on finding and reading hundreds of modules, and a run
 * of the tests starts programs hundreds of times.
 */
export const joinPrograms = async (directory: string): Promise<Record<string, string>> => {
  const joined = join(directory, relative("src", migrations))
  await build({
    cwd: root,
    input: [...programs, ...threads],
    platform: "node",
    // It reads files that lie beside its own.
    external: /^@electric-sql\//,
    logLevel: "warn",
    output: {
      dir: joined,
      format: "esm",
      // What is switched on must be on before it is used.
      strictExecutionOrder: true
    }
  })
  await cp(join(root, media), join(joined, basename(media)))
  await cp(join(root, manifest), join(joined, "..", manifest))
  for await (const script of glob(scripts, { cwd: root })) {
    await cp(join(root, script), join(directory, relative("src", script)))
  }
  await symlink(join(root, "node_modules"), join(directory, "node_modules"))
  return Object.fromEntries(
    programs.map((path) => [join(root, path), join(joined, `${basename(path, ".ts")}.js`)])
  )
}
