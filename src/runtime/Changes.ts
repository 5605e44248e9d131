/**
 * What gateways tell each other: that keys, the catalog or ended tasks have changed. One that keeps what was read
 * from the store takes a mark before the read and one before each use, and asks whether it holds.
 */
import { type Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { monotonicMillis, monotonicMillisOf } from "./monotonic.ts"
import { Settings } from "./Settings.ts"

/**
 * `keys`: who may call. `catalog`: the catalog and the accounts behind its channels. `tasks`: ended
 * tasks, which change when they are erased.
 */
export const Topic = Schema.Literals(["keys", "catalog", "tasks"])
export type Topic = typeof Topic.Type

/** A moment before a read or a use. */
export interface Mark {
  /** Of the monotonic clock. */
  readonly atMillis: number
  /** How many changes of the topic had been heard of. */
  readonly generation: number
  /** How long before it anything may have been read that is used at this moment. */
  readonly maxAgeMillis: number
}

/** True when what was read after one mark of a topic may be used at the other. */
export const isFresh = (read: Mark, use: Mark): boolean =>
  read.generation >= use.generation && use.atMillis - read.atMillis <= use.maxAgeMillis

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
    mark(topic: Topic, clock: Clock.Clock): Mark
    /** True while changes made by other gateways are known to arrive. */
    readonly isListening: Effect.Effect<boolean>
  }
>()("gateway/runtime/Changes") {}

/**
 * What every implementation shares. While changes made by other gateways are known to arrive, which
 * `listensAt` tells for a time of the monotonic clock, what was read holds until a change is heard
 * of; otherwise for a moment only (`unheardCacheSeconds`).
 */
export const makeMarks = Effect.fnUntraced(function* (listensAt: (atMillis: number) => boolean) {
  const { cacheSeconds, unheardCacheSeconds } = yield* Settings
  const generations: Record<Topic, number> = { keys: 0, catalog: 0, tasks: 0 }

  const changed = (topics: ReadonlyArray<Topic>) =>
    Effect.sync(() => {
      for (const topic of topics) generations[topic] += 1
    })

  const mark: Changes["Service"]["mark"] = (topic, clock) => {
    const atMillis = monotonicMillisOf(clock)
    const seconds = listensAt(atMillis) ? cacheSeconds : unheardCacheSeconds
    return { atMillis, generation: generations[topic], maxAgeMillis: seconds * 1000 }
  }

  return { changed, mark, isListening: Effect.map(monotonicMillis, listensAt) }
})

/** For a gateway that has its database to itself: there is no other to tell or to hear. */
export const layerChangesAlone = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { changed, ...marks } = yield* makeMarks(() => true)
    return Changes.of({
      ...marks,
      telling: (topic, change) => Effect.ensuring(sql.withTransaction(change), changed([topic]))
    })
  })
)
