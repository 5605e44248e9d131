/** The usage detail in memory; the ledger's captures write it. */
import { Effect, Layer, Schema } from "effect"
import { Quote } from "../../domain/money/Quote.ts"
import { noSuchRecord, type Receipt, UsageLog } from "../../services/UsageLog.ts"
import { type Books, MemoryStore, overageOf, type StoredUsage } from "./MemoryStore.ts"
import { pageOf } from "./newestFirst.ts"

const decodeQuote = Schema.decodeUnknownSync(Quote)

const kinds = ["hold", "capture", "release"] as const

const entriesOf = ({ journal }: Books, holdId: string): Receipt["entries"] =>
  kinds.flatMap((kind) =>
    journal
      .filter((entry) => entry.holdId === holdId && entry.kind === kind)
      .map(({ id, amountNano, debit, credit, createdAt }) => ({
        id,
        kind,
        amountNano,
        debit,
        credit,
        at: createdAt
      }))
  )

const receiptOf = (books: Books, { holdId, record }: StoredUsage): Receipt | null => {
  const hold = books.holds.get(holdId)
  return hold === undefined
    ? null
    : {
        record,
        quote: decodeQuote(hold.request.quote),
        holdNano: hold.request.amountNano,
        overageNano: overageOf(hold),
        entries: entriesOf(books, holdId)
      }
}

export const layerUsageLogMemory = Layer.effect(
  UsageLog,
  Effect.map(MemoryStore, ({ organizations }) => {
    /** Of one member, or of the whole organisation; oldest first. */
    const usageOf = (organizationId: string, memberId: string | null) =>
      (organizations.get(organizationId)?.usage ?? []).filter(
        ({ record }) => memberId === null || record.memberId === memberId
      )

    return UsageLog.of({
      list: Effect.fn("UsageLog.list")((organizationId, memberId, page) =>
        Effect.suspend(() =>
          pageOf(
            usageOf(organizationId, memberId).map(({ record }) => record),
            page
          )
        )
      ),
      receipt: Effect.fn("UsageLog.receipt")(function* (organizationId, memberId, id) {
        const books = organizations.get(organizationId)
        const found = usageOf(organizationId, memberId).find(({ record }) => record.id === id)
        const receipt = books === undefined || found === undefined ? null : receiptOf(books, found)
        return receipt === null ? yield* noSuchRecord : receipt
      })
    })
  })
)
