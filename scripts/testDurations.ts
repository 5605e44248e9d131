/**
 * Runs all tests, and writes the durations of slow test files to `test/durations.json`, by which a
 * test run starts the slow files first.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { Schema } from "effect"

const root = join(import.meta.dirname, "..")
const LEAST_SECONDS = 3

const Report = Schema.fromJsonString(
  Schema.Struct({
    testResults: Schema.Array(
      Schema.Struct({ name: Schema.String, startTime: Schema.Number, endTime: Schema.Number })
    )
  })
)

const folder = mkdtempSync(join(tmpdir(), "media-gateway-durations-"))
const file = join(folder, "report.json")
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`
  ],
  { cwd: root, stdio: "inherit" }
)
if (status === 0) {
  const { testResults } = Schema.decodeUnknownSync(Report)(readFileSync(file, "utf8"))
  const seconds = testResults
    .map(
      ({ name, startTime, endTime }) =>
        [relative(root, name), Math.round((endTime - startTime) / 1000)] as const
    )
    .filter(([, taken]) => taken >= LEAST_SECONDS)
    .toSorted(([, one], [, other]) => other - one)
  const json = JSON.stringify(Object.fromEntries(seconds), null, 2)
  writeFileSync(join(root, "test/durations.json"), `${json}\n`)
}
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1
