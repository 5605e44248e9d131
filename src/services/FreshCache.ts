/** Keeping what was read from the store for as long as `Changes` vouches for it. */
import { Cache, Clock, Duration, Effect, Exit } from "effect"
import { Changes, type Mark, type Topic } from "./Changes.ts"

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
  /** What the cache last answered: nearly every question is one for the same again. */
  const latest = new Map<string, { readonly mark: Mark; readonly value: A }>()

  const find = Effect.fnUntraced(function* (key: string): Effect.fn.Return<A, E> {
    const asked = yield* changes.mark(options.topic)
    while (true) {
      const entry = yield* Cache.get(cache, key)
      const now = Number(yield* Clock.monotonicTimeNanos) / 1e6
      if (entry.mark.order > asked.order || changes.isFresh(entry.mark, now)) {
        if (latest.size >= options.capacity) latest.clear()
        latest.set(key, entry)
        return entry.value
      }
      yield* Cache.invalidateWhen(cache, key, (kept) => kept === entry)
    }
  })

  return (key: string): Effect.Effect<A, E> =>
    Effect.clockWith((clock) => {
      const kept = latest.get(key)
      const now = Number(clock.monotonicTimeNanosUnsafe()) / 1e6
      return kept !== undefined && changes.isFresh(kept.mark, now)
        ? Effect.succeed(kept.value)
        : find(key)
    })
})
