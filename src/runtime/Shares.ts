/** A quota that several owners share, counted in this process. */
import { Effect, Scope } from "effect"
import { onScopeEnd } from "./onScopeEnd.ts"

/**
 * Makes a quota: at most `perOwner` is reserved for one owner, and `total` for all owners together.
 * A reservation may exceed a limit if nothing else is reserved under that limit.
 */
export const makeShares = (limits: { readonly perOwner: number; readonly total?: number }) => {
  const { perOwner, total = Number.POSITIVE_INFINITY } = limits
  const reservedByOwner = new Map<string, number>()
  let reservedTotal = 0

  const change = (owner: string, delta: number): void => {
    reservedTotal += delta
    const next = (reservedByOwner.get(owner) ?? 0) + delta
    if (next > 0) reservedByOwner.set(owner, next)
    else reservedByOwner.delete(owner)
  }
  /** Whether a reservation of the amount fits in addition to all others. */
  const fits = (otherAmounts: number, amount: number, limit: number): boolean =>
    otherAmounts === 0 || otherAmounts + amount <= limit
  /** Whether a reservation of `current` may be resized to `amount`. */
  const mayResize = (owner: string, current: number, amount: number): boolean =>
    fits((reservedByOwner.get(owner) ?? 0) - current, amount, perOwner) &&
    fits(reservedTotal - current, amount, total)

  const tryReserve = (owner: string, amount = 1): boolean => {
    const hasRoom = mayResize(owner, 0, amount)
    if (hasRoom) change(owner, amount)
    return hasRoom
  }
  const release = (owner: string, amount = 1): void => change(owner, -amount)

  return {
    /**
     * Reserves an amount until the scope closes; false, with nothing reserved, if there is no room.
     */
    reserve: (owner: string, amount = 1) =>
      Effect.uninterruptible(
        Effect.flatMap(Effect.scope, (scope) => {
          if (!tryReserve(owner, amount)) return Effect.succeed(false)
          const finalizer = Effect.sync(() => release(owner, amount))
          return Effect.as(Scope.addFinalizer(scope, finalizer), true)
        })
      ),
    /** Reserves an amount until `release` is called with the same amount. */
    tryReserve,
    release,
    /**
     * Opens a reservation of 0 that can grow, for an amount not known in advance; the scope
     * releases it.
     */
    openReservation: Effect.fnUntraced(function* (owner: string) {
      let amount = 0
      const releaseAll = () => {
        release(owner, amount)
        amount = 0
      }
      yield* onScopeEnd(() => Effect.sync(releaseAll))
      return {
        /**
         * Adds to the reservation. If there is no room, returns false and releases the whole
         * reservation, because the work that needs it fails.
         */
        grow: (delta: number): boolean => {
          const hasRoom = mayResize(owner, amount, amount + delta)
          if (hasRoom) {
            change(owner, delta)
            amount += delta
          } else releaseAll()
          return hasRoom
        }
      }
    })
  }
}
