/** A cache of reads from the store, whose entries are fresh according to `Changes`. */
import { Cache, Clock, Duration, Effect, identity } from "effect"
import { makeBoundedMap } from "./boundedMap.ts"
import { Changes, isFresh, type Mark, type Topic } from "./Changes.ts"

/**
 * Returns the result of `lookup`, from memory while the result is fresh. Failures are not cached.
 * Above `capacity`, the entry that was read from the store the longest time ago is evicted.
 *
 * Every returned value was fresh, as `Changes` defines it, when the caller asked for it. A caller
 * may join a look-up that began earlier; if a change has arrived since that look-up began, the
 * caller repeats the look-up.
 *
 * `guard` wraps the look-up of a key that has no entry, neither fresh nor stale, and may refuse the
 * look-up.
 */
export const makeFreshCache = Effect.fnUntraced(function* <A, E>(options: {
  readonly topic: Topic
  readonly capacity: number
  readonly lookup: (key: string) => Effect.Effect<A, E>
}) {
  const changes = yield* Changes
  /** Look-ups in flight, which concurrent callers of the same key share. */
  const inFlight = yield* Cache.makeWith(
    Effect.fnUntraced(function* (key: string) {
      const mark = changes.mark(options.topic, yield* Clock.Clock)
      return { mark, value: yield* options.lookup(key) }
    }),
    { capacity: Number.POSITIVE_INFINITY, timeToLive: () => Duration.zero }
  )
  const entries = makeBoundedMap<{ readonly mark: Mark; readonly value: A }>(options.capacity)

  const find = Effect.fnUntraced(
    function* (key: string): Effect.fn.Return<A, E> {
      const callMark = changes.mark(options.topic, yield* Clock.Clock)
      while (true) {
        const entry = yield* Cache.get(inFlight, key)
        if (isFresh(entry.mark, callMark)) {
          entries.set(key, entry)
          return entry.value
        }
      }
    },
    (lookedUp, key) => Effect.tapError(lookedUp, () => Effect.sync(() => entries.drop(key)))
  )

  return <E2 = never>(
    key: string,
    guard: (lookUp: Effect.Effect<A, E>) => Effect.Effect<A, E | E2> = identity
  ): Effect.Effect<A, E | E2> =>
    Effect.clockWith((clock) => {
      const entry = entries.peek(key)
      if (entry === null) return guard(find(key))
      const useMark = changes.mark(options.topic, clock)
      return isFresh(entry.mark, useMark) ? Effect.succeed(entry.value) : find(key)
    })
})
