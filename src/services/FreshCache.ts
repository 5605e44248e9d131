/** Keeping what was read from the store for as long as `Changes` vouches for it. */
import { Cache, Duration, Effect, Exit } from "effect"
import { Changes, type Topic } from "./Changes.ts"

/**
 * Answers what `lookup` reads, from memory while it is fresh. Failures are not kept.
 *
 * A caller gets nothing that may have been out of date when it asked, beyond what `Changes` allows:
 * it joins a look-up that began before, but does not trust its answer when a change was heard of
 * meanwhile, and looks up again itself.
 */
export const makeFreshCache = Effect.fnUntraced(function* <A, E>(options: {
  readonly topic: Topic
  readonly capacity: number
  readonly lookup: (key: string) => Effect.Effect<A, E>
}) {
  const changes = yield* Changes
  const cache = yield* Cache.makeWith(
    Effect.fnUntraced(function* (key: string) {
      const mark = yield* changes.mark(options.topic)
      return { mark, value: yield* options.lookup(key) }
    }),
    {
      capacity: options.capacity,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
    }
  )

  return Effect.fnUntraced(function* (key: string): Effect.fn.Return<A, E> {
    const asked = yield* changes.mark(options.topic)
    while (true) {
      const entry = yield* Cache.get(cache, key)
      if (entry.mark.order > asked.order || (yield* changes.isFresh(entry.mark))) return entry.value
      yield* Cache.invalidateWhen(cache, key, (kept) => kept === entry)
    }
  })
})
