/** Collects the metrics of the workers, and keeps the counts of those that have ended. */
import { addUp, leftOf, type Metrics, readMetrics, writeMetrics } from "./totals.ts"

/** A worker that does not answer within this time counts with what it said last. */
const PATIENCE_MILLIS = 2000

export interface Scrapes {
  /** Asks every worker by `ask`, and answers the metrics of all. */
  readonly scrape: (
    workers: ReadonlySet<number>,
    ask: (worker: number, round: number) => void
  ) => Promise<string>
  readonly collected: (worker: number, round: number, text: string) => void
  /** Nothing more comes from this worker. */
  readonly ended: (worker: number) => void
}

interface Round {
  readonly missing: Set<number>
  readonly end: () => void
}

export const makeScrapes = (): Scrapes => {
  const latest = new Map<number, Metrics>()
  const rounds = new Map<number, Round>()
  let left: Metrics = new Map()
  let begun = 0

  const heard = (worker: number, number: number): void => {
    const round = rounds.get(number)
    round?.missing.delete(worker)
    if (round?.missing.size === 0) round.end()
  }

  return {
    scrape: async (workers, ask) => {
      const round = ++begun
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MILLIS)
        const end = (): void => {
          clearTimeout(timer)
          resolve()
        }
        rounds.set(round, { missing: new Set(workers), end })
        for (const worker of workers) ask(worker, round)
      })
      rounds.delete(round)
      return writeMetrics(addUp([...latest.values(), left]))
    },
    collected: (worker, round, text) => {
      latest.set(worker, readMetrics(text))
      heard(worker, round)
    },
    ended: (worker) => {
      const last = latest.get(worker)
      if (last !== undefined) left = addUp([left, leftOf(last)])
      latest.delete(worker)
      for (const round of [...rounds.keys()]) heard(worker, round)
    }
  }
}
