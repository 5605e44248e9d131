/**
 * The property of product and charge in its long form: a vendor that answers anything, for so many
 * orders. Ends with 1 when a rule was broken, and tells the least order that breaks it.
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
    seed: { type: "string", default: String(Date.now() % 2 ** 31) }
  }
})

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url))
const run = spawn(process.execPath, [vitest, "run", "test/property/productAndCharge.test.ts"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: { ...process.env, PROPERTY_CASES: values.cases, PROPERTY_SEED: values.seed },
  stdio: "inherit"
})
const [code] = await once(run, "exit")
process.exitCode = code ?? 1
