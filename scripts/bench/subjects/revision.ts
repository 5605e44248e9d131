/**
 * The package of the working tree, and of another revision that is measured in addition to it.
 */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Console, Effect } from "effect"
import { gatewayEntry } from "./ours.ts"
import { BenchFailed } from "./world.ts"

const root = join(import.meta.dirname, "..", "..", "..")

const run = (cwd: string, command: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: () => promisify(execFile)(command, [...args], { cwd }),
    catch: (cause) => new BenchFailed({ message: `${command} ${args.join(" ")}: ${String(cause)}` })
  }).pipe(Effect.map(({ stdout }) => stdout.trim()))

const build = (folder: string) => run(folder, process.execPath, "scripts/build.ts")
const builtIn = (folder: string): string => join(folder, "dist", "main.js")

/**
 * The path of our program as it is shipped. With a profile it is that of the sources, so that the
 * profile names their lines.
 */
export const ourEntry = (profile: string | null) =>
  profile === null ? Effect.as(build(root), builtIn(root)) : Effect.succeed(gatewayEntry)

/**
 * Clones the revision into a separate folder, installs its packages and builds it, unless the folder
 * already has them.
 */
export const checkOut = Effect.fnUntraced(function* (revision: string, scratch: string) {
  const commit = yield* run(root, "git", "rev-parse", "--short", `${revision}^{commit}`)
  const folder = join(scratch, `revision-${commit}`)
  if (!existsSync(join(folder, "node_modules"))) {
    yield* Console.log(`checking ${commit} out into ${folder}`)
    yield* run(root, "git", "clone", "--quiet", "--no-checkout", root, folder)
    yield* run(folder, "git", "checkout", "--quiet", "--detach", commit)
    yield* run(folder, "npm", "ci", "--no-audit", "--no-fund")
  }
  if (!existsSync(builtIn(folder))) yield* build(folder)
  return { name: `ours at ${commit}`, entry: builtIn(folder) }
})
