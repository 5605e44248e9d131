/** The schedule of the disasters, which depends only on the seed. */
import { Effect, Random } from "effect"
import type { ChaosOptions } from "./options.ts"

/** The kinds of faults of connections to PostgreSQL. */
export const manners = ["at_once", "in_question", "in_answer", "silence"] as const
export type Manner = (typeof manners)[number]

export type Disaster =
  | { readonly _tag: "KillGateway"; readonly gateway: number }
  | { readonly _tag: "StopGateway"; readonly gateway: number }
  | { readonly _tag: "PauseGateway"; readonly gateway: number; readonly seconds: number }
  | { readonly _tag: "KillPostgres"; readonly downSeconds: number }
  | { readonly _tag: "TerminateBackends"; readonly count: number }
  | {
      readonly _tag: "CutConnections"
      readonly manner: Manner
      readonly count: number
      /** The duration of a silence. */
      readonly seconds: number
      /** Whether the connection is cut at the end of a silence. */
      readonly thenCut: boolean
    }

export interface ScheduledDisaster {
  /** Seconds since the start of the disasters. */
  readonly atSeconds: number
  readonly disaster: Disaster
}

const LONGEST_POSTGRES_PAUSE_SECONDS = 1.5
/** On average, one in this number of pauses lasts longer than the deadline of a submit. */
const LONG_PAUSE_EVERY = 4

/** `rate` disasters per minute, each at a random time in its own equal share of the duration. */
const evenly = (minutes: number, rate: number, disaster: Effect.Effect<Disaster>) => {
  const count = Math.round(rate * minutes)
  return Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    Effect.fnUntraced(function* (index): Effect.fn.Return<ScheduledDisaster> {
      const share = (index + (yield* Random.next)) / count
      return { atSeconds: share * minutes * 60, disaster: yield* disaster }
    })
  )
}

/** The schedule in order of time, drawn from the random generator of the fiber that runs it. */
export const makeSchedule = Effect.fnUntraced(function* (
  options: ChaosOptions
): Effect.fn.Return<ReadonlyArray<ScheduledDisaster>> {
  const { minutes, rates, pace } = options
  const gateway = Random.nextIntBetween(0, options.gateways, { halfOpen: true })

  const pause = Effect.gen(function* () {
    const long = (yield* Random.nextIntBetween(0, LONG_PAUSE_EVERY, { halfOpen: true })) === 0
    const atLeast = long ? pace.submitDeadline : pace.lease
    const seconds = atLeast + (yield* Random.nextBetween(0.5, 2.5))
    return { _tag: "PauseGateway", gateway: yield* gateway, seconds } as const
  })
  const cut = Effect.gen(function* () {
    return {
      _tag: "CutConnections",
      manner: yield* Random.choice(manners),
      count: yield* Random.nextIntBetween(1, 8),
      seconds: yield* Random.nextBetween(0.5, 6),
      thenCut: yield* Random.nextBoolean
    } as const
  }).pipe(Effect.orDie)

  const kinds: ReadonlyArray<readonly [number, Effect.Effect<Disaster>]> = [
    [rates.kills, Effect.map(gateway, (gateway) => ({ _tag: "KillGateway", gateway }))],
    [rates.stops, Effect.map(gateway, (gateway) => ({ _tag: "StopGateway", gateway }))],
    [rates.pauses, pause],
    [
      rates.postgresKills,
      Effect.map(Random.nextBetween(0, LONGEST_POSTGRES_PAUSE_SECONDS), (downSeconds) => ({
        _tag: "KillPostgres",
        downSeconds
      }))
    ],
    [
      rates.terminations,
      Effect.map(Random.nextIntBetween(1, 6), (count) => ({ _tag: "TerminateBackends", count }))
    ],
    [rates.cuts, cut]
  ]
  const planned = yield* Effect.forEach(kinds, ([rate, disaster]) =>
    evenly(minutes, rate, disaster)
  )
  return planned.flat().sort((a, b) => a.atSeconds - b.atSeconds)
})
