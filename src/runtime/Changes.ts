/**
 * Invalidates the caches of all gateways when keys, the catalog or ended tasks change. A cache
 * takes one mark before it reads the store and another mark before each use of the value, and
 * compares the two.
 */
import { type Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { monotonicMillis, monotonicMillisOf } from "./monotonic.ts"
import { Settings } from "./Settings.ts"

/**
 * The topics of changes. `keys`: the API keys and their permissions. `catalog`: the catalog, the
 * accounts of its channels and the price lists. `tasks`: ended tasks, which change when they are
 * erased.
 */
export const Topic = Schema.Literals(["keys", "catalog", "tasks"])
export type Topic = typeof Topic.Type

/** The time and the generation immediately before a cache reads or uses a value. */
export interface Mark {
  /** The time by the monotonic clock, in milliseconds. */
  readonly atMillis: number
  /** The number of changes of the topic received by then. */
  readonly generation: number
  /** The maximum age of a value that may be used at this time. */
  readonly maxAgeMillis: number
}

/**
 * Whether a value that was read after the mark `read` may be used at the mark `use` of the same
 * topic.
 */
export const isFresh = (read: Mark, use: Mark): boolean =>
  read.generation >= use.generation && use.atMillis - read.atMillis <= use.maxAgeMillis

export class Changes extends Context.Service<
  Changes,
  {
    /**
     * Makes the change in a transaction and notifies every gateway at its commit. This gateway
     * invalidates its own caches even if the transaction fails, because a failed transaction may
     * have been committed.
     */
    changeAndNotify<A, E, R>(
      topic: Topic,
      change: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | SqlError.SqlError, R>
    mark(topic: Topic, clock: Clock.Clock): Mark
    /** Whether changes by other gateways are known to arrive. */
    readonly isListening: Effect.Effect<boolean>
  }
>()("gateway/runtime/Changes") {}

/**
 * Makes the marks, in the same way for all implementations. `isListeningAt` tells whether
 * changes by other gateways were known to arrive at a time of the monotonic clock. While they
 * arrive, a value stays fresh until its topic changes, but at most for `cacheSeconds`; otherwise it
 * stays fresh for `unheardCacheSeconds`.
 */
export const makeMarks = Effect.fnUntraced(function* (
  isListeningAt: (atMillis: number) => boolean
) {
  const { cacheSeconds, unheardCacheSeconds } = yield* Settings
  const generations: Record<Topic, number> = { keys: 0, catalog: 0, tasks: 0 }

  const invalidate = (topics: ReadonlyArray<Topic>) =>
    Effect.sync(() => {
      for (const topic of topics) generations[topic] += 1
    })

  const mark: Changes["Service"]["mark"] = (topic, clock) => {
    const atMillis = monotonicMillisOf(clock)
    const seconds = isListeningAt(atMillis) ? cacheSeconds : unheardCacheSeconds
    return { atMillis, generation: generations[topic], maxAgeMillis: seconds * 1000 }
  }

  return { invalidate, mark, isListening: Effect.map(monotonicMillis, isListeningAt) }
})

/**
 * The implementation for a gateway that does not share its database, so that there is no other
 * gateway to notify.
 */
export const layerChangesAlone = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { invalidate, ...marks } = yield* makeMarks(() => true)
    return Changes.of({
      ...marks,
      changeAndNotify: (topic, change) =>
        Effect.ensuring(sql.withTransaction(change), invalidate([topic]))
    })
  })
)
