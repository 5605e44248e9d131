/** What is decided about a world before it begins; all of it follows from the seed. */

import { type Desk, desks } from "../chaos/office.ts"
import type { CutMoment } from "./database.ts"
import { Generator } from "./generator.ts"

interface At {
  /** The name by which a fault can be left out: `f1`. */
  readonly name: string
  /** Simulated time from the first order on. */
  readonly atMillis: number
  /** Scheduling points after that time. */
  readonly afterSteps: number
}

export type Fault = At &
  (
    | { readonly kind: "gateway dropped" | "gateway stopped"; readonly gateway: number }
    | { readonly kind: "gateway frozen"; readonly gateway: number; readonly millis: number }
    | { readonly kind: "statement cut"; readonly gateway: number; readonly moment: CutMoment }
    | {
        readonly kind: "database away" | "disk full" | "vendors away" | "receiver away"
        readonly millis: number
      }
    | { readonly kind: "connections cut" }
    | { readonly kind: "answers lost"; readonly count: number }
  )

export interface Plan {
  readonly seed: number
  readonly gateways: number
  /** The numbers of the clients that order. */
  readonly clients: ReadonlyArray<number>
  /** The operators that are at work. Each world has some, so that each does without the others. */
  readonly desks: ReadonlyArray<Desk>
  /** Simulated time in which clients order and faults happen. */
  readonly millis: number
  /** The probability that a fiber is preempted between two operations. */
  readonly preemption: number
  readonly faults: ReadonlyArray<Fault>
}

/** The clients of the largest world. */
export const MOST_CLIENTS = 4

const DESK_PROBABILITY = 0.25

const makeFault = (dice: Generator, at: At, gateways: number): Fault => {
  const gateway = dice.below(gateways)
  const millis = dice.between(200, 3000)
  switch (dice.below(12)) {
    case 0:
    case 1:
    case 2:
      return { ...at, kind: "gateway dropped", gateway }
    case 3:
      return { ...at, kind: "gateway stopped", gateway }
    case 4:
      // Longer than a lease.
      return { ...at, kind: "gateway frozen", gateway, millis: dice.between(1000, 5000) }
    case 5:
    case 6: {
      const moment = dice.pick<CutMoment>(["before", "in commit", "after commit"])
      return { ...at, kind: "statement cut", gateway, moment }
    }
    case 7:
      return { ...at, kind: "connections cut" }
    case 8:
      return { ...at, kind: dice.pick(["database away", "disk full"]), millis }
    case 9:
      return { ...at, kind: "vendors away", millis }
    case 10:
      return { ...at, kind: "receiver away", millis }
    default:
      return { ...at, kind: "answers lost", count: dice.between(1, 4) }
  }
}

export const planOf = (seed: number): Plan => {
  const dice = new Generator(seed)
  const gateways = dice.between(2, 3)
  const millis = dice.between(1500, 4000)
  const times = Array.from({ length: dice.below(6) }, () => dice.below(millis))
  return {
    seed,
    gateways,
    clients: Array.from({ length: dice.between(1, MOST_CLIENTS) }, (_, index) => index),
    desks: desks.filter(() => dice.isHit(DESK_PROBABILITY)),
    millis,
    preemption: dice.pick([0, 0.0005, 0.002, 0.01]),
    faults: times
      .toSorted((a, b) => a - b)
      .map((atMillis, index) =>
        makeFault(dice, { name: `f${index}`, atMillis, afterSteps: dice.below(150) }, gateways)
      )
  }
}

/** The plan without some of its clients (`c1`), faults (`f1`) and desks. */
export const without = (plan: Plan, names: ReadonlyArray<string>): Plan => ({
  ...plan,
  clients: plan.clients.filter((client) => !names.includes(`c${client}`)),
  desks: plan.desks.filter((desk) => !names.includes(desk)),
  faults: plan.faults.filter(({ name }) => !names.includes(name))
})

/** The command that plays a plan. */
export const commandOf = (plan: Plan): string => {
  const whole = planOf(plan.seed)
  const missing = [
    ...whole.clients
      .filter((client) => !plan.clients.includes(client))
      .map((client) => `c${client}`),
    ...whole.desks.filter((desk) => !plan.desks.includes(desk)),
    ...whole.faults.flatMap(({ name }) =>
      plan.faults.some((fault) => fault.name === name) ? [] : [name]
    )
  ]
  return [
    `npm run simulate -- --seed ${plan.seed}`,
    ...(plan.millis === whole.millis ? [] : [`--until ${plan.millis}`]),
    ...(missing.length === 0 ? [] : [`--without "${missing.join(",")}"`])
  ].join(" ")
}
