/** The audit of administrative writes in memory. */
import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { AdminAudit } from "../../services/AdminAudit.ts"
import { MemoryStore } from "./MemoryStore.ts"
import { pageOf } from "./newestFirst.ts"

export const layerAdminAuditMemory = Layer.effect(
  AdminAudit,
  Effect.gen(function* () {
    const { adminWrites } = yield* MemoryStore
    const random = yield* SecureRandom.SecureRandom
    return AdminAudit.of({
      record: Effect.fn("AdminAudit.record")(function* (write) {
        const id = `au_${yield* random.uuidV7()}`
        adminWrites.push({ ...write, id, at: new Date(yield* Clock.currentTimeMillis) })
      }),
      list: Effect.fn("AdminAudit.list")((page) => Effect.suspend(() => pageOf(adminWrites, page)))
    })
  })
)
