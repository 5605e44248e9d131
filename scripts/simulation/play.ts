/** Plays a world from its plan, and judges it. */
import { Cause, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { readAudit, readBooks, readOpen } from "../chaos/books.ts"
import { openMarket, topUp } from "../chaos/customers.ts"
import { judgeRecords } from "../chaos/judges/records.ts"
import { open, type Verdict } from "../chaos/judges/verdict.ts"
import { runClient } from "../chaos/load.ts"
import { runOffice } from "../chaos/office.ts"
import { makeWitness, type Witness } from "../chaos/witness.ts"
import { Database, type PreparedDatabase } from "./database.ts"
import { RECEIVER_HOST, scheduleFaults } from "./faults.ts"
import {
  ADMIN_TOKEN,
  layerSimulatedDatabase,
  makeSimulatedGateway,
  type SimulatedGateway
} from "./gateways.ts"
import { Generator } from "./generator.ts"
import { type Handler, Network } from "./network.ts"
import type { Plan } from "./plan.ts"
import { randomness, time } from "./realm.ts"
import { resetDatabase } from "./template.ts"
import { makeVendors, VENDORS_HOST, vendorsUrl } from "./vendors.ts"
import { Actor, World } from "./world.ts"

export interface Outcome {
  /** One line for each violation of a rule. */
  readonly violations: ReadonlyArray<string>
  readonly verdicts: ReadonlyArray<Verdict>
  readonly log: ReadonlyArray<string>
  readonly steps: number
  readonly statements: number
  readonly requests: number
  readonly orders: number
  readonly simulatedMillis: number
}

/** Simulated time after the last fault in which everything has to end. */
const QUIET_MILLIS = 90_000
const LOOK_MILLIS = 2000
const AUDIT_MILLIS = 2000
const TOP_UP_MILLIS = 2000
/** The time in which every gateway has loaded a new catalog. */
const CATALOG_MILLIS = 1000
/** The time to which the members' caps of a market belong. */
const MARKET_MINUTES = 1

const Message = Schema.fromJsonString(
  Schema.Struct({ type: Schema.String, data: Schema.Struct({ id: Schema.String }) })
)
const decodeMessage = Schema.decodeUnknownSync(Message)

/** A receiver of webhooks that fails every now and then. */
const makeReceiver =
  (witness: Witness, dice: Generator): Handler =>
  async (request) => {
    const { type, data } = decodeMessage(await request.text())
    witness.webhooks.push({
      id: request.headers.get("webhook-id") ?? "",
      type,
      taskId: data.id,
      organizationId: new URL(request.url).pathname.slice(1)
    })
    return new Response(null, { status: dice.isHit(0.1) ? 503 : 204 })
  }

/** Waits until nothing is open. What is still open at the end of the time is a violation. */
const awaitQuiet = Effect.gen(function* () {
  const docket = open("I6", "all holds and tasks end within their deadlines")
  const endMillis = time.elapsed() + QUIET_MILLIS
  let rest = yield* readOpen
  while (rest.length > 0 && time.elapsed() < endMillis) {
    yield* Effect.sleep(LOOK_MILLIS)
    rest = yield* readOpen
  }
  for (const line of rest) docket.look(line)
  docket.look(null)
  return docket.verdict
})

const crashOf = (exit: Exit.Exit<unknown, unknown> | null): ReadonlyArray<string> => {
  if (exit === null) return ["the world stands still: nothing is left that could go on"]
  return Exit.isFailure(exit) ? [`the world broke: ${Cause.pretty(exit.cause)}`] : []
}

export const play = async (prepared: PreparedDatabase, plan: Plan): Promise<Outcome> => {
  const { seed } = plan
  time.reset()
  randomness.reset(seed)
  await resetDatabase(prepared)
  const world = new World(seed, plan.preemption)
  const database = new Database(prepared, world, new Actor("database"))
  const network = new Network(world)
  const witness = makeWitness(`canary-${seed}-sings`)
  const dice = new Generator(seed + 1)
  const [driver, vendorsActor, receiver] = ["driver", "vendors", "receiver"].map(
    (name) => new Actor(name)
  )
  if (driver === undefined || vendorsActor === undefined || receiver === undefined)
    throw new Error()
  network.listen(RECEIVER_HOST, receiver, makeReceiver(witness, new Generator(seed + 2)))
  const gateways: ReadonlyArray<SimulatedGateway> = Array.from(
    { length: plan.gateways },
    (_, index) =>
      makeSimulatedGateway({
        name: `gateway-${index + 1}`,
        world,
        database,
        network,
        skewMillis: dice.between(-5000, 5000),
        restartMillis: () => dice.between(100, 4000)
      })
  )
  const anyGateway = Effect.suspend(() => Effect.raceAllFirst(gateways.map(({ url }) => url)))
  const operator = Effect.map(anyGateway, (gatewayUrl) => ({ gatewayUrl, adminToken: ADMIN_TOKEN }))

  /** Lets clients order while faults happen. */
  const rage = Effect.gen(function* () {
    const market = yield* openMarket(witness, yield* operator, {
      simulatorUrl: vendorsUrl,
      receiverUrl: `http://${RECEIVER_HOST}`,
      clients: Math.max(...plan.clients) + 1,
      minutes: MARKET_MINUTES
    })
    yield* Effect.sleep(CATALOG_MILLIS)
    const faults = scheduleFaults({ world, database, network, gateways }, plan.faults)
    let isOver = false
    const clients = yield* Effect.forkChild(
      Effect.forEach(
        plan.clients,
        (index) => {
          const customer = market.customers[index]
          return customer === undefined
            ? Effect.void
            : runClient(witness, gateways, {
                seed: String(seed),
                index,
                customer,
                isOver: () => isOver
              })
        },
        { concurrency: "unbounded", discard: true }
      )
    )
    const deposits = Effect.forEach(
      market.tight,
      (organizationId) => topUp(witness, operator, organizationId, `top-up ${time.elapsed()}`),
      { concurrency: "unbounded" }
    )
    const audits = readAudit.pipe(
      Effect.tap((violations) =>
        Effect.sync(() => {
          witness.audits.read += 1
          witness.audits.violations.push(...violations.map((line) => `in mid-run: ${line}`))
        })
      ),
      // The database may be away.
      Effect.catchCause(() => Effect.void)
    )
    const beside = yield* Effect.forkChild(
      Effect.all(
        [
          Effect.forever(Effect.delay(deposits, TOP_UP_MILLIS)),
          Effect.forever(Effect.delay(audits, AUDIT_MILLIS)),
          runOffice(witness, operator, market)
        ],
        { concurrency: "unbounded" }
      )
    )
    yield* Effect.sleep(plan.millis)
    isOver = true
    faults.stop()
    yield* Fiber.join(clients)
    yield* Fiber.interrupt(beside)
  })

  let verdicts: ReadonlyArray<Verdict> = []
  const program = Effect.gen(function* () {
    // The vendors read files, which takes real time.
    world.beforeTimeMoves = () => world.awaitRunnable()
    const vendors = yield* makeVendors(network).pipe(world.runAs(vendorsActor))
    world.beforeTimeMoves = () => Promise.resolve()
    network.listen(VENDORS_HOST, vendorsActor, vendors.handle)
    for (const gateway of gateways) gateway.start()
    yield* Effect.timeoutOrElse(rage, {
      duration: plan.millis + QUIET_MILLIS,
      orElse: () => Effect.die(new Error("somebody waits for ever"))
    })
    const quiet = yield* awaitQuiet
    const audits = open("I1-I7", "the audit view is empty whenever it is read")
    for (const line of new Set([...witness.audits.violations, ...(yield* readAudit)])) {
      audits.look(line)
    }
    audits.look(null)
    const books = yield* readBooks(yield* vendors.book)
    verdicts = [audits.verdict, quiet, ...judgeRecords(books, witness, true)]
  }).pipe(
    Effect.scoped,
    Effect.provide([
      layerSimulatedDatabase(database, driver, 1),
      FetchHttpClient.layer.pipe(
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, network.fetchOf(driver)))
      )
    ]),
    world.runAs(driver)
  )

  let end: Exit.Exit<void, unknown> | null = null
  Effect.runFork(program).addObserver((exit) => {
    end = exit
  })
  await world.run(() => end !== null)
  return {
    violations: [
      ...crashOf(end),
      ...verdicts.flatMap(({ id, rule, violations }) =>
        violations.map((line) => `${id} ${rule}: ${line}`)
      )
    ],
    verdicts,
    log: world.log,
    steps: world.steps,
    statements: database.statementCount,
    requests: network.requestCount,
    orders: witness.orders.size,
    simulatedMillis: time.elapsed()
  }
}
