/** Keeping what was read from the store for as long as `Changes` vouches for it. */
import { Cache, Clock, Duration, Effect, identity } from "effect"
import { makeBoundedMap } from "./boundedMap.ts"
import { Changes, isFresh, type Mark, type Topic } from "./Changes.ts"

/**
 * Answers what `lookup` reads, from memory while it is fresh. Failures are not kept. Of more than
 * `capacity` the one that was read longest ago is dropped.
 *
 * A caller gets nothing that may have been out of date when it asked, beyond what `Changes` allows:
 * it joins a look-up that began before, but looks up again itself when a change was heard of in
 * between.
 *
 * `guard` goes around the look-up of a key of which nothing is kept, fresh or not, and may refuse it.
 */
export const makeFreshCache = Effect.fnUntraced(function* <A, E>(options: {
  readonly topic: Topic
  readonly capacity: number
  readonly lookup: (key: string) => Effect.Effect<A, E>
}) {
  const changes = yield* Changes
  /** Look-ups under way, which all who ask for the same meanwhile wait for. */
  const underWay = yield* Cache.makeWith(
    Effect.fnUntraced(function* (key: string) {
      const mark = changes.mark(options.topic, yield* Clock.Clock)
      return { mark, value: yield* options.lookup(key) }
    }),
    { capacity: Number.POSITIVE_INFINITY, timeToLive: () => Duration.zero }
  )
  const kept = makeBoundedMap<{ readonly mark: Mark; readonly value: A }>(options.capacity)

  const find = Effect.fnUntraced(
    function* (key: string): Effect.fn.Return<A, E> {
      const asked = changes.mark(options.topic, yield* Clock.Clock)
      while (true) {
        const entry = yield* Cache.get(underWay, key)
        if (isFresh(entry.mark, asked)) {
          kept.set(key, entry)
          return entry.value
        }
      }
    },
    (found, key) => Effect.tapError(found, () => Effect.sync(() => kept.drop(key)))
  )

  return <E2 = never>(
    key: string,
    guard: (lookUp: Effect.Effect<A, E>) => Effect.Effect<A, E | E2> = identity
  ): Effect.Effect<A, E | E2> =>
    Effect.clockWith((clock) => {
      const entry = kept.peek(key)
      if (entry === null) return guard(find(key))
      const use = changes.mark(options.topic, clock)
      return isFresh(entry.mark, use) ? Effect.succeed(entry.value) : find(key)
    })
})
