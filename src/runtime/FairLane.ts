/**
 * A fair semaphore for work that would otherwise monopolize a shared resource: only a few pieces of
 * work run concurrently, even fewer of one owner, and waiting ones are served round-robin by owner.
 * An owner with a long queue therefore delays only its own work. After its work, each permit cools
 * down for as long as the work took, which leaves the resource to other work for half of the time.
 */
import { Context, Effect, identity } from "effect"

interface LaneLimits {
  /** The number of permits of the lane. */
  readonly total: number
  /** The maximum number of permits of one owner. */
  readonly perOwner: number
  /** The maximum number of waiting pieces of work of one owner. */
  readonly maxWaiting: number
}

/** One piece of work, from its arrival to its end. */
interface Entry {
  readonly owner: string
  state: "waiting" | "running" | "ended"
  begin: () => void
  startedAtMillis: number
}

/** The minimum and maximum cooldown of a permit after its work. */
const MIN_COOLDOWN_MILLIS = 1
const MAX_COOLDOWN_MILLIS = 50

export const makeFairLane = ({ total, perOwner, maxWaiting }: LaneLimits) => {
  /**
   * The queues in the order of the owners' turns; an owner that has just been served moves to the
   * end.
   */
  const queues = new Map<string, Set<Entry>>()
  const running = new Map<string, number>()
  let runningTotal = 0

  const runningOf = (owner: string): number => running.get(owner) ?? 0
  const changeRunning = (owner: string, delta: 1 | -1): void => {
    runningTotal += delta
    const next = runningOf(owner) + delta
    if (next > 0) running.set(owner, next)
    else running.delete(owner)
  }

  const dequeue = (entry: Entry): void => {
    const queue = queues.get(entry.owner)
    queue?.delete(entry)
    if (queue?.size === 0) queues.delete(entry.owner)
  }

  /** The first queue whose owner may have another permit; null if there is none. */
  const nextQueue = () => {
    for (const next of queues) if (runningOf(next[0]) < perOwner) return next
    return null
  }

  /** Assigns the free permits to waiting work. */
  const startWaiting = (): void => {
    while (runningTotal < total) {
      const next = nextQueue()
      const [entry] = next?.[1] ?? []
      if (next === null || entry === undefined) return
      const [owner, queue] = next
      // The owner's next turn comes after those of all others.
      queues.delete(owner)
      queues.set(owner, queue)
      dequeue(entry)
      entry.state = "running"
      entry.startedAtMillis = performance.now()
      changeRunning(owner, 1)
      entry.begin()
    }
  }

  const releaseAfterCooldown = ({ owner, startedAtMillis }: Entry): void => {
    const workMillis = performance.now() - startedAtMillis
    const cooldownMillis = Math.min(Math.max(MIN_COOLDOWN_MILLIS, workMillis), MAX_COOLDOWN_MILLIS)
    setTimeout(() => {
      changeRunning(owner, -1)
      startWaiting()
    }, cooldownMillis).unref()
  }

  const end = (entry: Entry): void => {
    if (entry.state === "waiting") dequeue(entry)
    else releaseAfterCooldown(entry)
    entry.state = "ended"
  }

  const enqueue = (owner: string): Entry => {
    const entry: Entry = { owner, state: "waiting", begin: () => undefined, startedAtMillis: 0 }
    const queue = queues.get(owner) ?? new Set()
    queues.set(owner, queue.add(entry))
    startWaiting()
    return entry
  }

  const awaitTurn = (entry: Entry): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (entry.state === "running") resume(Effect.void)
      else entry.begin = () => resume(Effect.void)
    })

  return {
    /** Runs the work when its turn comes; the queue length is not limited here. */
    inTurn: <A, E, R>(owner: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => enqueue(owner)),
        (entry) => (entry.state === "running" ? work : Effect.andThen(awaitTurn(entry), work)),
        (entry) => Effect.sync(() => end(entry))
      ),
    /** Whether the owner may queue another piece of work. */
    hasRoom: (owner: string): boolean => (queues.get(owner)?.size ?? 0) < maxWaiting,
    count: () => ({
      running: runningTotal,
      waiting: [...queues.values()].reduce((sum, queue) => sum + queue.size, 0)
    })
  }
}

/**
 * Runs a piece of work when the owner of the current request has its turn in the lane; immediately
 * if there is no current request.
 */
export const CurrentTurn = Context.Reference<
  <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
>("gateway/runtime/CurrentTurn", { defaultValue: () => identity })
