/** Copies of the working tree, in which mutants run. */
import { execFile } from "node:child_process"
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Mutant, mutate } from "./mutant.ts"

export const root = fileURLToPath(new URL("../..", import.meta.url))

const sources = ["src", "test", "scripts"]
const settings = ["package.json", "package-lock.json", "tsconfig.json", "vitest.config.ts"]

/** Makes a copy of the working tree, and removes it when its use has ended. */
export const withCopy = async (use: (copy: string) => Promise<void>): Promise<void> => {
  const copy = await mkdtemp(join(tmpdir(), "media-gateway-mutants-"))
  try {
    for (const entry of [...sources, ...settings]) {
      await cp(join(root, entry), join(copy, entry), { recursive: true })
    }
    await symlink(join(root, "node_modules"), join(copy, "node_modules"))
    await use(copy)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** Runs in the copy while it has the mutant's change. */
export const withMutant = async <A>(
  copy: string,
  mutant: Mutant,
  run: () => Promise<A>
): Promise<A> => {
  const path = join(copy, mutant.file)
  const original = await readFile(path, "utf8")
  await writeFile(path, mutate(mutant, original))
  try {
    return await run()
  } finally {
    await writeFile(path, original)
  }
}

/** The end of a command in a copy, with its output. */
export interface CommandEnd {
  readonly succeeded: boolean
  readonly output: string
}

export const runIn = (
  copy: string,
  program: string,
  parameters: ReadonlyArray<string>
): Promise<CommandEnd> =>
  new Promise((resolve) => {
    execFile(
      program,
      parameters,
      { cwd: copy, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ succeeded: error === null, output: stdout + stderr })
    )
  })
