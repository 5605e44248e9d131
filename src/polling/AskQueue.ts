/**
 * The questions of this gateway at each channel's vendor: so many are open at a time, and where the
 * vendor answers quickly a few more wait for their turn, so that one claim brings many of them and
 * the vendor is asked on while the next claim runs.
 */
import { Clock, Effect } from "effect"
import { makeChannelSlots } from "./ChannelSlots.ts"
import type { Question } from "./VideoQuestions.ts"

/** As many may wait as the vendor has lately answered in this time. */
const AHEAD_MILLIS = 200
/** Of one channel, whatever its pace. */
const MOST_AHEAD = 192
/** A pace is not told from less time. */
const LEAST_MILLIS = 50

interface Waiting {
  readonly question: Question
  readonly sinceMillis: number
}

export interface AskQueue {
  isFull(channelId: string): boolean
  /** Asks at once, before those who wait. The place is taken here and now, before the effect runs. */
  counted(question: Question): Effect.Effect<Effect.Effect<void>>
  /** Begins with the question, or lets it wait for its turn. */
  offer(question: Question): void
  /**
   * Open and waiting questions by channel, less those that may wait: what a claim counts as taken.
   * To be called before each claim, as it measures the vendors' pace from one call to the next.
   */
  taken(): ReadonlyMap<string, number>
  /** Takes those back that have waited for longer: their vendor has become slow. */
  late(
    millis: number
  ): ReadonlyArray<{ readonly question: Question; readonly waitedSeconds: number }>
  /** As of `ChannelSlots`, but not while questions wait. */
  readonly room: Effect.Effect<void>
  readonly expect: Effect.Effect<void>
}

/**
 * At most `bound` open questions by channel. `start` runs what `counted` makes of a question. One that
 * has waited for `staleMillis` is dropped: its claim may be over before its vendor has answered.
 */
export const makeAskQueue = Effect.fnUntraced(function* (
  { bound, staleMillis }: { readonly bound: number; readonly staleMillis: number },
  start: (ask: ReturnType<AskQueue["counted"]>, question: Question) => void
) {
  const clock = yield* Clock.Clock
  const waiting = new Map<string, Array<Waiting>>()
  const answered = new Map<string, number>()
  let ahead: ReadonlyMap<string, number> = new Map()
  let measuredAt = clock.currentTimeMillisUnsafe()

  const slots = yield* makeChannelSlots(bound, (channelId) =>
    waiting.has(channelId) ? -1 : (bound + Math.min(bound, ahead.get(channelId) ?? 0)) / 2
  )

  const startNext = (channelId: string) => {
    // Readers do not wait for a place, and may have brought more than the bound.
    if ((slots.asked.get(channelId) ?? 0) > bound) return
    const queue = waiting.get(channelId) ?? []
    const since = clock.currentTimeMillisUnsafe() - staleMillis
    const fresh = queue.findIndex(({ sinceMillis }) => sinceMillis > since)
    const next = queue.splice(0, fresh < 0 ? queue.length : fresh + 1).at(-1)
    if (queue.length === 0) waiting.delete(channelId)
    if (next !== undefined && fresh >= 0) start(counted(next.question), next.question)
  }

  const counted: AskQueue["counted"] = (question) => {
    const { channelId } = question
    slots.take(channelId)
    return Effect.ensuring(
      question.ask,
      Effect.sync(() => {
        answered.set(channelId, (answered.get(channelId) ?? 0) + question.tasks.length)
        startNext(channelId)
        slots.give(channelId)
      })
    )
  }

  const measure = () => {
    const now = clock.currentTimeMillisUnsafe()
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
    isFull: slots.isFull,
    counted,
    offer: (question) => {
      const { channelId } = question
      if (!slots.isFull(channelId)) {
        start(counted(question), question)
        return
      }
      const one = { question, sinceMillis: clock.currentTimeMillisUnsafe() }
      const queue = waiting.get(channelId)
      if (queue === undefined) waiting.set(channelId, [one])
      else queue.push(one)
    },
    taken: () => {
      measure()
      const channels = new Set([...slots.asked.keys(), ...ahead.keys()])
      return new Map(
        [...channels].map((channelId) => [
          channelId,
          (slots.asked.get(channelId) ?? 0) +
            (waiting.get(channelId)?.length ?? 0) -
            (ahead.get(channelId) ?? 0)
        ])
      )
    },
    late: (millis) => {
      const now = clock.currentTimeMillisUnsafe()
      const before = now - millis
      return [...waiting].flatMap(([channelId, queue]) => {
        const fresh = queue.findIndex(({ sinceMillis }) => sinceMillis >= before)
        const late = queue.splice(0, fresh < 0 ? queue.length : fresh)
        if (queue.length === 0) waiting.delete(channelId)
        return late.map(({ question, sinceMillis }) => ({
          question,
          waitedSeconds: (now - sinceMillis) / 1000
        }))
      })
    },
    room: slots.room,
    expect: slots.expect
  } satisfies AskQueue
})
