/**
 * The poll requests of this gateway to each channel's vendor. The number of open requests per
 * channel is limited. Where the vendor answers quickly, further requests wait in a queue, so that
 * one claim brings many requests and the vendor has requests to answer while the next claim runs.
 */
import { Clock, Effect, FiberSet, Latch } from "effect"
import { monotonicMillisOf } from "../runtime/monotonic.ts"
import type { PollAnswer, PollRequest } from "./VideoPolls.ts"

/**
 * The maximum length of a channel's queue is the number of poll requests that its vendor answers in
 * this time.
 */
const QUEUE_MILLIS = 200
/** The maximum length of a channel's queue for a vendor that answers very quickly. */
const MAX_QUEUED = 192
/** The minimum time over which the rate of answers is measured. */
const MIN_MEASURE_MILLIS = 50
/**
 * The maximum number of the poller's requests, over all channels, whose answers have arrived but
 * are not settled yet.
 */
const MAX_SETTLING = 1024

interface QueuedPoll {
  readonly poll: PollRequest
  readonly sinceMillis: number
}

/**
 * Counters by name, each with the limit `limit`. `onRoom` is called when a counter that had
 * reached the limit falls to `emptyAt`.
 */
const makeCounts = (limit: number, emptyAt: (name: string) => number, onRoom: () => void) => {
  const counts = new Map<string, number>()
  const fullNames = new Set<string>()
  const countOf = (name: string): number => counts.get(name) ?? 0
  return {
    names: () => counts.keys(),
    of: countOf,
    isFull: (name: string): boolean => countOf(name) >= limit,
    change: (name: string, by: 1 | -1): void => {
      const count = countOf(name) + by
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
      if (by > 0 && count >= limit) fullNames.add(name)
      if (by < 0 && count <= emptyAt(name) && fullNames.delete(name)) onRoom()
    }
  }
}

/**
 * Allows at most `limit` open poll requests per channel. A request that has waited for
 * `staleMillis` is dropped, as the lease of its task may end before the vendor has answered.
 */
export const makePollQueue = Effect.fnUntraced(function* ({
  limit,
  staleMillis
}: {
  readonly limit: number
  readonly staleMillis: number
}) {
  const clock = yield* Clock.Clock
  const runInBackground = yield* FiberSet.makeRuntime()
  const roomLatch = yield* Latch.make(false)
  const openLatch = () => void roomLatch.openUnsafe()
  const queues = new Map<string, Array<QueuedPoll>>()
  const answerCounts = new Map<string, number>()
  let queueLimits: ReadonlyMap<string, number> = new Map()
  let lastMeasureMillis = monotonicMillisOf(clock)

  const open = makeCounts(
    limit,
    (channelId) =>
      queues.has(channelId) ? -1 : (limit + Math.min(limit, queueLimits.get(channelId) ?? 0)) / 2,
    openLatch
  )
  const settling = makeCounts(MAX_SETTLING, () => MAX_SETTLING / 2, openLatch)

  /** Removes the poll requests that have waited for at least `millis` from the channel's queue. */
  const removeLateOf = (channelId: string, millis: number): ReadonlyArray<QueuedPoll> => {
    const queue = queues.get(channelId) ?? []
    const deadlineMillis = monotonicMillisOf(clock) - millis
    const freshIndex = queue.findIndex(({ sinceMillis }) => sinceMillis > deadlineMillis)
    const late = queue.splice(0, freshIndex < 0 ? queue.length : freshIndex)
    if (queue.length === 0) queues.delete(channelId)
    return late
  }

  const startNext = (channelId: string) => {
    // No queued request is started while more than `limit` requests are open. This happens because
    // polls for clients' reads skip the queue.
    if (open.of(channelId) > limit) return
    removeLateOf(channelId, staleMillis)
    const queue = queues.get(channelId) ?? []
    const nextPoll = queue.shift()
    if (queue.length === 0) queues.delete(channelId)
    if (nextPoll !== undefined) start(nextPoll.poll)
  }

  const send = (poll: PollRequest): Effect.Effect<PollAnswer> => {
    const { channelId } = poll
    open.change(channelId, 1)
    return Effect.ensuring(
      poll.send,
      Effect.sync(() => {
        answerCounts.set(channelId, (answerCounts.get(channelId) ?? 0) + poll.tasks.length)
        startNext(channelId)
        open.change(channelId, -1)
      })
    )
  }

  /**
   * Starts a poll request in the background. A failure to settle its answer is logged and does not
   * stop other requests.
   */
  const start = (poll: PollRequest) =>
    runInBackground(
      Effect.flatMap(send(poll), ({ settle }) => {
        settling.change("all", 1)
        return Effect.ensuring(
          settle,
          Effect.sync(() => settling.change("all", -1))
        )
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("task poller: settling an answer failed", cause).pipe(
            Effect.annotateLogs({ order_ids: poll.tasks.map(({ id }) => id).join() })
          )
        )
      )
    )

  const measure = () => {
    const now = monotonicMillisOf(clock)
    const share = QUEUE_MILLIS / Math.max(now - lastMeasureMillis, MIN_MEASURE_MILLIS)
    queueLimits = new Map(
      [...answerCounts].map(([channelId, count]) => [
        channelId,
        Math.min(MAX_QUEUED, Math.floor(count * share))
      ])
    )
    answerCounts.clear()
    lastMeasureMillis = now
  }

  return {
    /** Whether the channel has reached its limit of open poll requests. */
    isFull: open.isFull,
    /** Whether too many answers are not settled yet, so that no more tasks should be claimed. */
    isBehind: () => settling.isFull("all"),
    /**
     * Sends the poll request without waiting in the queue, and returns the effect that settles its
     * answer. The request counts as open from this call on, even before the returned effect runs,
     * until the vendor's answer.
     */
    send,
    /** Starts the poll request in the background, or adds it to the queue of its channel. */
    offer: (poll: PollRequest): void => {
      const { channelId } = poll
      if (!open.isFull(channelId)) {
        start(poll)
        return
      }
      const entry = { poll, sinceMillis: monotonicMillisOf(clock) }
      const queue = queues.get(channelId)
      if (queue === undefined) queues.set(channelId, [entry])
      else queue.push(entry)
    },
    /**
     * The number of open and queued poll requests by channel, minus the allowed length of the
     * queue. A claim counts this number as permits in use. This method must be called once before
     * each claim, as every call measures the vendors' rate of answers since the previous call.
     */
    openCounts: (): ReadonlyMap<string, number> => {
      measure()
      return new Map(
        [...new Set([...open.names(), ...queueLimits.keys()])].map((channelId) => [
          channelId,
          open.of(channelId) +
            (queues.get(channelId)?.length ?? 0) -
            (queueLimits.get(channelId) ?? 0)
        ])
      )
    },
    /**
     * Removes and returns the tasks that have waited for at least `millis`, because their vendor
     * has become slow.
     */
    removeLate: (millis: number) => {
      const now = monotonicMillisOf(clock)
      return [...queues.keys()].flatMap((channelId) =>
        removeLateOf(channelId, millis).flatMap(({ poll: { tasks }, sinceMillis }) =>
          tasks.map((task) => ({ task, waitedSeconds: (now - sinceMillis) / 1000 }))
        )
      )
    },
    /**
     * Waits until a channel that was full is half empty, so that one wake-up brings many poll
     * requests, not one. A channel that emptied after the last `resetRoom` ends the wait immediately.
     */
    room: roomLatch.await,
    /**
     * Resets `room`. The caller claims tasks after this call, and the claim uses the free permits.
     */
    resetRoom: Effect.asVoid(roomLatch.close)
  }
})
