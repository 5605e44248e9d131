/**
 * Simulated worlds: whole gateways under a scheduler from a seed, with the real SQL inside, clients,
 * vendors and faults. Each seed is played twice, and its two logs have to be the same. Exits with 1
 * at the first seed that breaks a rule, and prints the command that plays the least world of it
 * that still does; with `--whole`, the world as it is.
 *
 *   npm run simulate -- --seeds 1000 --first 1
 *   npm run simulate -- --year --seed 1
 *   npm run simulate -- --seed 17 --until 1500 --without c1,f0 --log world.log
 */
import { createHash } from "node:crypto"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import type { Result } from "./protocol.ts"
import { simulate } from "./simulate.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    until: { type: "string" },
    without: { type: "string", default: "" },
    log: { type: "string" },
    processes: { type: "string", default: String(availableParallelism()) },
    once: { type: "boolean", default: false },
    year: { type: "boolean", default: false },
    whole: { type: "boolean", default: false }
  }
})

const isOneSeed = values.seed !== undefined || values.year
const first = Number(values.seed ?? values.first)
const results: Array<Result> = []
let broken: Result | null = null
const startedAt = performance.now()
/** The time between two lines about the progress. */
const PROGRESS_MILLIS = 15_000
let toldAt = startedAt

await simulate({
  first,
  count: isOneSeed ? 1 : Number(values.seeds),
  processes: Number(values.processes),
  isYear: values.year,
  isTwice: !values.once,
  isShrinking: !values.whole && values.until === undefined && values.without === "",
  untilMillis: values.until === undefined ? null : Number(values.until),
  without: values.without === "" ? [] : values.without.split(","),
  logPath: values.log ?? null,
  onResult: (result) => {
    results.push(result)
    if (performance.now() - toldAt >= PROGRESS_MILLIS) {
      toldAt = performance.now()
      console.error(`${results.length} seeds in ${Math.round((toldAt - startedAt) / 1000)} s`)
    }
    if (result.violations.length === 0) return true
    broken = result
    return false
  }
})

const total = (count: (result: Result) => number) =>
  results.reduce((sum, result) => sum + count(result), 0)
const rules = new Map<string, number>()
for (const { checked } of results) {
  for (const [rule, count] of Object.entries(checked)) {
    rules.set(rule, (rules.get(rule) ?? 0) + count)
  }
}
const digest = createHash("sha256")
for (const result of results.toSorted((a, b) => a.seed - b.seed)) digest.update(result.digest)

const seconds = (performance.now() - startedAt) / 1000
const hours = total(({ simulatedMillis }) => simulatedMillis) / 3_600_000
for (const [rule, count] of rules) console.log(`${String(count).padStart(9)}  ${rule}`)
console.log(
  `${results.length} seeds, ${total(({ orders }) => orders)} orders, ${total(({ requests }) => requests)} requests, ` +
    `${total(({ statements }) => statements)} statements, ${total(({ faults }) => faults)} faults, ` +
    `${total(({ steps }) => steps)} steps: ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(0)} s`
)
console.log(`digest of all events: ${digest.digest("hex")}`)

const showBroken = ({ seed, violations, command }: Result) => {
  console.log(`violated at seed ${seed} after ${results.length} seeds: ${violations[0]}`)
  for (const line of violations.slice(1)) console.log(`  ${line}`)
  console.log(`the least world: ${command}`)
}
if (broken !== null) {
  showBroken(broken)
  process.exitCode = 1
}
