/** Orphans in memory; the closes of their holds write them. */
import { Clock, Effect, Layer } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { Orphans } from "../../services/Orphans.ts"
import { MemoryStore, replaceOrphan } from "./MemoryStore.ts"
import { pageOf } from "./newestFirst.ts"

export const layerOrphansMemory = Layer.effect(
  Orphans,
  Effect.gen(function* () {
    const store = yield* MemoryStore

    const list: Orphans["Service"]["list"] = Effect.fn("Orphans.list")((resolved, page) =>
      Effect.suspend(() =>
        pageOf(store.orphans, page, ({ resolvedAt }) => (resolvedAt !== null) === resolved)
      )
    )

    const resolve: Orphans["Service"]["resolve"] = Effect.fn("Orphans.resolve")(
      function* (id, note) {
        const now = yield* Clock.currentTimeMillis
        const before = store.orphans.find((orphan) => orphan.id === id)
        if (before === undefined) {
          return yield* new NotFound({ message: `No orphan is called ${JSON.stringify(id)}` })
        }
        const after = { ...before, note, resolvedAt: before.resolvedAt ?? new Date(now) }
        replaceOrphan(store, before, after)
        return after
      }
    )

    return Orphans.of({ list, resolve })
  })
)
