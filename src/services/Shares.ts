/** What owners have taken of something that is bounded, counted in this process. */
import { Effect, type Scope } from "effect"

export interface Shares {
  /**
   * Takes an amount until the scope closes; false, and nothing taken, when the owner or all together
   * would have more than they may. Whoever has nothing may take one thing larger than the bound.
   */
  take(owner: string, amount?: number): Effect.Effect<boolean, never, Scope.Scope>
}

export const makeShares = (bounds: {
  /** The most one owner may have. */
  readonly each: number
  /** The most all of them may have. */
  readonly together?: number
}): Shares => {
  const { each, together = Number.POSITIVE_INFINITY } = bounds
  const taken = new Map<string, number>()
  let all = 0

  const change = (owner: string, by: number): void => {
    all += by
    const left = (taken.get(owner) ?? 0) + by
    if (left > 0) taken.set(owner, left)
    else taken.delete(owner)
  }
  const fits = (has: number, amount: number, bound: number): boolean =>
    has === 0 || has + amount <= bound

  return {
    take: (owner, amount = 1) =>
      Effect.suspend(() => {
        if (!fits(taken.get(owner) ?? 0, amount, each) || !fits(all, amount, together)) {
          return Effect.succeed(false)
        }
        change(owner, amount)
        return Effect.as(
          Effect.addFinalizer(() => Effect.sync(() => change(owner, -amount))),
          true
        )
      }).pipe(Effect.uninterruptible)
  }
}
