/** Looking up who has a token, by its hash: what is found is remembered, and what is not found too. */
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

/** Tokens that open something, and tokens that open nothing, which cannot drive out the others. */
const REMEMBERED = 10_000

/** `read` finds who has the token of the hash; null is an unknown token, which `refused` answers. */
export const makeTokenLookUps = Effect.fnUntraced(function* <A>(options: {
  readonly prefix: TokenPrefix
  readonly refused: InvalidApiKey
  readonly read: (hashHex: string) => Effect.Effect<A | null>
}) {
  const { prefix, refused, read } = options
  const changes = yield* Changes
  const unknown = makeBoundedMap<Mark>(REMEMBERED)

  const lookup = Effect.fnUntraced(function* (hashHex: string) {
    const mark = changes.mark("keys", yield* Clock.Clock)
    const found = yield* read(hashHex)
    if (found !== null) return found
    unknown.set(hashHex, mark)
    return yield* refused
  })
  const find = yield* makeFreshCache({ topic: "keys", capacity: REMEMBERED, lookup })

  return Effect.fnUntraced(function* <E = never>(
    token: Redacted.Redacted,
    guard: LookUpGuard<E> = identity
  ) {
    if (!isWellFormedToken(prefix, token)) return yield* refused
    const hashHex = tokenHash(token)
    const mark = unknown.peek(hashHex)
    if (mark !== null && isFresh(mark, changes.mark("keys", yield* Clock.Clock))) {
      return yield* refused
    }
    return yield* find(hashHex, guard)
  })
})
