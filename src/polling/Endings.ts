/** Telling those who wait for tasks of the ends this gateway has written. */
import { Effect, Latch, type Scope } from "effect"

export interface Endings {
  /** The task has ended, and the store has it. */
  ended(id: string): void
  /**
   * Watches for the end while the scope is open. What it answers waits for the next end that is told,
   * also one that was told since the watch began or the last wait.
   */
  watch(id: string): Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
}

export const makeEndings = (): Endings => {
  const watches = new Map<string, Set<Latch.Latch>>()
  return {
    ended: (id) => {
      for (const latch of watches.get(id) ?? []) latch.openUnsafe()
    },
    watch: Effect.fnUntraced(function* (id) {
      const latch = yield* Latch.make(false)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          watches.set(id, (watches.get(id) ?? new Set()).add(latch))
        }),
        () =>
          Effect.sync(() => {
            const others = watches.get(id)
            others?.delete(latch)
            if (others?.size === 0) watches.delete(id)
          })
      )
      return Effect.andThen(latch.await, latch.close)
    })
  }
}
