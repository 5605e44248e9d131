/**
 * A complete run: starts all processes, runs orders and disasters, waits until everything is
 * settled, and compares the records.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Fiber, Layer, Random, Redacted, Schedule, Schema } from "effect"
import { type Books, readAudit, readBookFile, readBooks, readOpen } from "./books.ts"
import { openMarket, topUp } from "./customers.ts"
import { wreak } from "./disasters.ts"
import { bodyOf, send } from "./http.ts"
import { judgeLogs } from "./judges/logs.ts"
import { judgeRecords } from "./judges/records.ts"
import { open, type Verdict } from "./judges/verdict.ts"
import { anyGateway, runClient } from "./load.ts"
import { desks, runOffice } from "./office.ts"
import type { ChaosOptions } from "./options.ts"
import { makeReceiver } from "./receiver.ts"
import { recoverySeconds } from "./recovery.ts"
import { countsOf, type Report } from "./report.ts"
import { makeSchedule } from "./schedule.ts"
import { makeWitness, type Witness } from "./witness.ts"
import { ACCOUNTANT, makeWorld, type World } from "./world.ts"

/**
 * Seconds on top of the longest deadline: for retries, the poller's interval, and slow machines.
 */
const QUIET_PATIENCE_SECONDS = 75

/** The maximum time from the last order until no order is open. */
export const quietSeconds = (options: ChaosOptions): number =>
  options.pace.taskDeadline + QUIET_PATIENCE_SECONDS

const ORGANIZATIONS = 6
const AUDIT_EVERY = "4 seconds"
const TOP_UP_EVERY = "2 seconds"
const LOOK_EVERY = "50 millis"

/** Runs orders and disasters concurrently, and returns when both have ended. */
const rage = Effect.fnUntraced(function* (options: ChaosOptions, world: World, witness: Witness) {
  const schedule = yield* makeSchedule(options).pipe(Random.withSeed(`${options.seed} disasters`))
  const operator = Effect.map(
    Effect.raceAllFirst(world.gateways.map(({ url }) => url)),
    (gatewayUrl) => ({ gatewayUrl, adminToken: world.adminToken })
  )
  const market = yield* openMarket(witness, yield* operator, {
    simulatorUrl: world.simulatorUrl,
    receiverUrl: yield* makeReceiver(witness),
    organizations: ORGANIZATIONS,
    clients: options.clients,
    minutes: options.minutes
  })
  // Every gateway loads a new catalog within a second.
  yield* Effect.sleep("1 second")
  const deposits = Effect.gen(function* () {
    const number = yield* Clock.currentTimeMillis
    yield* Effect.forEach(
      market.tight,
      (organizationId) => topUp(witness, operator, organizationId, `top-up ${number}`),
      { concurrency: "unbounded" }
    )
  }).pipe(Effect.repeat(Schedule.spaced(TOP_UP_EVERY)))
  const audits = world.postgres.up.whenOpen(readAudit).pipe(
    Effect.tap((violations) =>
      Effect.sync(() => {
        witness.audits.read++
        witness.audits.violations.push(...violations.map((line) => `in mid-run: ${line}`))
      })
    ),
    Effect.catchCause(() => Effect.void),
    Effect.repeat(Schedule.spaced(AUDIT_EVERY))
  )
  const moments = Effect.map(Clock.currentTimeMillis, (at) =>
    witness.moments.push({ at, awake: world.gateways.some((gateway) => gateway.awake()) })
  ).pipe(Effect.repeat(Schedule.spaced(LOOK_EVERY)))
  const office = runOffice(
    witness,
    Effect.map(anyGateway(world.gateways), ({ url }) => ({
      gatewayUrl: url,
      adminToken: world.adminToken
    })),
    market,
    desks
  ).pipe(Random.withSeed(`${options.seed} operators`))
  const beside = yield* Effect.forkChild(
    Effect.all([deposits, audits, moments, office], { concurrency: "unbounded" })
  )
  const over = { yet: false }
  const clients = yield* Effect.forkChild(
    Effect.forEach(
      market.customers,
      (customer, index) =>
        runClient(witness, world.gateways, {
          focus: null,
          seed: options.seed,
          name: String(index),
          index,
          customer,
          isOver: () => over.yet
        }),
      { concurrency: "unbounded", discard: true }
    )
  )
  // Where gateways start slowly, the disasters take longer than planned, so the orders continue
  // until the last disaster.
  yield* Effect.all([wreak(world, witness, schedule), Effect.sleep(`${options.minutes} minutes`)], {
    concurrency: 2,
    discard: true
  })
  over.yet = true
  yield* Fiber.join(clients)
  yield* Fiber.interrupt(beside)
  return market.customers.map(({ key }) => key)
})

/**
 * Waits until nothing is open. Anything that is still open after the longest deadline is a
 * violation.
 */
const settle = Effect.fnUntraced(function* (options: ChaosOptions) {
  const docket = open("I6", "all holds and tasks end within their deadlines")
  const patience = quietSeconds(options)
  const quiet = yield* readOpen(0).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("500 millis"),
      until: (left) => left.length === 0
    }),
    Effect.timeoutOption(`${patience} seconds`)
  )
  if (quiet._tag === "None") for (const left of yield* readOpen(0)) docket.look(left)
  else docket.look(null)
  return docket.verdict
})

const Verified = bodyOf(Schema.Struct({ ok: Schema.Boolean }))

/** Requests each gateway's own audit of the ledger. */
const askGateways = Effect.fnUntraced(function* (world: World) {
  const docket = open("I1-I7", "each gateway's check of the books finds nothing")
  for (const gateway of world.gateways) {
    const answer = yield* send(`${yield* gateway.url}/admin/v1/ledger/verify`, {
      key: world.adminToken
    })
    docket.look(Verified(answer)?.ok === true ? null : `${gateway.name}: ${answer.text}`)
  }
  return docket.verdict
})

/** Writes all records that the analysis of a violation may need. */
const keepEvidence = (directory: string, witness: Witness, books: Books): void => {
  const lines = (all: ReadonlyArray<object>) =>
    all.map((one) =>
      JSON.stringify(one, (_, value: unknown) =>
        typeof value === "bigint" ? value.toString() : value
      )
    )
  const write = (name: string, all: ReadonlyArray<object>) =>
    writeFileSync(join(directory, `${name}.jsonl`), `${lines(all).join("\n")}\n`)
  write("attempts", witness.attempts)
  write("sightings", witness.sightings)
  write("cancels", witness.cancels)
  write("keys", witness.keys)
  write("keyUses", witness.keyUses)
  write("budgets", witness.budgets)
  write("webhooks", witness.webhooks)
  const { jobs: _, ...tables } = books
  for (const [name, rows] of Object.entries(tables)) write(name, rows)
}

const judgeRecovery = (limit: number, recoveries: ReadonlyArray<number | null>): Verdict => {
  const docket = open("R6", `served within ${limit} s of PostgreSQL's return`)
  for (const seconds of recoveries) {
    if (seconds !== null) docket.look(seconds <= limit ? null : `${seconds} s`)
  }
  return docket.verdict
}

/**
 * The part of a run during which the processes exist. The logs of the processes are complete only
 * when this part has ended.
 */
const play = Effect.fnUntraced(function* (options: ChaosOptions, directory: string) {
  const witness = makeWitness(`canary-${options.seed}-sings`)
  const world = yield* makeWorld(options, directory)
  const accountant = PgClient.layer({
    url: Redacted.make(world.postgres.url),
    maxConnections: 4,
    applicationName: ACCOUNTANT
  })
  return yield* Effect.gen(function* () {
    const keys = yield* rage(options, world, witness)
    const settled = yield* settle(options)
    const asked = yield* askGateways(world)
    const books = yield* readBooks(yield* readBookFile(world.bookPath))
    const audits = open("I1-I7", "the audit view is empty whenever it is read")
    const violated = [...witness.audits.violations, ...(yield* readAudit)]
    for (const violation of new Set(violated)) audits.look(violation)
    for (let read = 0; read <= witness.audits.read; read++) audits.look(null)

    const recoveries = recoverySeconds(witness, world.postgres.restarts)
    const starts = world.gateways.map((gateway) => gateway.starts())
    witness.counts.set(
      "gateway starts",
      starts.reduce((sum, { served }) => sum + served, 0)
    )
    witness.counts.set(
      "gateway starts without a database",
      starts.reduce((sum, { gaveUp }) => sum + gaveUp, 0)
    )
    keepEvidence(directory, witness, books)
    return {
      verdicts: [
        asked,
        audits.verdict,
        settled,
        ...judgeRecords(books, witness, options.idempotency),
        ...(options.recoverySeconds === null
          ? []
          : [judgeRecovery(options.recoverySeconds, recoveries)])
      ],
      counts: countsOf(witness, books, recoveries),
      secrets: [
        ...world.secrets,
        ...keys,
        ...witness.keys.map(({ key }) => key),
        witness.canary,
        "demo-secret-",
        "/media/"
      ]
    }
  }).pipe(Effect.provide(Layer.mergeAll(accountant, NodeHttpClient.layerUndici)))
}, Effect.scoped)

/**
 * Runs the complete test and returns its report. Only a fault of the test itself is an error. The
 * logs are kept where a directory was given for them, and where a rule is violated.
 */
export const runChaos = Effect.fnUntraced(function* (options: ChaosOptions) {
  const parent = options.logs ?? tmpdir()
  mkdirSync(parent, { recursive: true })
  const directory = mkdtempSync(join(parent, "media-gateway-chaos-"))
  const { verdicts, counts, secrets } = yield* play(options, directory)
  const all = [...verdicts, judgeLogs(directory, secrets)]
  const violations = all.flatMap(({ id, violations }) => violations.map((line) => `${id} ${line}`))
  if (options.logs === null && violations.length === 0) rmSync(directory, { recursive: true })
  return { options, verdicts: all, violations, counts, directory } satisfies Report
})
