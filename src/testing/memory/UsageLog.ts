/** The usage detail in memory; the ledger's captures write it. */
import { Effect, Layer } from "effect"
import { UsageLog } from "../../services/UsageLog.ts"
import { MemoryStore } from "./MemoryStore.ts"
import { pageOf } from "./page.ts"

export const layerUsageLogMemory = Layer.effect(
  UsageLog,
  Effect.map(MemoryStore, ({ organizations }) =>
    UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, memberId, page) =>
        Effect.suspend(() => {
          const records = (organizations.get(organizationId)?.usage ?? []).map(
            ({ record }) => record
          )
          return pageOf(
            memberId === null ? records : records.filter((record) => record.memberId === memberId),
            page
          )
        })
      )
    })
  )
)
