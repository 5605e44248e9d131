/** What owners have taken of something that is bounded, counted in this process. */
import { Effect, Scope } from "effect"

/**
 * At most `each` for one owner, and `together` for all of them. An owner that has nothing may take one
 * thing larger than that.
 */
export const makeShares = (bounds: { readonly each: number; readonly together?: number }) => {
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
    /** Takes an amount until the scope closes; false, and nothing taken, when there is no room. */
    take: (owner: string, amount = 1) =>
      Effect.uninterruptible(
        Effect.flatMap(Effect.scope, (scope) =>
          tryTake(owner, amount)
            ? Effect.as(
                Scope.addFinalizer(
                  scope,
                  Effect.sync(() => change(owner, -amount))
                ),
                true
              )
            : Effect.succeed(false)
        )
      ),
    /** The same, until `giveBack` is called with the same. */
    tryTake,
    giveBack: (owner: string, amount = 1): void => change(owner, -amount),
    /** A share of nothing at first, for what is not known beforehand; given back with the scope. */
    open: Effect.fnUntraced(function* (owner: string) {
      let mine = 0
      const giveBack = () => {
        change(owner, -mine)
        mine = 0
      }
      yield* Effect.addFinalizer(() => Effect.sync(giveBack))
      return {
        /**
         * Takes more for the same thing, of which the share is a part. False when there is no room:
         * what it is needed for comes to nothing then, so all of the share is given back.
         */
        grow: (by: number): boolean => {
          const isRoom = mayHave(owner, mine, mine + by)
          if (isRoom) {
            change(owner, by)
            mine += by
          } else giveBack()
          return isRoom
        }
      }
    })
  }
}
