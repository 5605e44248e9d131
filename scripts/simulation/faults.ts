/** Lets the faults of a plan happen. */
import { Effect } from "effect"
import { BUCKET_HOST } from "./bucket.ts"
import type { Database } from "./database.ts"
import type { Passes, SimulatedGateway } from "./gateways.ts"
import type { Network } from "./network.ts"
import { type Fault, isFailpoint, type Moment } from "./plan.ts"
import { time } from "./realm.ts"
import { VENDORS_HOST } from "./vendors.ts"
import { Actor, type World } from "./world.ts"

export const RECEIVER_HOST = "receiver.test"

const hosts = {
  "vendors away": VENDORS_HOST,
  "receiver away": RECEIVER_HOST,
  "bucket away": BUCKET_HOST
}

/** The longest time that a fault waits for what it is to come after; a failpoint may be rare. */
const patienceOf = (moment: Moment): number => (isFailpoint(moment) ? 2000 : 800)

interface Parts {
  readonly world: World
  readonly database: Database
  readonly network: Network
  readonly passes: Passes
  readonly gateways: ReadonlyArray<SimulatedGateway>
}

/** Plans the faults from now on; `stop` ends all that last, and lets no other one happen. */
export const scheduleFaults = (
  { world, database, network, passes, gateways }: Parts,
  faults: ReadonlyArray<Fault>
): { readonly stop: () => void } => {
  const fate = new Actor("fate")
  const beganAtMillis = time.elapsed()
  const absentHosts = new Set<string>()
  let lostAnswers = 0
  let next = 0
  let vendorOrders = 0
  /**
   * How often each has happened, and the name of the process that did the last one; empty for a
   * scheduling point and for an answer.
   */
  const tallies = {
    steps: { count: () => world.steps, last: () => "" },
    answers: { count: () => network.answerCount, last: () => "" },
    requests: { count: () => network.requestCount, last: () => network.lastClient },
    cancels: { count: () => network.cancelCount, last: () => network.lastClient },
    "vendor orders": { count: () => vendorOrders, last: () => network.lastClient },
    statements: { count: () => database.statementCount, last: () => database.lastClient },
    moves: { count: () => database.moveCount, last: () => database.lastClient },
    "queue moves": { count: () => database.queueCount, last: () => database.lastClient },
    failpoints: { count: () => passes.count, last: () => passes.lastClient }
  }
  const tallyOf = (moment: Moment) =>
    isFailpoint(moment)
      ? { count: () => passes.of(moment), last: () => passes.lastClient }
      : tallies[moment]
  /** The count after which the next fault happens, and the step after that; null before its time. */
  let dueCount: number | null = null
  let dueStep: number | null = null
  /** Who did what the next fault comes after. */
  let met = ""

  network.mishapOf = (client, host, method) => {
    if (absentHosts.has(host)) return "refused"
    const isGateway = gateways.some(({ name }) => name === client.name)
    if (host !== VENDORS_HOST || !isGateway) return null
    if (method === "POST") vendorOrders += 1
    if (lostAnswers === 0) return null
    lostAnswers -= 1
    return "answer lost"
  }

  /** Begins something that ends after a time, or with all faults. */
  const ends = new Set<() => void>()
  const forMillis = (millis: number, begin: () => void, end: () => void) => {
    begin()
    ends.add(end)
    time.set(millis, () => {
      if (ends.delete(end)) end()
    })
  }

  const happen = (fault: Fault) => {
    world.note(fate, JSON.stringify(fault))
    const gateway =
      "gateway" in fault
        ? (gateways.find(({ name }) => fault.isOfLast && name === met) ?? gateways[fault.gateway])
        : undefined
    switch (fault.kind) {
      case "gateway dropped":
        return gateway?.drop()
      case "gateway stopped":
        return void (gateway === undefined || Effect.runFork(gateway.stop))
      case "gateway frozen":
        return gateway?.freeze(fault.millis)
      case "statement cut":
        database.nextCut =
          gateway === undefined ? null : { actor: gateway.name, moment: fault.moment }
        return
      case "wire silent":
        database.silence =
          gateway === undefined
            ? null
            : { actor: gateway.name, untilMillis: time.nowMillis + fault.millis }
        return
      case "connections cut":
        return database.cutAll(null)
      case "database away":
        return forMillis(
          fault.millis,
          () => {
            database.isAway = true
            database.cutAll(null)
          },
          () => {
            database.isAway = false
          }
        )
      case "disk full":
        return forMillis(
          fault.millis,
          () => {
            database.isFull = true
          },
          () => {
            database.isFull = false
          }
        )
      case "vendors away":
      case "receiver away":
      case "bucket away": {
        const host = hosts[fault.kind]
        return forMillis(
          fault.millis,
          () => absentHosts.add(host),
          () => absentHosts.delete(host)
        )
      }
      case "answers lost":
        lostAnswers += fault.count
        return
    }
  }

  world.onStep = () => {
    const fault = faults[next]
    const lateMillis = time.elapsed() - beganAtMillis - (fault?.atMillis ?? 0)
    if (fault === undefined || lateMillis < 0) return
    const { count: countNow, last } = tallyOf(fault.of)
    const count = countNow()
    dueCount ??= count + 1 + fault.after
    if (count < dueCount && lateMillis < patienceOf(fault.of)) return
    if (dueStep === null) {
      dueStep = world.steps + fault.steps
      met = last()
    }
    if (world.steps < dueStep) return
    next += 1
    dueCount = null
    dueStep = null
    happen(fault)
  }

  return {
    stop: () => {
      world.onStep = () => undefined
      database.nextCut = null
      database.silence = null
      lostAnswers = 0
      for (const end of ends) end()
      ends.clear()
    }
  }
}
