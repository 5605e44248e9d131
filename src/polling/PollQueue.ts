/**
 * The questions of this gateway at each channel's vendor: so many are open at a time, and where the
 * vendor answers quickly a few more wait for their turn, so that one claim brings many of them and
 * the vendor is asked on while the next claim runs.
 */
import { Clock, Effect, FiberSet, Latch } from "effect"
import { monotonicMillisOf } from "../runtime/monotonic.ts"
import type { PollAnswer, Question } from "./VideoPolls.ts"

/** As many may wait as the vendor has lately answered in this time. */
const AHEAD_MILLIS = 200
/** Of one channel, whatever its pace. */
const MOST_AHEAD = 192
/** A pace is not told from less time. */
const LEAST_MILLIS = 50
/** Questions of the poller that were answered and are not settled yet, of all channels together. */
const MAX_SETTLING = 1024

interface Waiting {
  readonly question: Question
  readonly sinceMillis: number
}

/**
 * Counts by name, where at most `bound` are meant to be of each; `emptied` hears when one that was
 * full has no more than `emptyAt` says.
 */
const makeCounts = (bound: number, emptyAt: (name: string) => number, emptied: () => void) => {
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
      if (by < 0 && count <= emptyAt(name) && full.delete(name)) emptied()
    }
  }
}

/**
 * At most `bound` open questions by channel. One that has waited for `staleMillis` is dropped: its
 * claim may be over before its vendor has answered.
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

  /** Takes those out of the channel's queue that have waited for so long. */
  const takeOut = (channelId: string, millis: number): ReadonlyArray<Waiting> => {
    const queue = waiting.get(channelId) ?? []
    const before = monotonicMillisOf(clock) - millis
    const fresh = queue.findIndex(({ sinceMillis }) => sinceMillis > before)
    const out = queue.splice(0, fresh < 0 ? queue.length : fresh)
    if (queue.length === 0) waiting.delete(channelId)
    return out
  }

  const startNext = (channelId: string) => {
    // Readers do not wait for a place, and may have brought more than the bound.
    if (open.of(channelId) > bound) return
    takeOut(channelId, staleMillis)
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

  /** A question that cannot be settled must not keep the others waiting. */
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
          Effect.logError("a question could not be settled", cause).pipe(
            Effect.annotateLogs({ tasks: question.tasks.map(({ id }) => id).join() })
          )
        )
      )
    )

  const measure = () => {
    const now = monotonicMillisOf(clock)
    const share = AHEAD_MILLIS / Math.max(now - measuredAt, LEAST_MILLIS)
    ahead = new Map(
      [...answered].map(([channelId, count]) => [
        channelId,
        Math.min(MOST_AHEAD, Math.floor(count * share))
      ])
    )
    answered.clear()
    measuredAt = now
  }

  return {
    /** Whether as many questions are open at the channel as may be. */
    isFull: open.isFull,
    /** Whether so many answers are not settled yet that no more tasks should be claimed. */
    isBehind: () => settling.isFull("all"),
    /**
     * Asks before those who wait, and answers how to settle. The place is taken here and now, before
     * the effect runs, and given back at the answer.
     */
    ask,
    /** Begins with the question in the background, or lets it wait for its turn. */
    offer: (question: Question): void => {
      const { channelId } = question
      if (!open.isFull(channelId)) {
        start(question)
        return
      }
      const one = { question, sinceMillis: monotonicMillisOf(clock) }
      const queue = waiting.get(channelId)
      if (queue === undefined) waiting.set(channelId, [one])
      else queue.push(one)
    },
    /**
     * Open and waiting questions by channel, less those that may wait: what a claim counts as taken.
     * To be called before each claim, as it measures the vendors' pace from one call to the next.
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
    /** Takes the tasks back that have waited for so long: their vendor has become slow. */
    late: (millis: number) => {
      const now = monotonicMillisOf(clock)
      return [...waiting.keys()].flatMap((channelId) =>
        takeOut(channelId, millis).flatMap(({ question: { tasks }, sinceMillis }) =>
          tasks.map((task) => ({ task, waitedSeconds: (now - sinceMillis) / 1000 }))
        )
      )
    },
    /**
     * Waits until what was full has emptied again, so that one wake-up brings many questions, not one.
     * What emptied since the last `expect` counts.
     */
    room: emptied.await,
    /** Forgets the room there was until now: its caller is about to look. */
    expect: Effect.asVoid(emptied.close)
  }
})
