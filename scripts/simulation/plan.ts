/** What is decided about a world before it begins; all of it follows from the seed. */

import type { Failpoint } from "../../src/runtime/Failpoints.ts"
import { type Desk, desks } from "../chaos/office.ts"
import { type Focus, focuses } from "../chaos/orders.ts"
import type { CutMoment } from "./database.ts"
import { Generator } from "./generator.ts"
import { DAY_MILLIS, START_MILLIS } from "./realm.ts"

/**
 * What a fault comes after: a scheduling point, a request, one to cancel, an order that a gateway
 * sends a vendor, an answer, a statement, a statement by which an order goes on, one by which an
 * order waits, a failpoint, or one of those.
 */
export type Moment = (typeof moments)[number] | Failpoint
const moments = [
  "steps",
  "requests",
  "cancels",
  "vendor orders",
  "answers",
  "statements",
  "moves",
  "queue moves",
  "failpoints"
] as const

interface At {
  /** The name by which a fault can be left out: `f1`. */
  readonly name: string
  /** Simulated time from the beginning of the episode on. */
  readonly atMillis: number
  /** How many of what has to happen after that time. */
  readonly after: number
  readonly of: Moment
  /** How many scheduling points later it comes. */
  readonly steps: number
  /** Whether it meets the gateway that did what it comes after, where one did, and not its own. */
  readonly isOfLast: boolean
}

export type Fault = At &
  (
    | { readonly kind: "gateway dropped" | "gateway stopped"; readonly gateway: number }
    | {
        readonly kind: "gateway frozen" | "wire silent"
        readonly gateway: number
        readonly millis: number
      }
    | { readonly kind: "statement cut"; readonly gateway: number; readonly moment: CutMoment }
    | {
        readonly kind:
          | "database away"
          | "disk full"
          | "vendors away"
          | "receiver away"
          | "bucket away"
        readonly millis: number
      }
    | { readonly kind: "connections cut" }
    | { readonly kind: "answers lost"; readonly count: number }
  )

/** A time in which clients order and faults happen, and after which everything comes to its end. */
export interface Episode {
  /** Simulated time from the first order of the world on. */
  readonly atMillis: number
  readonly millis: number
  /** The numbers of the clients that order. */
  readonly clients: ReadonlyArray<number>
  /** The operators that are at work. Each world has some, so that each does without the others. */
  readonly desks: ReadonlyArray<Desk>
  /** What all orders are about; null where clients do one duty after the other. */
  readonly focus: Focus | null
  readonly faults: ReadonlyArray<Fault>
}

export interface Plan {
  readonly seed: number
  readonly gateways: number
  /** The time of the first order. */
  readonly beginsAtMillis: number
  /** The simulated time at which the last episode is broken off. */
  readonly endMillis: number
  /** The probability that a fiber is preempted between two operations. */
  readonly preemption: number
  /** The longest time that a request, or its answer, is on its way. */
  readonly latencyMillis: number
  /** The probability that a statement is on its way for a time, so that others gather behind it. */
  readonly lateness: number
  /** Whether the books are damaged in the end, which the audit has to tell. */
  readonly isTampered: boolean
  /** Whether results are copied into an archive. */
  readonly isArchived: boolean
  /** Whether two ledgers are compared with their model in the end. */
  readonly isLedgerCompared: boolean
  readonly episodes: readonly [Episode, ...ReadonlyArray<Episode>]
}

/** The clients of the largest world. */
export const MOST_CLIENTS = 4

const DESK_PROBABILITY = 0.25
/** That of the finance desk, whose work has more parts than one world does. */
const FINANCE_PROBABILITY = 0.5
const TAMPER_PROBABILITY = 0.3
const ARCHIVE_PROBABILITY = 0.4
const LEDGER_PROBABILITY = 0.4
const FOCUS_PROBABILITY = 0.75
const MOST_FAULTS = 7
const NO_FAULT_PROBABILITY = 0.25
/** Clients that disconnect are faults enough, and orders that wait show most where gateways die. */
const calm: Partial<Record<Focus, number>> = { "hang-ups": 0.6, queue: 0.1 }
/** The probability that a fault at a failpoint is the death of a gateway. */
const DEATH_PROBABILITY = 0.6
/** The time in which an episode comes to its end. */
const MOST_EPISODE_MILLIS = 120_000

/** A gateway stands still for longer than a lease, or than any order but a video may take. */
const drawFreeze = (dice: Generator): number =>
  dice.isHit(0.3) ? dice.between(9000, 18_000) : dice.between(1000, 5000)

type Kind = Fault["kind"]

/** Each is drawn as often as it is listed. */
const kinds: readonly [Kind, ...ReadonlyArray<Kind>] = [
  "gateway dropped",
  "gateway dropped",
  "gateway dropped",
  "gateway dropped",
  "gateway dropped",
  "gateway stopped",
  "gateway frozen",
  "gateway frozen",
  "gateway frozen",
  "statement cut",
  "statement cut",
  "wire silent",
  "wire silent",
  "connections cut",
  "disk full",
  "database away",
  "vendors away",
  "receiver away",
  "bucket away",
  "answers lost",
  "answers lost"
]

/** Those that are drawn more often where all orders are about the same. */
const focusKinds: Partial<Record<Focus, ReadonlyArray<Kind>>> = {
  queue: ["gateway dropped", "gateway dropped", "gateway frozen", "gateway frozen"],
  cancelling: ["vendors away", "vendors away", "answers lost", "answers lost"],
  images: ["gateway dropped", "answers lost"]
}

const drawFault = (dice: Generator, at: At, gateways: number, focus: Focus | null): Fault => {
  const gateway = dice.below(gateways)
  const millis = dice.between(200, 3000)
  const more = focus === null ? undefined : focusKinds[focus]
  const drawn = dice.pick([...kinds, ...(more ?? [])])
  const kind = isFailpoint(at.of) && dice.isHit(DEATH_PROBABILITY) ? "gateway dropped" : drawn
  switch (kind) {
    case "gateway dropped":
    case "gateway stopped":
      return { ...at, kind, gateway }
    case "gateway frozen":
      return { ...at, kind, gateway, millis: drawFreeze(dice) }
    case "wire silent":
      return { ...at, kind, gateway, millis: dice.between(500, 6000) }
    case "statement cut": {
      const moment = dice.pick<CutMoment>(["before", "in commit", "after commit"])
      return { ...at, kind, gateway, moment }
    }
    case "connections cut":
      return { ...at, kind }
    case "disk full":
    case "database away":
    case "vendors away":
    case "receiver away":
    case "bucket away":
      return { ...at, kind, millis }
    case "answers lost":
      return { ...at, kind, count: dice.between(1, 4) }
  }
}

/** A world is at the end of a month, of a day, or at neither. */
const midnights = [null, null, Date.UTC(2027, 1, 1), Date.UTC(2027, 0, 3)] as const

const drawBeginning = (dice: Generator): number => {
  const midnight = dice.pick(midnights)
  return midnight === null ? START_MILLIS : midnight - dice.between(500, 8000)
}

/** The part of a plan that does not depend on how long the world is. */
const drawWorld = (dice: Generator, seed: number) => ({
  seed,
  gateways: dice.pick([1, 1, 2, 2, 3, 4]),
  preemption: dice.pick([0, 0.0005, 0.002, 0.01]),
  latencyMillis: dice.pick([0, 30, 200, 800]),
  lateness: dice.pick([0, 0.05, 0.3]),
  isTampered: dice.isHit(TAMPER_PROBABILITY),
  isArchived: dice.isHit(ARCHIVE_PROBABILITY),
  isLedgerCompared: dice.isHit(LEDGER_PROBABILITY)
})

/** The focuses of which most can go wrong are drawn more often. */
const drawFocus = (dice: Generator): Focus | null =>
  dice.isHit(FOCUS_PROBABILITY) ? dice.pick([...focuses, "queue", "queue", "cancelling"]) : null

/** The length of an episode. Orders that wait for a place are submitted only after some seconds. */
const drawMillis = (dice: Generator, focus: Focus | null): number =>
  focus === "queue" ? dice.between(5000, 10_000) : dice.between(1500, 4000)

/** How many of each come soon; of a single failpoint at most two. */
const mostAfter: Record<(typeof moments)[number], number> = {
  steps: 150,
  requests: 10,
  cancels: 2,
  "vendor orders": 4,
  answers: 8,
  statements: 40,
  moves: 6,
  "queue moves": 4,
  failpoints: 6
}
const MOST_AFTER_FAILPOINT = 2
const MOST_STEPS_AFTER = 12

export const isFailpoint = (moment: Moment): moment is Failpoint => moment.includes(".")

/** The moments of most faults where all orders are about the same. */
const focusMoments: Partial<Record<Focus, readonly [Moment, ...ReadonlyArray<Moment>]>> = {
  queue: [
    "vendor orders",
    "queue moves",
    "video.placed",
    "video.joined",
    "video.waiting",
    "video.dispatched",
    "video.started",
    "video.made",
    "video.finished",
    "video.settled"
  ],
  cancelling: ["cancels", "cancels", "vendor orders", "video.cancelled", "image.cancelled"],
  images: ["vendor orders", "image.placed", "image.held", "image.made", "image.finished"]
}

const drawMoment = (dice: Generator, focus: Focus | null): Omit<At, "name" | "atMillis"> => {
  const focused = focus === null ? undefined : focusMoments[focus]
  const of = dice.pick<Moment>(focused !== undefined && dice.isHit(0.8) ? focused : moments)
  return {
    of,
    after: dice.below(isFailpoint(of) ? MOST_AFTER_FAILPOINT : mostAfter[of]),
    steps: dice.isHit(0.5) ? 0 : dice.below(MOST_STEPS_AFTER),
    isOfLast: dice.isHit(isFailpoint(of) ? 0.9 : 0.6)
  }
}

interface FaultTerms {
  /** Begins the names of the faults. */
  readonly name: string
  readonly millis: number
  readonly gateways: number
  readonly focus: Focus | null
}

const drawFaults = (dice: Generator, { name, millis, gateways, focus }: FaultTerms) => {
  const isCalm = dice.isHit((focus === null ? undefined : calm[focus]) ?? NO_FAULT_PROBABILITY)
  const count = isCalm ? 0 : dice.between(focus === "queue" ? 3 : 1, MOST_FAULTS)
  return Array.from({ length: count }, () => dice.below(millis))
    .toSorted((a, b) => a - b)
    .map((atMillis, index) =>
      drawFault(
        dice,
        { name: `${name}${index}`, atMillis, ...drawMoment(dice, focus) },
        gateways,
        focus
      )
    )
}

const drawDesks = (dice: Generator) =>
  desks.filter((desk) => dice.isHit(desk === "finance" ? FINANCE_PROBABILITY : DESK_PROBABILITY))

/** How often wires fall silent in an episode with faults in which keys are revoked. */
const SILENCES = 3

/** Silent wires, so that a gateway does not hear of a key that another one revoked. */
const drawSilences = (dice: Generator, { name, millis, gateways }: FaultTerms) =>
  Array.from(
    { length: SILENCES },
    (_, index): Fault => ({
      name: `${name}s${index}`,
      atMillis: dice.below(millis),
      of: "steps",
      after: 0,
      steps: 0,
      isOfLast: false,
      kind: "wire silent",
      gateway: dice.below(gateways),
      millis: dice.between(1500, 4000)
    })
  )

/** The death of a gateway in a poll, whose task another one has to poll on. */
const drawDeathInPoll = (dice: Generator, { name, millis, gateways }: FaultTerms): Fault => ({
  name: `${name}p`,
  atMillis: dice.below(millis),
  of: "video.claimed",
  after: dice.below(MOST_AFTER_FAILPOINT),
  steps: 0,
  isOfLast: true,
  kind: "gateway dropped",
  gateway: dice.below(gateways)
})

/** The faults, and those between several gateways that would be too rare by themselves. */
const withRareFaults = (
  dice: Generator,
  faults: ReadonlyArray<Fault>,
  terms: FaultTerms,
  chosen: ReadonlyArray<Desk>
): ReadonlyArray<Fault> => {
  if (faults.length === 0 || terms.gateways === 1) return faults
  const rare = chosen.includes("keys") ? drawSilences(dice, terms) : [drawDeathInPoll(dice, terms)]
  return [...faults, ...rare].toSorted((a, b) => a.atMillis - b.atMillis)
}

/** The plan of a world of some seconds. */
export const planOf = (seed: number): Plan => {
  const dice = new Generator(seed)
  const world = drawWorld(dice, seed)
  const focus = drawFocus(dice)
  const fewest = focus === "queue" ? MOST_CLIENTS - 1 : 1
  const clients = Array.from({ length: dice.between(fewest, MOST_CLIENTS) }, (_, index) => index)
  const millis = drawMillis(dice, focus)
  const terms = { name: "f", millis, gateways: world.gateways, focus }
  const drawnFaults = drawFaults(dice, terms)
  const beginsAtMillis = drawBeginning(dice)
  const chosen = drawDesks(dice)
  const faults = withRareFaults(dice, drawnFaults, terms, chosen)
  return {
    ...world,
    beginsAtMillis,
    endMillis: millis,
    episodes: [{ atMillis: 0, millis, clients, desks: chosen, focus, faults }]
  }
}

const DAYS_OF_YEAR = 365
/** The time before midnight at which the last episode of a month begins, so that the month ends in it. */
const BEFORE_MIDNIGHT_MILLIS = 2000

const isLastOfMonth = (day: number) =>
  new Date(START_MILLIS + (day + 1) * DAY_MILLIS).getUTCDate() === 1

/** The plan of a year with an episode on each day. Between two episodes all machines sleep. */
export const yearPlanOf = (seed: number, customers: number): Plan => {
  const dice = new Generator(seed)
  const world = drawWorld(dice, seed)
  const drawDay = (day: number): Episode => {
    const focus = drawFocus(dice)
    const millis = drawMillis(dice, focus)
    const time = isLastOfMonth(day)
      ? DAY_MILLIS - BEFORE_MIDNIGHT_MILLIS
      : dice.below(DAY_MILLIS - 2 * MOST_EPISODE_MILLIS)
    const clients = new Set(Array.from({ length: MOST_CLIENTS }, () => dice.below(customers)))
    const chosen = drawDesks(dice)
    const terms = { name: `f${day}.`, millis, gateways: world.gateways, focus }
    return {
      atMillis: day * DAY_MILLIS + time,
      millis,
      clients: [...clients],
      desks: chosen,
      focus,
      faults: withRareFaults(dice, drawFaults(dice, terms), terms, chosen)
    }
  }
  const [first, ...others] = Array.from({ length: DAYS_OF_YEAR }, (_, day) => drawDay(day))
  if (first === undefined) throw new Error("a year has no day")
  return {
    ...world,
    beginsAtMillis: START_MILLIS,
    endMillis: DAYS_OF_YEAR * DAY_MILLIS,
    episodes: [first, ...others]
  }
}

/** The plan without some of its clients (`c1`), faults (`f1`) and desks. */
export const without = (plan: Plan, names: ReadonlyArray<string>): Plan => {
  const cut = (episode: Episode): Episode => ({
    ...episode,
    clients: episode.clients.filter((client) => !names.includes(`c${client}`)),
    desks: episode.desks.filter((desk) => !names.includes(desk)),
    faults: episode.faults.filter(({ name }) => !names.includes(name))
  })
  const [first, ...others] = plan.episodes
  return { ...plan, episodes: [cut(first), ...others.map(cut)] }
}

/** The names of the parts of a plan that can be left out. */
export const partsOf = ({ episodes }: Plan): ReadonlyArray<string> => [
  ...new Set(
    episodes.flatMap(({ clients, desks, faults }) => [
      ...faults.map(({ name }) => name),
      ...desks,
      ...clients.map((client) => `c${client}`)
    ])
  )
]

/** The command that plays a plan, which was made from the `whole` one. */
export const commandOf = (plan: Plan, whole: Plan): string => {
  const parts = partsOf(plan)
  const missing = partsOf(whole).filter((name) => !parts.includes(name))
  return [
    `npm run simulate -- --seed ${plan.seed}`,
    ...(whole.episodes.length > 1 ? ["--year"] : []),
    ...(plan.endMillis === whole.endMillis ? [] : [`--until ${plan.endMillis}`]),
    ...(missing.length === 0 ? [] : [`--without "${missing.join(",")}"`])
  ].join(" ")
}
