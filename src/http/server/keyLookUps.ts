/**
 * How many API keys that nothing is known of one address may have looked up at a time. A key that
 * turns out to be a customer's costs the address nothing; of keys that nobody has it may try so many a
 * minute, and is slowed down beyond them. It is not shut out: other clients may share its address.
 */
import { Effect, Exit, RcMap, type Redacted, Scope, Semaphore } from "effect"
import type { RateLimited } from "../../domain/Errors.ts"
import { makeRequestRates, type Rate } from "../../runtime/RequestRates.ts"
import { apiKeyHash, type LookUpGuard } from "../../services/Access.ts"

/** Different keys of one address that are looked up at a time. */
const QUICK_TURNS = 8
/** Different keys that may wait when the address is slowed down and has one looked up at a time. */
export const SLOW_WAITS = 64

/**
 * `perMinute` (above 0) keys that nobody has may be tried from one address; `refusal` says why a key
 * is not looked up. Memory is kept only for addresses with look-ups under way.
 */
export const makeKeyLookUps = Effect.fnUntraced(function* (
  perMinute: number,
  refusal: (rate: Rate) => RateLimited
) {
  const unknown = makeRequestRates()

  /** Turns of one client's keys: requests with the same key share one, which counts one time. */
  const makeTurns = Effect.fnUntraced(function* (client: string) {
    const quick = yield* Semaphore.make(QUICK_TURNS)
    const slow = yield* Semaphore.make(1)
    let waiting = 0

    const slowTurn = Effect.acquireUseRelease(
      Effect.sync(() => {
        waiting += 1
      }),
      () => slow.takeScoped(1),
      () =>
        Effect.sync(() => {
          waiting -= 1
        })
    )

    /** A turn until the scope closes; answers what counts the key as one that nobody has. */
    const turn = Effect.gen(function* () {
      const quickTurn = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(quick.takeScoped(1), quickTurn)
      // Keys that were looked up while this one waited may have used up what there was.
      const rate = yield* unknown.look(client, perMinute)
      if (!rate.allowed) {
        yield* Scope.close(quickTurn, Exit.void)
        if (waiting >= SLOW_WAITS) return yield* refusal(rate)
        yield* slowTurn
      }
      return yield* Effect.cached(unknown.take(client, perMinute))
    })
    return yield* RcMap.make({ lookup: (_keyHash: string) => turn })
  })

  const clients = yield* RcMap.make({ lookup: makeTurns })

  return (client: string, credential: Redacted.Redacted): LookUpGuard<RateLimited> =>
    (lookUp) =>
      Effect.gen(function* () {
        const turns = yield* RcMap.get(clients, client)
        const count = yield* RcMap.get(turns, apiKeyHash(credential))
        return yield* Effect.tapError(lookUp, () => count)
      }).pipe(Effect.scoped)
})
