/**
 * Runs the property tests with many cases for each generator: a vendor with arbitrary responses,
 * bodies in any spelling and so on. Exits with 1 when a rule was broken, and prints the case that
 * breaks it. `--only` takes a part of a test file's name.
 *
 *   npm run property -- --cases 20000 --seed 7
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    only: { type: "string", default: "" }
  }
})

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url))
const run = spawn(process.execPath, [vitest, "run", `test/property/${values.only}`], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: { ...process.env, PROPERTY_CASES: values.cases, PROPERTY_SEED: values.seed },
  stdio: "inherit"
})
const [code] = await once(run, "exit")
process.exitCode = code ?? 1
