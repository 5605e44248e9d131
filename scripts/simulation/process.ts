/** A process that plays worlds, one after the other. Its task is its argument. */

// The realm comes before every other module.
import { replaceTimers } from "./realm.ts"
import "effect/schema/SchemaJITCompiler/enable"
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { Schema } from "effect"
import { type Foundation, makeFoundation, startDatabase } from "./foundation.ts"
import { commandOf, MOST_CLIENTS, type Plan, planOf, without, yearPlanOf } from "./plan.ts"
import { type Outcome, play } from "./play.ts"
import { type Result, ResultLine, TaskLine } from "./protocol.ts"
import { shrink } from "./shrink.ts"

const encodeResult = Schema.encodeSync(ResultLine)

const digestOf = (lines: ReadonlyArray<string>): string => {
  const hash = createHash("sha256")
  for (const line of lines) hash.update(`${line}\n`)
  return hash.digest("hex")
}

/** Where two logs of one plan differ; empty where they do not. */
const differences = ({ log: first }: Outcome, { log: second }: Outcome): ReadonlyArray<string> => {
  const length = Math.max(first.length, second.length)
  for (let line = 0; line < length; line += 1) {
    if (first[line] !== second[line]) {
      return [`two runs of this seed differ at event ${line}: ${first[line]} | ${second[line]}`]
    }
  }
  return []
}

const judge = async (foundation: Foundation, plan: Plan, isTwice: boolean) => {
  const outcome = await play(foundation, plan)
  const differing = isTwice ? differences(outcome, await play(foundation, plan)) : []
  return { ...outcome, differing, violations: [...differing, ...outcome.violations] }
}

const market = { organizations: 6, clients: MOST_CLIENTS }
const yearMarket = { organizations: 100, clients: 200 }

const main = async (line: string): Promise<void> => {
  const task = Schema.decodeSync(TaskLine)(line)
  const database = await startDatabase()
  replaceTimers()
  const foundation = await makeFoundation(database, task.isYear ? yearMarket : market)
  for (let index = 0; index < task.count; index += 1) {
    const seed = task.first + index * task.stride
    const whole = task.isYear ? yearPlanOf(seed, yearMarket.clients) : planOf(seed)
    const fewer = without(whole, task.without)
    const plan = task.untilMillis === null ? fewer : { ...fewer, endMillis: task.untilMillis }
    const outcome = await judge(foundation, plan, task.isTwice)
    const { violations, differing, verdicts, log, ...counts } = outcome
    const isDifferent = differing.length > 0
    const isBroken = async (smaller: Plan) => {
      const again = await judge(foundation, smaller, isDifferent)
      return (isDifferent ? again.differing : again.violations).length > 0
    }
    const least = violations.length > 0 && task.isShrinking ? await shrink(plan, isBroken) : plan
    const result: Result = {
      ...counts,
      seed,
      violations,
      command: violations.length === 0 ? null : commandOf(least, whole),
      digest: digestOf(log),
      checked: Object.fromEntries(
        verdicts.map(({ id, rule, checked }) => [`${id} ${rule}`, checked])
      ),
      faults: plan.episodes.reduce((sum, { faults }) => sum + faults.length, 0)
    }
    if (task.logPath !== null) writeFileSync(task.logPath, `${log.join("\n")}\n`)
    process.stdout.write(`${encodeResult(result)}\n`)
  }
}

await main(process.argv[2] ?? "")
process.exit(0)
