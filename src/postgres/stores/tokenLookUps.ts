/** Looks up the owner of a token by its hash. Both matches and unknown tokens are cached. */
import { Clock, Effect, identity, type Redacted } from "effect"
import type { InvalidApiKey } from "../../domain/Errors.ts"
import { makeBoundedMap } from "../../runtime/boundedMap.ts"
import { Changes, isFresh, type Mark } from "../../runtime/Changes.ts"
import { makeFreshCache } from "../../runtime/FreshCache.ts"
import {
  isWellFormedToken,
  type LookUpGuard,
  type TokenPrefix,
  tokenHash
} from "../../services/bearerTokens.ts"

/**
 * Capacity of each of the two caches. Unknown tokens have their own cache, so that they cannot
 * evict valid ones.
 */
const CACHE_CAPACITY = 10_000

/**
 * `read` finds the owner by the hash of the token; null means an unknown token, which fails with
 * `refused`.
 */
export const makeTokenLookUps = Effect.fnUntraced(function* <A>(options: {
  readonly prefix: TokenPrefix
  readonly refusal: InvalidApiKey
  readonly read: (hashHex: string) => Effect.Effect<A | null>
}) {
  const { prefix, refusal, read } = options
  const changes = yield* Changes
  const unknownTokens = makeBoundedMap<Mark>(CACHE_CAPACITY)

  const lookup = Effect.fnUntraced(function* (hashHex: string) {
    const mark = changes.mark("keys", yield* Clock.Clock)
    const owner = yield* read(hashHex)
    if (owner !== null) return owner
    unknownTokens.set(hashHex, mark)
    return yield* refusal
  })
  const find = yield* makeFreshCache({ topic: "keys", capacity: CACHE_CAPACITY, lookup })

  return <E = never>(
    token: Redacted.Redacted,
    guard: LookUpGuard<E> = identity
  ): Effect.Effect<A, InvalidApiKey | E> => {
    if (!isWellFormedToken(prefix, token)) return Effect.fail(refusal)
    const hashHex = tokenHash(token)
    const mark = unknownTokens.peek(hashHex)
    if (mark === null) return find(hashHex, guard)
    return Effect.clockWith((clock) =>
      isFresh(mark, changes.mark("keys", clock)) ? Effect.fail(refusal) : find(hashHex, guard)
    )
  }
})
