/**
 * Limits how fast one client address may try unknown API keys. The look-up of a key that exists
 * does not count against the address. When an address exceeds its limit of unknown keys per minute,
 * its look-ups run one at a time. The address is not blocked, as other clients may share it.
 */
import { Effect, Exit, identity, Option, RcMap, type Redacted, Scope, Semaphore } from "effect"
import type { RateLimited } from "../../../domain/Errors.ts"
import { makeRequestRates } from "../../../runtime/RequestRates.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { type LookUpGuard, tokenHash } from "../../../services/bearerTokens.ts"
import { clientOf } from "../clientAddress.ts"
import { tooMany } from "./keyRates.ts"

/** The maximum number of concurrent look-ups of different keys from one address. */
const LOOK_UP_PERMITS = 8
/**
 * The maximum number of different keys that may wait while the look-ups of their address run one at
 * a time.
 */
export const SLOW_WAITS = 64

/** Limits the look-ups of this process. Only addresses with a look-up in flight use memory. */
export const makeKeyLookUps = Effect.gen(function* () {
  const { addressUnknownKeysPerMinute: perMinute } = yield* Settings
  const unknownKeyRates = makeRequestRates()

  /** Concurrent look-ups of the same API key share one permit and count once against the limit. */
  const makePermits = Effect.fnUntraced(function* (client: string) {
    const concurrent = yield* Semaphore.make(LOOK_UP_PERMITS)
    const sequential = yield* Semaphore.make(1)
    const sequentialQueue = yield* Semaphore.make(SLOW_WAITS)

    /**
     * Takes a permit until the scope closes. The result is the effect by which the caller counts an
     * unknown key.
     */
    const acquire = Effect.gen(function* () {
      const concurrentScope = yield* Scope.fork(yield* Effect.scope)
      yield* Scope.provide(concurrent.takeScoped(1), concurrentScope)
      // Look-ups that ran while this one waited may have used up the limit.
      const rate = yield* unknownKeyRates.peek(client, perMinute)
      if (!rate.isAllowed) {
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
