/** What owners have taken of something that is bounded, counted in this process. */
import { Effect, type Scope } from "effect"

export interface Shares {
  /**
   * Takes an amount until the scope closes; false, and nothing taken, when the owner or all together
   * would have more than they may. Whoever has nothing may take one thing larger than the bound.
   */
  take(owner: string, amount?: number): Effect.Effect<boolean, never, Scope.Scope>
  /** The same, until `giveBack` is called with the same. */
  tryTake(owner: string, amount?: number): boolean
  giveBack(owner: string, amount?: number): void
  /** A share of nothing at first, for what is not known beforehand; given back with the scope. */
  open(owner: string): Effect.Effect<Share, never, Scope.Scope>
}

/** A part of what is bounded that grows with what it is needed for. */
export interface Share {
  /**
   * Takes more under the rules of `take`, for which the share is one thing. False when there is no
   * room: what it is needed for comes to nothing then, so all of the share is given back.
   */
  grow(by: number): boolean
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
  /** Whether one thing of the amount fits beside what others have. */
  const fits = (others: number, amount: number, bound: number): boolean =>
    others === 0 || others + amount <= bound
  /** Whether a thing of `mine` may become one of `amount`. */
  const mayHave = (owner: string, mine: number, amount: number): boolean =>
    fits((taken.get(owner) ?? 0) - mine, amount, each) && fits(all - mine, amount, together)

  const tryTake = (owner: string, amount = 1): boolean => {
    const isRoom = mayHave(owner, 0, amount)
    if (isRoom) change(owner, amount)
    return isRoom
  }

  return {
    take: (owner, amount = 1) =>
      Effect.suspend(() =>
        tryTake(owner, amount)
          ? Effect.as(
              Effect.addFinalizer(() => Effect.sync(() => change(owner, -amount))),
              true
            )
          : Effect.succeed(false)
      ).pipe(Effect.uninterruptible),
    tryTake,
    giveBack: (owner, amount = 1) => change(owner, -amount),
    open: (owner) =>
      Effect.suspend(() => {
        let mine = 0
        const giveBack = () => {
          change(owner, -mine)
          mine = 0
        }
        const grow = (by: number): boolean => {
          if (!mayHave(owner, mine, mine + by)) {
            giveBack()
            return false
          }
          change(owner, by)
          mine += by
          return true
        }
        return Effect.as(
          Effect.addFinalizer(() => Effect.sync(giveBack)),
          { grow }
        )
      })
  }
}
