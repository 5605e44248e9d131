/**
 * The poll requests of this gateway to each channel's vendor. The number of open requests per
 * channel is limited. Where the vendor answers quickly, further requests wait in a queue, so that
 * one claim brings many requests and the vendor has requests to answer while the next claim runs.
 */
import { Clock, Effect, FiberSet, Latch } from "effect"
import { monotonicMillisOf } from "../runtime/monotonic.ts"
import type { PollAnswer, Question } from "./VideoPolls.ts"

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

interface Waiting {
  readonly question: Question
  readonly sinceMillis: number
}

/**
 * Counters by name, each with the limit `bound`. `onEmptied` is called when a counter that had
 * reached the limit falls to `emptyAt`.
 */
const makeCounts = (bound: number, emptyAt: (name: string) => number, onEmptied: () => void) => {
  const counts = new Map<string, number>()
  const full = new Set<string>()
  const of = (name: string): number => counts.get(name) ?? 0
  return {
    names: () => counts.keys(),
    of,
    isFull: (name: string): boolean => of(name) >= bound,
    change: (name: string, by: 1 | -1): void => {
      const count = of(name) + by
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
      if (by > 0 && count >= bound) full.add(name)
      if (by < 0 && count <= emptyAt(name) && full.delete(name)) onEmptied()
    }
  }
}

/**
 * Allows at most `bound` open poll requests per channel. A request that has waited for
 * `staleMillis` is dropped, as the lease of its task may end before the vendor has answered.
 */
export const makePollQueue = Effect.fnUntraced(function* ({
  bound,
  staleMillis
}: {
  readonly bound: number
  readonly staleMillis: number
}) {
  const clock = yield* Clock.Clock
  const inBackground = yield* FiberSet.makeRuntime()
  const emptied = yield* Latch.make(false)
  const wake = () => void emptied.openUnsafe()
  const waiting = new Map<string, Array<Waiting>>()
  const answered = new Map<string, number>()
  let ahead: ReadonlyMap<string, number> = new Map()
  let measuredAt = monotonicMillisOf(clock)

  const open = makeCounts(
    bound,
    (channelId) =>
      waiting.has(channelId) ? -1 : (bound + Math.min(bound, ahead.get(channelId) ?? 0)) / 2,
    wake
  )
  const settling = makeCounts(MAX_SETTLING, () => MAX_SETTLING / 2, wake)

  /** Removes the poll requests that have waited for at least `millis` from the channel's queue. */
  const takeLate = (channelId: string, millis: number): ReadonlyArray<Waiting> => {
    const queue = waiting.get(channelId) ?? []
    const before = monotonicMillisOf(clock) - millis
    const fresh = queue.findIndex(({ sinceMillis }) => sinceMillis > before)
    const out = queue.splice(0, fresh < 0 ? queue.length : fresh)
    if (queue.length === 0) waiting.delete(channelId)
    return out
  }

  const startNext = (channelId: string) => {
    // No queued request is started while more than `bound` requests are open. This happens because
    // polls for clients' reads skip the queue.
    if (open.of(channelId) > bound) return
    takeLate(channelId, staleMillis)
    const queue = waiting.get(channelId) ?? []
    const next = queue.shift()
    if (queue.length === 0) waiting.delete(channelId)
    if (next !== undefined) start(next.question)
  }

  const ask = (question: Question): Effect.Effect<PollAnswer> => {
    const { channelId } = question
    open.change(channelId, 1)
    return Effect.ensuring(
      question.ask,
      Effect.sync(() => {
        answered.set(channelId, (answered.get(channelId) ?? 0) + question.tasks.length)
        startNext(channelId)
        open.change(channelId, -1)
      })
    )
  }

  /**
   * Starts a poll request in the background. A failure to settle its answer is logged and does not
   * stop other requests.
   */
  const start = (question: Question) =>
    inBackground(
      Effect.flatMap(ask(question), ({ settle }) => {
        settling.change("all", 1)
        return Effect.ensuring(
          settle,
          Effect.sync(() => settling.change("all", -1))
        )
      }).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("task poller: settling an answer failed", cause).pipe(
            Effect.annotateLogs({ order_ids: question.tasks.map(({ id }) => id).join() })
          )
        )
      )
    )

  const measure = () => {
    const now = monotonicMillisOf(clock)
    const share = QUEUE_MILLIS / Math.max(now - measuredAt, MIN_MEASURE_MILLIS)
    ahead = new Map(
      [...answered].map(([channelId, count]) => [
        channelId,
        Math.min(MAX_QUEUED, Math.floor(count * share))
      ])
    )
    answered.clear()
    measuredAt = now
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
    ask,
    /** Starts the poll request in the background, or adds it to the queue of its channel. */
    offer: (question: Question): void => {
      const { channelId } = question
      if (!open.isFull(channelId)) {
        start(question)
        return
      }
      const entry = { question, sinceMillis: monotonicMillisOf(clock) }
      const queue = waiting.get(channelId)
      if (queue === undefined) waiting.set(channelId, [entry])
      else queue.push(entry)
    },
    /**
     * The number of open and queued poll requests by channel, minus the allowed length of the
     * queue. A claim counts this number as permits in use. This method must be called once before
     * each claim, as every call measures the vendors' rate of answers since the previous call.
     */
    taken: (): ReadonlyMap<string, number> => {
      measure()
      return new Map(
        [...new Set([...open.names(), ...ahead.keys()])].map((channelId) => [
          channelId,
          open.of(channelId) + (waiting.get(channelId)?.length ?? 0) - (ahead.get(channelId) ?? 0)
        ])
      )
    },
    /**
     * Removes and returns the tasks that have waited for at least `millis`, because their vendor
     * has become slow.
     */
    late: (millis: number) => {
      const now = monotonicMillisOf(clock)
      return [...waiting.keys()].flatMap((channelId) =>
        takeLate(channelId, millis).flatMap(({ question: { tasks }, sinceMillis }) =>
          tasks.map((task) => ({ task, waitedSeconds: (now - sinceMillis) / 1000 }))
        )
      )
    },
    /**
     * Waits until a channel that was full is half empty, so that one wake-up brings many poll
     * requests, not one. A channel that emptied after the last `expect` ends the wait immediately.
     */
    room: emptied.await,
    /**
     * Resets `room`. The caller claims tasks after this call, and the claim uses the free permits.
     */
    expect: Effect.asVoid(emptied.close)
  }
})
