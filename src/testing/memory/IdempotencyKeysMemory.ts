/** Idempotency keys in memory. The holds and closes of the ledger write them. */
import { Clock, Effect, Layer } from "effect"
import { IdempotencyKeys, makeIdempotencyKeys } from "../../services/IdempotencyKeys.ts"
import { MemoryStore } from "./MemoryStore.ts"

export const layerIdempotencyKeysMemory = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore

    const purge = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const { requestKeys } of organizations.values()) {
        for (const [key, { expiresAt }] of requestKeys) {
          if (expiresAt <= now) requestKeys.delete(key)
        }
      }
    })

    return yield* makeIdempotencyKeys({
      find: Effect.fnUntraced(function* (organizationId, key) {
        const now = yield* Clock.currentTimeMillis
        const books = organizations.get(organizationId)
        const storedRequest = books?.requestKeys.get(key)
        if (storedRequest === undefined || storedRequest.expiresAt <= now) return null
        const order = books?.orders.get(storedRequest.holdId)
        return {
          fingerprint: storedRequest.fingerprint,
          holdId: storedRequest.holdId,
          answer: storedRequest.answer,
          holdIsOpen: order?.state === "open",
          taskState: order?.task?.state ?? null
        }
      }),
      purge
    })
  })
)
