/**
 * Limits how fast one address may try unknown API keys. A key that turns out to be a customer's costs the
 * address nothing; beyond its unknown keys a minute its look-ups run one at a time. It is not shut out, as
 * other clients may share the address.
 */
import { Effect, Exit, identity, Option, RcMap, type Redacted, Scope, Semaphore } from "effect"
import type { RateLimited } from "../../../domain/Errors.ts"
import { makeRequestRates } from "../../../runtime/RequestRates.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { type LookUpGuard, tokenHash } from "../../../services/bearerTokens.ts"
import { clientOf } from "../clientAddress.ts"
import { tooMany } from "./keyRates.ts"

/** Different keys of one address that are looked up at a time. */
const LOOK_UP_PERMITS = 8
/** Different keys that may wait while the look-ups of their address run one at a time. */
export const SLOW_WAITS = 64

/** Guards the look-ups of this process. Only addresses with a look-up in flight take memory. */
export const makeKeyLookUps = Effect.gen(function* () {
  const { addressUnknownKeysPerMinute: perMinute } = yield* Settings
  const unknownKeyRates = makeRequestRates()

  /** Concurrent look-ups of the same API key share one permit and count once against the limit. */
  const makePermits = Effect.fnUntraced(function* (client: string) {
    const concurrent = yield* Semaphore.make(LOOK_UP_PERMITS)
    const sequential = yield* Semaphore.make(1)
    const sequentialQueue = yield* Semaphore.make(SLOW_WAITS)

    /** Holds a permit until the scope closes; succeeds with the effect that counts an unknown key. */
    const acquire = Effect.gen(function* () {
      const concurrentScope = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(concurrent.takeScoped(1), concurrentScope)
      // Look-ups that ran while this one waited may have used up the limit.
      const rate = yield* unknownKeyRates.peek(client, perMinute)
      if (!rate.allowed) {
        yield* Scope.close(concurrentScope, Exit.void)
        const permit = yield* sequentialQueue.withPermitsIfAvailable(1)(sequential.takeScoped(1))
        if (Option.isNone(permit)) {
          return yield* tooMany(rate, "unknown API keys from this address")
        }
      }
      return yield* Effect.cached(unknownKeyRates.consume(client, perMinute))
    })
    return yield* RcMap.make({ lookup: (_keyHash: string) => acquire })
  })

  const clients = yield* RcMap.make({ lookup: makePermits })

  return (address: string | undefined, credential: Redacted.Redacted): LookUpGuard<RateLimited> =>
    perMinute === 0
      ? identity
      : (lookUp) =>
          Effect.gen(function* () {
            const permits = yield* RcMap.get(clients, clientOf(address))
            const countUnknown = yield* RcMap.get(permits, tokenHash(credential))
            return yield* Effect.tapError(lookUp, () => countUnknown)
          }).pipe(Effect.scoped)
})
