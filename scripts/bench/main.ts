/**
 * Compares our gateway with others on this machine. Starts PostgreSQL, a cheap vendor and the
 * gateways, runs every case in interleaved rounds, one subject at a time, and prints the medians
 * and whether they meet the targets. Our gateway always does all of its work, which its ledger
 * proves after every window.
 *
 *   npm run bench -- --rounds 5 --seconds 3 --json figures.json
 */
import { writeFile } from "node:fs/promises"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { cases, SHARED_PORT } from "./cases/cases.ts"
import { runColdStart } from "./cases/coldStart.ts"
import { fill, type Growth } from "./cases/growth.ts"
import { runLag } from "./cases/lag.ts"
import { runRounds } from "./cases/rounds.ts"
import { machineFacts, placeProcesses } from "./measure/machine.ts"
import type { Row } from "./measure/window.ts"
import { type BenchOptions, readOptions } from "./options.ts"
import { renderRows, renderTargets, toJson } from "./report.ts"
import { startOurs } from "./subjects/ours.ts"
import { ourEntry } from "./subjects/revision.ts"
import { openServer } from "./subjects/server.ts"
import { startSubjects } from "./subjects/startSubjects.ts"
import { awake, type Subject, signal } from "./subjects/subject.ts"
import { startVendor } from "./subjects/vendorControl.ts"
import { BenchFailed, type World } from "./subjects/world.ts"
import { judge } from "./targets.ts"

const isWanted = ({ cases: wanted }: BenchOptions, name: string): boolean =>
  wanted === null || wanted.has(name)

/** Runs all selected cases, one after the other. */
const runAll = Effect.fnUntraced(function* (world: World, subjects: ReadonlyArray<Subject>) {
  const { options, vendor } = world
  const rows: Array<Row> = []
  for (const one of cases.filter(({ name }) => isWanted(options, name))) {
    rows.push(...(yield* runRounds(one, subjects, world)))
    yield* vendor.forget
    yield* Effect.forEach(subjects, ({ books }) => books?.tidy ?? Effect.void)
  }
  // Subjects of the same name are processes of one subject, of which the first is enough here.
  const named = [...new Map(subjects.toReversed().map((one) => [one.name, one])).values()]
  const once = named.toReversed()
  if (isWanted(options, "lag")) {
    for (const subject of once.filter(({ kind }) => kind === "ours")) {
      rows.push(...(yield* runLag(subject, world)))
    }
  }
  if (isWanted(options, "cold")) rows.push(...(yield* runColdStart(once, world)))
  return rows
})

const violationsOf = (ourselves: ReadonlyArray<Subject>) =>
  Effect.forEach(ourselves, (one) => awake(one, one.books?.violations ?? Effect.succeed(null)))

/** Runs all cases on an empty and on a full database. */
const runGrown = Effect.fnUntraced(function* (world: World, entry: string, growth: Growth) {
  const empty = yield* startOurs(world, { name: "empty", entry })
  const full = yield* startOurs(world, { name: "full", entry })
  yield* Effect.forEach([empty, full], (one) => signal(one, "SIGSTOP"))
  yield* fill(full.books, growth)
  const rows = yield* runAll(world, [empty, full])
  const verified = growth.ledgerRows <= VERIFIED_ROWS ? [empty, full] : [empty]
  return { rows, broken: yield* violationsOf(verified) }
})

const bench = Effect.fnUntraced(function* (options: BenchOptions) {
  const machine = yield* Effect.promise(machineFacts)
  const placement = yield* Effect.promise(() => placeProcesses(options.pinned))
  if (options.pinned && !placement.pinned) yield* Console.error("processes are not pinned to cores")
  const entry = yield* ourEntry(options.profile)
  const server = yield* openServer(options.database)
  const facts = { ...machine, pinned: placement.pinned, postgres: server.facts }
  const world: World = { options, placement, server, vendor: yield* startVendor }

  const shares = isWanted(options, SHARED_PORT)
  const { ourselves, subjects } = yield* startSubjects(world, entry, shares)
  const rows = yield* runAll(world, subjects)
  const broken = yield* violationsOf(ourselves)
  const grown = options.growth === null ? null : yield* runGrown(world, entry, options.growth)

  const violations = [...broken, ...(grown?.broken ?? [])].filter((one) => one !== null)
  const targets = judge(rows, grown?.rows ?? [])
  yield* Console.log(`\n${renderRows(rows)}`)
  if (grown !== null) yield* Console.log(`\n${renderRows(grown.rows)}`)
  if (targets.length > 0) yield* Console.log(`\n${renderTargets(targets)}`)
  yield* Console.log(
    `\nmedians of ${options.rounds} rounds of ${options.seconds} s; ${JSON.stringify(facts)}\n` +
      "every answer of ours has its charge in the books"
  )
  if (options.json !== null) {
    const asked = {
      ...options,
      cases: options.cases === null ? null : [...options.cases],
      subjects: [...options.subjects]
    }
    const report = { facts, options: asked, violations, rows, grown: grown?.rows ?? [], targets }
    const file = options.json
    yield* Effect.promise(() => writeFile(file, toJson(report)))
  }
  if (violations.length > 0) {
    return yield* new BenchFailed({ message: `the books are broken: ${violations.join("\n")}` })
  }
})

/**
 * The maximum number of ledger rows of a full database whose audit is run: with more rows the audit
 * takes minutes.
 */
const VERIFIED_ROWS = 100_000

NodeRuntime.runMain(
  Effect.scoped(
    Effect.flatMap(
      Effect.sync(() => readOptions(process.argv.slice(2))),
      bench
    )
  )
)
