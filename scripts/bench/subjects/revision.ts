/**
 * Another revision of this repository, whose gateway is measured in addition to the working tree's.
 */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { Console, Effect } from "effect"
import { BenchFailed } from "./world.ts"

const root = join(import.meta.dirname, "..", "..", "..")

const run = (cwd: string, command: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: () => promisify(execFile)(command, [...args], { cwd }),
    catch: (cause) => new BenchFailed({ message: `${command} ${args.join(" ")}: ${String(cause)}` })
  }).pipe(Effect.map(({ stdout }) => stdout.trim()))

/**
 * Clones the revision into a separate folder and installs its packages, unless the folder already
 * has them.
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
  return { name: `ours at ${commit}`, entry: join(folder, "src", "main.ts") }
})
