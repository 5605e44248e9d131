/** Idempotency keys in memory; the ledger's movements write them. */
import { Clock, Effect, Layer } from "effect"
import {
  IdempotencyKeys,
  makeKeyOf,
  makeRecentAnswers,
  recallOf
} from "../../services/IdempotencyKeys.ts"
import { MemoryStore } from "./MemoryStore.ts"

export const layerIdempotencyKeysMemory = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const keyOf = yield* makeKeyOf
    const recent = makeRecentAnswers()

    const purge = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const { requestKeys } of organizations.values()) {
        for (const [key, { expiresAt }] of requestKeys) {
          if (expiresAt <= now) requestKeys.delete(key)
        }
      }
    })

    return IdempotencyKeys.of({
      keyOf,
      recall: Effect.fn("IdempotencyKeys.recall")(function* (organizationId, key) {
        const now = yield* Clock.currentTimeMillis
        const books = organizations.get(organizationId)
        const kept = books?.requestKeys.get(key.key)
        if (kept === undefined || kept.expiresAt <= now) return null
        const order = books?.orders.get(kept.holdId)
        return yield* recallOf(
          {
            fingerprint: kept.fingerprint,
            holdId: kept.holdId,
            answer: kept.answer,
            holdIsOpen: order?.state === "open",
            taskState: order?.task?.state ?? null
          },
          key,
          recent.find(organizationId, key)
        )
      }),
      remember: (organizationId, key, result) =>
        Effect.sync(() => recent.keep(organizationId, key, result)),
      purge
    })
  })
)
