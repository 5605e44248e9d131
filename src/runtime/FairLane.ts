/**
 * A lane for work that would take a shared resource from everybody if it ran whenever it came: few run
 * at a time, of one owner fewer still, and those that wait take turns by owner, so that an owner with
 * many waiting delays its own work and nobody else's. After its work each place rests for as long as that
 * took, which leaves the resource to what does not go through the lane for half of the time.
 */
import { Context, Effect, identity } from "effect"

export interface LaneBounds {
  /** Places of the lane. */
  readonly together: number
  /** Places that one owner may have. */
  readonly each: number
  /** What of one owner may wait. */
  readonly waiting: number
}

/** One piece of work, from its arrival to its end. */
interface Entry {
  readonly owner: string
  state: "waiting" | "running" | "left"
  begin: () => void
  beganAt: number
}

/** Bounds of a place's rest after its work. */
const SHORTEST_REST_MILLIS = 1
const LONGEST_REST_MILLIS = 50

export const makeFairLane = ({ together, each, waiting }: LaneBounds) => {
  /** In the order of the owners' turns; an owner that has just had one goes to the end. */
  const queues = new Map<string, Set<Entry>>()
  const running = new Map<string, number>()
  let allRunning = 0

  const runningOf = (owner: string): number => running.get(owner) ?? 0
  const changeRunning = (owner: string, by: number): void => {
    allRunning += by
    const left = runningOf(owner) + by
    if (left > 0) running.set(owner, left)
    else running.delete(owner)
  }

  const take = (entry: Entry): void => {
    const queue = queues.get(entry.owner)
    queue?.delete(entry)
    if (queue?.size === 0) queues.delete(entry.owner)
  }

  /** Gives the free places away. */
  const advance = (): void => {
    while (allRunning < together) {
      const next = [...queues].find(([owner]) => runningOf(owner) < each)
      const [entry] = next?.[1] ?? []
      if (next === undefined || entry === undefined) return
      const [owner, queue] = next
      // The owner's next turn comes after those of all others.
      queues.delete(owner)
      queues.set(owner, queue)
      take(entry)
      entry.state = "running"
      entry.beganAt = performance.now()
      changeRunning(owner, 1)
      entry.begin()
    }
  }

  const leave = (entry: Entry): void => {
    if (entry.state === "waiting") take(entry)
    else {
      const tookMillis = performance.now() - entry.beganAt
      const restMillis = Math.min(Math.max(SHORTEST_REST_MILLIS, tookMillis), LONGEST_REST_MILLIS)
      setTimeout(() => {
        changeRunning(entry.owner, -1)
        advance()
      }, restMillis).unref()
    }
    entry.state = "left"
  }

  const enter = (owner: string): Entry => {
    const entry: Entry = { owner, state: "waiting", begin: () => undefined, beganAt: 0 }
    const queue = queues.get(owner) ?? new Set()
    queues.set(owner, queue.add(entry))
    advance()
    return entry
  }

  const awaitTurn = (entry: Entry): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (entry.state === "running") resume(Effect.void)
      else entry.begin = () => resume(Effect.void)
    })

  /** Runs the work when its turn has come, however many wait. */
  const inTurn = <A, E, R>(owner: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => enter(owner)),
      (entry) => Effect.andThen(awaitTurn(entry), work),
      (entry) => Effect.sync(() => leave(entry))
    )

  return {
    inTurn,
    /** Whether one more of the owner may wait. */
    hasRoom: (owner: string): boolean => (queues.get(owner)?.size ?? 0) < waiting,
    /** What is in the lane. */
    count: () => ({
      running: allRunning,
      waiting: [...queues.values()].reduce((sum, queue) => sum + queue.size, 0)
    })
  }
}

export type FairLane = ReturnType<typeof makeFairLane>

/** Runs a piece of work in the turn of whoever makes the request that is being handled; at once where nobody does. */
export const CurrentTurn = Context.Reference<
  <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
>("gateway/runtime/CurrentTurn", { defaultValue: () => identity })
