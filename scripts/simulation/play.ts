/** Plays a world from its plan, and judges it. */
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { readAudit, readBooks, readOpen } from "../chaos/books.ts"
import { topUp } from "../chaos/customers.ts"
import { runFinance } from "../chaos/finance.ts"
import { judgeFinance } from "../chaos/judges/finance.ts"
import { judgeRecords } from "../chaos/judges/records.ts"
import { type Docket, open, type Verdict } from "../chaos/judges/verdict.ts"
import { runClient } from "../chaos/load.ts"
import { runOffice } from "../chaos/office.ts"
import { makeWitness, type Witness } from "../chaos/witness.ts"
import { judgeArchive } from "./archive.ts"
import { BUCKET_HOST, makeBucketServer } from "./bucket.ts"
import {
  judgeOrders,
  judgePolls,
  judgeQueue,
  judgeRecovery,
  judgeStatements,
  judgeWaits,
  readUnheldPlaces,
  readWaitingOrders
} from "./calm.ts"
import { Database } from "./database.ts"
import { RECEIVER_HOST, scheduleFaults } from "./faults.ts"
import { type Foundation, resetDatabase } from "./foundation.ts"
import {
  ADMIN_TOKEN,
  layerSimulatedDatabase,
  makeSimulatedGateway,
  Passes,
  RETRIES_SECONDS,
  type SimulatedGateway
} from "./gateways.ts"
import { Generator } from "./generator.ts"
import { judgeLedgerModel } from "./ledgerModel.ts"
import { type Handler, layerClient, Network } from "./network.ts"
import type { Episode, Plan } from "./plan.ts"
import { randomness, time } from "./realm.ts"
import { judgeTampering } from "./tamper.ts"
import { makeVendors, VENDORS_HOST } from "./vendors.ts"
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
/** The maximum simulated time between the end of the plan and the end of the world. */
const MOST_MILLIS_AFTER = 3_600_000
const LOOK_MILLIS = 1000
const AUDIT_MILLIS = 2000
const TOP_UP_MILLIS = 2000

const Message = Schema.fromJsonString(
  Schema.Struct({ type: Schema.String, data: Schema.Struct({ id: Schema.String }) })
)
const decodeMessage = Schema.decodeUnknownSync(Message)

/** A receiver of webhooks that fails every now and then. */
const makeReceiver =
  (witness: Witness, dice: Generator): Handler =>
  async (request) => {
    const { type, data } = decodeMessage(await request.text())
    const isTaken = !dice.isHit(0.1)
    witness.webhooks.push({
      id: request.headers.get("webhook-id") ?? "",
      type,
      taskId: data.id,
      organizationId: new URL(request.url).pathname.slice(1),
      isTaken
    })
    return new Response(null, { status: isTaken ? 204 : 503 })
  }

/** Waits until nothing is open. What is still open at the end of the time is a violation. */
const awaitQuiet = Effect.fnUntraced(function* (docket: Docket) {
  const endMillis = time.elapsed() + QUIET_MILLIS
  const read = Effect.gen(function* () {
    const places = yield* readUnheldPlaces
    const left = places.map(({ order_id }) => `place without a hold ${order_id}`)
    return [...(yield* readOpen(RETRIES_SECONDS.length)), ...left]
  })
  let rest = yield* read
  while (rest.length > 0 && time.elapsed() < endMillis) {
    yield* Effect.sleep(LOOK_MILLIS)
    rest = yield* read
  }
  for (const line of rest) docket.look(line)
  docket.look(null)
})

const crashOf = (exit: Exit.Exit<unknown, unknown> | null): ReadonlyArray<string> => {
  if (exit === null) return ["the world does not end: it is deadlocked, or exceeds its time limit"]
  return Exit.isFailure(exit) ? [`the world broke: ${Cause.pretty(exit.cause)}`] : []
}

/** The observations of a world, which begin with those of its market. */
const makeWorldWitness = (seed: number, { witness }: Foundation): Witness => ({
  ...makeWitness(`canary-${seed}-sings`),
  deposits: witness.deposits.map((deposit) => ({ ...deposit })),
  budgets: witness.budgets.map((budget) => ({ ...budget, changes: [] }))
})

export const play = async (foundation: Foundation, plan: Plan): Promise<Outcome> => {
  const { seed } = plan
  const { market } = foundation
  time.reset(plan.beginsAtMillis)
  randomness.reset(seed)
  await resetDatabase(foundation)
  const world = new World(seed, plan.preemption)
  const database = new Database(foundation.database, world, new Actor("database"), {
    dice: new Generator(seed + 5),
    lateness: plan.lateness
  })
  const network = new Network(world, new Generator(seed + 4), plan.latencyMillis)
  const witness = makeWorldWitness(seed, foundation)
  const dice = new Generator(seed + 1)
  const driver = new Actor("driver")
  const vendorsActor = new Actor("vendors")
  const receiver = new Actor("receiver")
  const bucketActor = new Actor("bucket")
  network.listen(RECEIVER_HOST, receiver, makeReceiver(witness, new Generator(seed + 2)))
  const bucket = makeBucketServer(new Generator(seed + 7))
  network.listen(BUCKET_HOST, bucketActor, bucket.handle)
  const passes = new Passes()
  const gateways: ReadonlyArray<SimulatedGateway> = Array.from(
    { length: plan.gateways },
    (_, index) =>
      makeSimulatedGateway({
        name: `gateway-${index + 1}`,
        world,
        database,
        network,
        passes,
        skewMillis: dice.between(-5000, 5000),
        isAlone: plan.gateways === 1,
        isArchived: plan.isArchived,
        restartMillis: () => dice.between(100, 4000)
      })
  )
  const anyGateway = Effect.suspend(() => Effect.raceAllFirst(gateways.map(({ url }) => url)))
  const operator = Effect.map(anyGateway, (gatewayUrl) => ({ gatewayUrl, adminToken: ADMIN_TOKEN }))

  /** The times at which the faults of each episode were over. */
  const calmMillis: Array<number> = []
  const unheldPlaces: Array<Effect.Success<typeof readUnheldPlaces>[number]> = []
  const waitingOrders: Array<Effect.Success<typeof readWaitingOrders>[number]> = []
  const areWell = () => gateways.every((gateway) => gateway.isWell())

  /** Lets clients order while faults happen. */
  const rage = Effect.fnUntraced(function* (episode: Episode, number: number) {
    yield* operator
    const faults = scheduleFaults({ world, database, network, passes, gateways }, episode.faults)
    let isOver = false
    const clients = yield* Effect.forkChild(
      Effect.forEach(
        episode.clients,
        (index) => {
          const customer = market.customers[index]
          return customer === undefined
            ? Effect.void
            : runClient(witness, gateways, {
                seed: String(seed),
                name: `${number}.${index}`,
                index,
                customer,
                focus: episode.focus,
                isOver: () => isOver
              })
        },
        { concurrency: "unbounded", discard: true }
      )
    )
    const finance = yield* Effect.forkChild(
      episode.desks.includes("finance")
        ? runFinance(witness, operator, `finance ${number}`)
        : Effect.void
    )
    const poor = episode.clients.flatMap((index) => {
      const organizationId = market.customers[index]?.organizationId ?? ""
      return market.tight.includes(organizationId) ? [organizationId] : []
    })
    const deposits = Effect.forEach(
      new Set(poor),
      (organizationId) => topUp(witness, operator, organizationId, `top-up ${time.elapsed()}`),
      { concurrency: "unbounded" }
    )
    const audits = Effect.gen(function* () {
      const violations = yield* readAudit
      witness.audits.read += 1
      witness.audits.violations.push(...violations.map((line) => `in mid-run: ${line}`))
      waitingOrders.push(...(yield* readWaitingOrders))
    }).pipe(
      // The database may be away.
      Effect.catchCause(() => Effect.void)
    )
    const beside = yield* Effect.forkChild(
      Effect.all(
        [
          Effect.forever(Effect.delay(deposits, TOP_UP_MILLIS)),
          Effect.forever(Effect.delay(audits, AUDIT_MILLIS)),
          runOffice(witness, operator, market, episode.desks)
        ],
        { concurrency: "unbounded" }
      )
    )
    yield* Effect.sleep(Math.min(episode.millis, plan.endMillis - episode.atMillis))
    isOver = true
    faults.stop()
    yield* Effect.repeat(Effect.delay(Effect.sync(areWell), "100 millis"), {
      until: (isCalm) => isCalm
    })
    calmMillis.push(time.nowMillis)
    unheldPlaces.push(...(yield* readUnheldPlaces))
    waitingOrders.push(...(yield* readWaitingOrders))
    yield* Fiber.join(clients)
    yield* Fiber.join(finance)
    yield* Fiber.interrupt(beside)
  })

  const quiet = open("I6", "all holds and tasks end within their deadlines")

  /** Plays an episode until nothing is open. Until it begins, all machines sleep. */
  const playEpisode = Effect.fnUntraced(function* (episode: Episode, number: number) {
    if (number > 0) time.jump(episode.atMillis - world.elapsedMillis())
    yield* Effect.timeoutOrElse(rage(episode, number), {
      duration: episode.millis + QUIET_MILLIS,
      orElse: () => Effect.die(new Error("somebody waits for ever"))
    })
    yield* awaitQuiet(quiet)
  })

  let verdicts: ReadonlyArray<Verdict> = []
  const program = Effect.gen(function* () {
    world.isReading = true
    const vendors = yield* makeVendors(network).pipe(world.runAs(vendorsActor))
    world.isReading = false
    // Until the time moves, everything that the reading has left to do is done.
    yield* Effect.sleep(1)
    world.begin()
    network.listen(VENDORS_HOST, vendorsActor, vendors.handle)
    for (const gateway of gateways) gateway.start()
    const episodes = plan.episodes.filter(({ atMillis }) => atMillis < plan.endMillis)
    yield* Effect.forEach(episodes, playEpisode, { discard: true })
    const audits = open("I1-I7", "the audit view is empty whenever it is read")
    for (const line of new Set([...witness.audits.violations, ...(yield* readAudit)])) {
      audits.look(line)
    }
    audits.look(null)
    const books = yield* readBooks(yield* vendors.book)
    const archiveVerdicts = plan.isArchived
      ? yield* judgeArchive(bucket, yield* operator, new Generator(seed + 8))
      : []
    const ledgerVerdicts = plan.isLedgerCompared
      ? [yield* judgeLedgerModel(database, new Generator(seed + 6))]
      : []
    verdicts = [
      audits.verdict,
      quiet.verdict,
      ...judgeRecords(books, witness, true),
      ...judgeFinance(witness),
      ...archiveVerdicts,
      ...ledgerVerdicts,
      judgeStatements(database.failures),
      judgePolls(books, yield* vendors.polls, calmMillis),
      judgeWaits(books, witness, calmMillis, unheldPlaces),
      judgeQueue(waitingOrders),
      ...gateways
        .filter(() => plan.gateways === 1)
        .map(({ servedFrom }) => judgeRecovery(books, servedFrom, calmMillis)),
      ...(episodes.some(({ faults }) => faults.length > 0) ? [] : [judgeOrders(books, witness)])
    ]
    if (plan.isTampered) {
      const tampering = yield* judgeTampering(yield* operator, market.customers[0])
      verdicts = [...verdicts, ...tampering]
    }
  }).pipe(
    Effect.scoped,
    Effect.provide([layerSimulatedDatabase(database, driver, 1), layerClient(network, driver)]),
    world.runAs(driver)
  )

  const end = await world.exitOf(program, plan.endMillis + MOST_MILLIS_AFTER)
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
    simulatedMillis: world.elapsedMillis()
  }
}
