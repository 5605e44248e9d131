/** A budget that several owners share, counted in this process. */
import { Effect, Scope } from "effect"

/**
 * At most `perOwner` is reserved for one owner, and `total` for all of them. An owner without a
 * reservation may have one that is larger than that.
 */
export const makeShares = (limits: { readonly perOwner: number; readonly total?: number }) => {
  const { perOwner, total = Number.POSITIVE_INFINITY } = limits
  const reserved = new Map<string, number>()
  let reservedTotal = 0

  const change = (owner: string, delta: number): void => {
    reservedTotal += delta
    const next = (reserved.get(owner) ?? 0) + delta
    if (next > 0) reserved.set(owner, next)
    else reserved.delete(owner)
  }
  /** Whether one reservation of the amount fits beside all others. */
  const fits = (others: number, amount: number, limit: number): boolean =>
    others === 0 || others + amount <= limit
  /** Whether a reservation of `current` may become one of `amount`. */
  const mayResize = (owner: string, current: number, amount: number): boolean =>
    fits((reserved.get(owner) ?? 0) - current, amount, perOwner) &&
    fits(reservedTotal - current, amount, total)

  const tryReserve = (owner: string, amount = 1): boolean => {
    const hasRoom = mayResize(owner, 0, amount)
    if (hasRoom) change(owner, amount)
    return hasRoom
  }
  const release = (owner: string, amount = 1): void => change(owner, -amount)

  return {
    /** Reserves an amount until the scope closes; false, and nothing reserved, when there is no room. */
    reserve: (owner: string, amount = 1) =>
      Effect.uninterruptible(
        Effect.flatMap(Effect.scope, (scope) => {
          if (!tryReserve(owner, amount)) return Effect.succeed(false)
          const finalizer = Effect.sync(() => release(owner, amount))
          return Effect.as(Scope.addFinalizer(scope, finalizer), true)
        })
      ),
    /** The same, until `release` is called with the same. */
    tryReserve,
    release,
    /** A reservation of 0 that grows, for an amount not known beforehand; the scope releases it. */
    openReservation: Effect.fnUntraced(function* (owner: string) {
      let amount = 0
      const releaseAll = () => {
        release(owner, amount)
        amount = 0
      }
      yield* Effect.addFinalizer(() => Effect.sync(releaseAll))
      return {
        /**
         * Adds to the reservation. False when there is no room: what it is needed for fails then, so the
         * whole reservation is released.
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
