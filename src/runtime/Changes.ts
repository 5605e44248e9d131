/**
 * What gateways tell each other: that keys or the catalog have changed. Whoever keeps what was read
 * from the store takes a mark before the read, and asks before each use whether it still holds.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Settings } from "./Settings.ts"

/** `keys`: who may call. `catalog`: the catalog and the accounts behind its channels. */
export const Topic = Schema.Literals(["keys", "catalog"])
export type Topic = typeof Topic.Type

/** A moment before a read. */
export interface Mark {
  readonly topic: Topic
  /** Later marks of this process have higher numbers. */
  readonly order: number
  /** Of the monotonic clock. */
  readonly atMillis: number
  /** How many changes of the topic had been heard of. */
  readonly generation: number
}

export class Changes extends Context.Service<
  Changes,
  {
    /**
     * Makes the change in a transaction and tells every gateway at its commit. On this gateway it
     * counts as made on every exit, because an error may hide a commit.
     */
    telling<A, E, R>(
      topic: Topic,
      change: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | SqlError.SqlError, R>
    mark(topic: Topic): Effect.Effect<Mark>
    /** True when what was read after the mark may be used, at that time of the monotonic clock. */
    isFresh(mark: Mark, atMillis: number): boolean
    /** True while changes made by other gateways are known to arrive. */
    readonly isListening: Effect.Effect<boolean>
  }
>()("gateway/services/Changes") {}

/** The monotonic clock in milliseconds, which no correction of the calendar moves. */
export const monotonicMillis = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1_000_000
)

/** True while changes made by other gateways are known to arrive, at a time of the monotonic clock. */
export type Listening = (atMillis: number) => boolean

/**
 * What every implementation shares. While `isListening` answers true, what was read holds until a
 * change is heard of; otherwise for a moment only (`unheardCacheSeconds`).
 */
export const makeMarks = Effect.fnUntraced(function* (listensAt: Listening) {
  const settings = yield* Settings
  const generations: Record<Topic, number> = { keys: 0, catalog: 0 }
  let marks = 0

  const changed = (topics: ReadonlyArray<Topic>) =>
    Effect.sync(() => {
      for (const topic of topics) generations[topic] += 1
    })

  const mark: Changes["Service"]["mark"] = (topic) =>
    Effect.map(monotonicMillis, (atMillis) => {
      marks += 1
      return { topic, order: marks, atMillis, generation: generations[topic] }
    })

  const isFresh: Changes["Service"]["isFresh"] = (taken, atMillis) => {
    if (taken.generation !== generations[taken.topic]) return false
    const seconds = listensAt(atMillis) ? settings.cacheSeconds : settings.unheardCacheSeconds
    return atMillis - taken.atMillis <= seconds * 1000
  }

  return { changed, mark, isFresh, isListening: Effect.map(monotonicMillis, listensAt) }
})

/** For a gateway that has its database to itself: there is nobody else to tell or to hear. */
export const layerChangesAlone = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { changed, mark, isFresh, isListening } = yield* makeMarks(() => true)
    return Changes.of({
      telling: (topic, change) => Effect.ensuring(sql.withTransaction(change), changed([topic])),
      mark,
      isFresh,
      isListening
    })
  })
)
