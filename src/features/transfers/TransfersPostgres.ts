/** Transfers in PostgreSQL. One SQL function moves the money under the lock of the pool. */
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { transferPrefix } from "../../domain/money/transfers.ts"
import { makeConditions } from "../../postgres/client/conditions.ts"
import {
  columnsOf,
  readPage,
  retryBriefly,
  rowOf,
  rowsOf,
  withStatementTimeout
} from "../../postgres/client/rows.ts"
import { adjustmentColumns } from "../../postgres/ledger/adjustments.ts"
import type { PageRequest } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  AdjustmentOutcome,
  answerAdjustment,
  unknownOrganization
} from "../../services/ledgerAnswers.ts"
import {
  Adjustment,
  AdjustmentTotals,
  Deposit,
  DepositTotals,
  Transfers
} from "../../services/money/Transfers.ts"

const depositColumns = columnsOf(Deposit, "t", { amountNano: "t.amount" })

const TransferRow = Schema.Struct({
  outcome: AdjustmentOutcome,
  id: Schema.NullOr(Schema.String),
  freeNano: Schema.NullOr(Schema.BigInt)
})

export const layerTransfers = Layer.effect(
  Transfers,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { isAfterCursor } = makeConditions(sql)
    const random = yield* SecureRandom.SecureRandom
    const { currency, timeZone } = yield* Settings

    /** The queries for a page of one organisation's transfers. */
    const pageQueries = (
      organizationId: string,
      condition: string,
      columns: string,
      { after, limit }: PageRequest
    ) => {
      const isListed = sql`organization_id = ${organizationId} AND ${sql.literal(condition)}`
      return {
        isEntry: (id: string) => sql`SELECT 1 FROM transfers WHERE ${isListed} AND id = ${id}`,
        newest: sql`
          SELECT ${sql.literal(columns)} FROM transfers t
           WHERE ${isListed} AND ${isAfterCursor("id", after)}
           ORDER BY id DESC LIMIT ${limit + 1}`
      }
    }

    return Transfers.of({
      adjust: Effect.fn("Transfers.adjust")(function* (adjustment) {
        const { organizationId, kind, amountNano, reference, reason, author, orderId } = adjustment
        const pools = yield* retryBriefly(
          sql`SELECT 1 FROM pools WHERE organization_id = ${organizationId}`
        )
        if (pools.length === 0) return yield* unknownOrganization
        const newId = transferPrefix + (yield* random.uuidV7())
        const transfer = yield* rowOf(TransferRow)(
          withStatementTimeout(sql`
            SELECT outcome, transfer_id AS id, free AS "freeNano"
              FROM transfer_funds(${timeZone}, ${organizationId}, ${newId}, ${kind}, ${amountNano}, ${reference},
                                  ${reason}, ${author}, ${orderId})`)
        )
        const applied = yield* answerAdjustment(transfer, amountNano, currency)
        const stored = yield* rowOf(Adjustment)(
          retryBriefly(sql`
            SELECT ${sql.literal(adjustmentColumns)} FROM transfers t
             WHERE organization_id = ${organizationId} AND id = ${transfer.id}`)
        )
        return { adjustment: stored, applied }
      }),
      adjustments: Effect.fn("Transfers.adjustments")((id, page) =>
        readPage(Adjustment, page, pageQueries(id, "kind <> 'deposit'", adjustmentColumns, page))
      ),
      deposits: Effect.fn("Transfers.deposits")((id, page) =>
        readPage(Deposit, page, pageQueries(id, "kind = 'deposit'", depositColumns, page))
      ),
      depositTotals: Effect.fn("Transfers.depositTotals")((id) =>
        rowOf(DepositTotals)(
          retryBriefly(sql`
            SELECT count(*)::int AS count, coalesce(sum(amount), 0)::text AS "amountNano"
              FROM transfers WHERE organization_id = ${id} AND kind = 'deposit'`)
        )
      ),
      adjustmentTotals: Effect.fn("Transfers.adjustmentTotals")((id) =>
        rowsOf(AdjustmentTotals)(
          retryBriefly(sql`
            SELECT kind, count(*)::int AS count, sum(amount)::text AS "amountNano"
              FROM transfers WHERE organization_id = ${id} AND kind <> 'deposit'
             GROUP BY kind ORDER BY kind`)
        )
      )
    })
  })
)
