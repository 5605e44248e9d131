/**
 * A fair semaphore for work that would otherwise monopolize a shared resource: only a few pieces of
 * work run concurrently, even fewer of one owner, and waiting ones are served round-robin by owner.
 * An owner with a long queue therefore delays only its own work. After its work, each permit cools
 * down for as long as the work took, which leaves the resource to other work for half of the time.
 * Small pieces of work of one owner may share a permit.
 */
import { Clock, Context, Effect, FiberSet, identity } from "effect"
import { monotonicMillisOf } from "./monotonic.ts"

interface LaneLimits {
  /** The number of permits of the lane. */
  readonly total: number
  /** The maximum number of permits of one owner. */
  readonly perOwner: number
  /** The maximum number of waiting pieces of work of one owner. */
  readonly maxWaiting: number
}

/** A permit in use. */
interface Permit {
  readonly owner: string
  readonly startedAtMillis: number
  /** The number of pieces of work that run with the permit. */
  workCount: number
}

/** One piece of work, from its arrival to its end. */
interface Entry {
  readonly owner: string
  readonly sharesPermit: boolean
  /** Null while the work waits. */
  permit: Permit | null
  begin: () => void
}

/** The maximum number of pieces of work that share a permit. */
export const MAX_SHARED = 16

/** The minimum and maximum cooldown of a permit after its work. */
const MIN_COOLDOWN_MILLIS = 1
const MAX_COOLDOWN_MILLIS = 50

/** Makes a lane whose cooldowns end with the surrounding scope. */
export const makeFairLane = Effect.fnUntraced(function* ({
  total,
  perOwner,
  maxWaiting
}: LaneLimits) {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
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

  /** The work at the beginning of the queue that runs with one permit. */
  const workOfPermit = (queue: ReadonlySet<Entry>): ReadonlyArray<Entry> => {
    const [first] = queue
    if (first?.sharesPermit !== true) return first === undefined ? [] : [first]
    const entries: Array<Entry> = []
    for (const entry of queue) {
      if (!entry.sharesPermit || entries.length === MAX_SHARED) break
      entries.push(entry)
    }
    return entries
  }

  /** Assigns the free permits to waiting work. */
  const startWaiting = (): void => {
    while (runningTotal < total) {
      const next = nextQueue()
      if (next === null) return
      const [owner, queue] = next
      // The owner's next turn comes after those of all others.
      queues.delete(owner)
      queues.set(owner, queue)
      const entries = workOfPermit(queue)
      const permit = { owner, startedAtMillis: monotonicMillisOf(clock), workCount: entries.length }
      changeRunning(owner, 1)
      for (const entry of entries) {
        dequeue(entry)
        entry.permit = permit
      }
      for (const entry of entries) entry.begin()
    }
  }

  const releaseAfterCooldown = ({ owner, startedAtMillis }: Permit): void => {
    const release = () => {
      changeRunning(owner, -1)
      startWaiting()
    }
    const workMillis = monotonicMillisOf(clock) - startedAtMillis
    const cooldownMillis = Math.min(Math.max(MIN_COOLDOWN_MILLIS, workMillis), MAX_COOLDOWN_MILLIS)
    // Only a clock that a test advances measures no time: the next work would wait for the test.
    if (workMillis === 0) release()
    else fork(Effect.map(Effect.sleep(cooldownMillis), release))
  }

  const end = (entry: Entry): void => {
    const { permit } = entry
    if (permit === null) {
      dequeue(entry)
      return
    }
    permit.workCount -= 1
    if (permit.workCount === 0) releaseAfterCooldown(permit)
  }

  const enqueue = (owner: string, sharesPermit: boolean): Entry => {
    const entry: Entry = { owner, sharesPermit, permit: null, begin: () => undefined }
    const queue = queues.get(owner) ?? new Set()
    queues.set(owner, queue.add(entry))
    startWaiting()
    return entry
  }

  const awaitTurn = (entry: Entry): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (entry.permit !== null) resume(Effect.void)
      else entry.begin = () => resume(Effect.void)
    })

  return {
    /**
     * Runs the work when its turn comes; the queue length is not limited here. Work that shares its
     * permit may run together with other such work of its owner.
     */
    inTurn: <A, E, R>(
      owner: string,
      work: Effect.Effect<A, E, R>,
      { sharesPermit = false }: { readonly sharesPermit?: boolean } = {}
    ): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => enqueue(owner, sharesPermit)),
        (entry) => (entry.permit === null ? Effect.andThen(awaitTurn(entry), work) : work),
        (entry) => Effect.sync(() => end(entry))
      ),
    /** Whether the owner may queue another piece of work. */
    hasRoom: (owner: string): boolean => (queues.get(owner)?.size ?? 0) < maxWaiting,
    count: () => ({
      running: runningTotal,
      waiting: [...queues.values()].reduce((sum, queue) => sum + queue.size, 0)
    })
  }
})

/**
 * Runs a piece of work when the owner of the current request has its turn in the lane; immediately
 * if there is no current request.
 */
export const CurrentTurn = Context.Reference<
  <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
>("gateway/runtime/CurrentTurn", { defaultValue: () => identity })
