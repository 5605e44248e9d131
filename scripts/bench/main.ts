/**
 * Measures our gateway beside others on this machine: starts PostgreSQL, a cheap vendor and the
 * gateways, runs every case in interleaved rounds, each subject alone, and prints medians and what
 * they were to show. Ours always does all of its work, which its books prove after every window.
 *
 *   npm run bench -- --rounds 5 --seconds 3 --json figures.json
 */
import { writeFile } from "node:fs/promises"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import { connect } from "../../test/support/cluster.ts"
import { startPostgres } from "../../test/support/postgresServer.ts"
import { cases } from "./cases.ts"
import { runColdStart } from "./coldStart.ts"
import { fill } from "./growth.ts"
import { runLag } from "./lag.ts"
import { machineFacts, type Placement, placeProcesses } from "./machine.ts"
import { type BenchOptions, readOptions } from "./options.ts"
import { startOurs, temporaryDatabase } from "./ours.ts"
import { installPeers, startPeer } from "./peers/peers.ts"
import { renderRows, renderTargets, toJson } from "./report.ts"
import { checkOut } from "./revision.ts"
import { awake, BenchFailed, type Row, runRounds } from "./rounds.ts"
import type { Subject } from "./subject.ts"
import { judge } from "./targets.ts"
import { startVendor, type Vendor } from "./vendorControl.ts"

const startServer = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => startPostgres({ settings: { fsync: "on" } })),
    ({ stop }) => Effect.promise(stop)
  ),
  ({ url }) => url
)

const ServerFacts = Schema.Tuple([Schema.Struct({ version: Schema.String, fsync: Schema.String })])

const serverFacts = Effect.fnUntraced(function* (url: string) {
  const sql = yield* connect(url)
  const rows = yield* sql`
    SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`
  const [facts] = yield* Effect.orDie(Schema.decodeUnknownEffect(ServerFacts)(rows))
  return facts
})

const isWanted = ({ cases: wanted }: BenchOptions, name: string): boolean =>
  wanted === null || wanted.has(name)

interface World {
  readonly options: BenchOptions
  readonly placement: Placement
  readonly vendor: Vendor
  readonly vendorUrl: string
}

/** All cases that are wanted, one after the other. */
const runAll = Effect.fnUntraced(function* (world: World, subjects: ReadonlyArray<Subject>) {
  const { options, vendor } = world
  const { rounds, openTasks, scratch } = options
  const rows: Array<Row> = []
  for (const one of cases.filter(({ name }) => isWanted(options, name))) {
    rows.push(...(yield* runRounds(one, subjects, vendor, options)))
    yield* vendor.forget
    yield* Effect.forEach(subjects, ({ books }) => books?.tidy ?? Effect.void)
  }
  if (isWanted(options, "lag")) {
    for (const subject of subjects.filter(({ books }) => books !== null)) {
      rows.push(...(yield* runLag(subject, vendor, { rounds, many: openTasks })))
    }
  }
  if (isWanted(options, "cold")) {
    rows.push(...(yield* runColdStart({ ...world, scratch, subjects }, rounds)))
  }
  return rows
})

const bench = Effect.fnUntraced(function* (options: BenchOptions) {
  const machine = yield* Effect.promise(machineFacts)
  const placement = yield* Effect.promise(() => placeProcesses(options.pinned))
  if (options.pinned && !placement.pinned) yield* Console.error("processes are not pinned to cores")
  const serverUrl = options.database ?? (yield* startServer)
  const facts = {
    ...machine,
    pinned: placement.pinned,
    postgres: yield* serverFacts(serverUrl)
  }
  const vendor = yield* startVendor
  const { scratch, profile } = options
  const shared = { placement, vendorUrl: vendor.url }
  const peers = (["portkey", "fastify", "bare", "durable"] as const).filter((kind) =>
    options.subjects.has(kind)
  )
  if (peers.some((kind) => kind !== "bare")) yield* installPeers(scratch)

  const databaseUrl = yield* temporaryDatabase(serverUrl)
  const ours = yield* startOurs({ ...shared, name: "ours", databaseUrl, profile })
  const ourselves = [ours]
  if (options.compare !== null) {
    const revision = yield* checkOut(options.compare, scratch)
    const database = yield* temporaryDatabase(serverUrl)
    ourselves.push(
      yield* startOurs({ ...shared, ...revision, databaseUrl: database, profile: null })
    )
  }
  const started = yield* Effect.forEach(
    peers,
    Effect.fnUntraced(function* (kind) {
      const peer = { ...shared, scratch, patient: true }
      return yield* startPeer(
        kind,
        kind === "durable" ? { ...peer, databaseUrl: yield* temporaryDatabase(serverUrl) } : peer
      )
    })
  )
  const direct: Subject = {
    name: "direct",
    kind: "direct",
    url: vendor.url,
    process: null,
    books: null,
    headers: { "content-type": "application/json", authorization: "Bearer vendor-key" },
    model: (id) => `vendor-${id}`
  }
  const subjects = [...ourselves, ...started, direct].filter(({ kind }) =>
    options.subjects.has(kind)
  )
  yield* Effect.forEach(
    [...ourselves, ...started],
    ({ process }) => process?.kill("SIGSTOP") ?? Effect.void
  )

  const measured = { ...shared, options, vendor }
  const rows = [...(yield* runAll(measured, subjects))]
  const broken = yield* Effect.forEach(ourselves, (one) => awake(one, one.books.violations))

  const grown: Array<Row> = []
  if (options.growth !== null) {
    const start = (name: string, url: string) =>
      startOurs({ ...shared, name, databaseUrl: url, profile: null })
    const empty = yield* start("empty", yield* temporaryDatabase(serverUrl))
    const full = yield* start("full", yield* temporaryDatabase(serverUrl))
    yield* Effect.forEach([empty, full], ({ process }) => process?.kill("SIGSTOP") ?? Effect.void)
    yield* fill(full.books, options.growth)
    grown.push(...(yield* runAll(measured, [empty, full])))
    broken.push(yield* awake(empty, empty.books.violations))
    if (options.growth.ledgerRows <= VERIFIED_ROWS) {
      broken.push(yield* awake(full, full.books.violations))
    }
  }

  const violations = broken.filter((one) => one !== null)
  const targets = judge(rows, grown)
  yield* Console.log(`\n${renderRows(rows)}`)
  if (grown.length > 0) yield* Console.log(`\n${renderRows(grown)}`)
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
    const report = toJson({ facts, options: asked, violations, rows, grown, targets })
    const file = options.json
    yield* Effect.promise(() => writeFile(file, report))
  }
  if (violations.length > 0) {
    return yield* new BenchFailed({ message: `the books are broken: ${violations.join("\n")}` })
  }
})

/** Of more, the check of all the books takes minutes. */
const VERIFIED_ROWS = 100_000

NodeRuntime.runMain(
  Effect.scoped(
    Effect.flatMap(
      Effect.sync(() => readOptions(process.argv.slice(2))),
      bench
    )
  )
)
