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
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { version } from "../../src/version.ts"
import type { Result } from "./protocol.ts"
import { simulate } from "./simulate.ts"

class RulesBroken extends Schema.TaggedError<RulesBroken>()("RulesBroken", {
  seed: Schema.Int
}) {}

const whole = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(Flag.withDefault(fallback), Flag.withDescription(description))
const one = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.optional, Flag.withDescription(description))
const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withDescription(description))
const isSet = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))

const flags = {
  seeds: whole("seeds", 200, "How many worlds"),
  first: whole("first", 1, "The seed of the first one"),
  seed: one("seed", "One world alone"),
  until: one("until", "Its last order and fault, in simulated milliseconds"),
  without: text("without", "Its clients, operators and faults that are left out, as c1,f0"),
  log: text("log", "The file for its events"),
  processes: whole("processes", availableParallelism(), "Processes that play worlds"),
  isOnce: isSet("once", "Plays each world once, and compares nothing"),
  isYear: isSet("year", "A world of 365 days"),
  isWhole: isSet("whole", "Does not look for the least world that breaks a rule")
}

/** The time between two lines about the progress. */
const PROGRESS_MILLIS = 15_000

const print = (results: ReadonlyArray<Result>, seconds: number): void => {
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

  const hours = total(({ simulatedMillis }) => simulatedMillis) / 3_600_000
  for (const [rule, count] of rules) console.log(`${String(count).padStart(9)}  ${rule}`)
  console.log(
    `${results.length} seeds, ${total(({ orders }) => orders)} orders, ${total(({ requests }) => requests)} requests, ` +
      `${total(({ statements }) => statements)} statements, ${total(({ faults }) => faults)} faults, ` +
      `${total(({ steps }) => steps)} steps: ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(0)} s`
  )
  console.log(`digest of all events: ${digest.digest("hex")}`)
}

const printBroken = ({ seed, violations, command }: Result, seeds: number): void => {
  console.log(`violated at seed ${seed} after ${seeds} seeds: ${violations[0]}`)
  for (const line of violations.slice(1)) console.log(`  ${line}`)
  console.log(`the least world: ${command}`)
}

const simulation = Command.make(
  "simulate",
  flags,
  Effect.fn(function* ({ seed, until, without, log, isYear, ...given }) {
    const isOneSeed = Option.isSome(seed) || isYear
    const results: Array<Result> = []
    const startedAt = performance.now()
    let toldAt = startedAt
    yield* Effect.promise(() =>
      simulate({
        first: Option.getOrElse(seed, () => given.first),
        count: isOneSeed ? 1 : given.seeds,
        processes: given.processes,
        isYear,
        isTwice: !given.isOnce,
        isShrinking: !given.isWhole && Option.isNone(until) && Option.isNone(without),
        untilMillis: Option.getOrNull(until),
        without: Option.match(without, { onNone: () => [], onSome: (names) => names.split(",") }),
        logPath: Option.getOrNull(log),
        onResult: (result) => {
          results.push(result)
          if (performance.now() - toldAt >= PROGRESS_MILLIS) {
            toldAt = performance.now()
            console.error(`${results.length} seeds in ${Math.round((toldAt - startedAt) / 1000)} s`)
          }
          return result.violations.length === 0
        }
      })
    )
    print(results, (performance.now() - startedAt) / 1000)
    const violated = results.find(({ violations }) => violations.length > 0)
    if (violated === undefined) return
    printBroken(violated, results.length)
    return yield* new RulesBroken({ seed: violated.seed })
  })
).pipe(Command.withDescription("Plays whole gateways under a scheduler from a seed"))

simulation.pipe(Command.run({ version }), Effect.provide(NodeServices.layer), (program) =>
  NodeRuntime.runMain(program, { disableErrorReporting: true })
)
