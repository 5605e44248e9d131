import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import type { AdjustmentKind } from "../../domain/money/transfers.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { moneyView } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Access } from "../../services/Access.ts"
import { Ledger } from "../../services/Ledger.ts"
import {
  type Adjustment,
  type Deposit,
  type DepositTotals,
  Transfers
} from "../../services/money/Transfers.ts"
import { noSuchRecord, orderOfUsage, usageId } from "../../services/UsageLog.ts"
import { type AdjustmentView, type DepositView, MoneyGroup } from "./MoneyApi.ts"

/** The id of the order to correct: required for a correction, refused for any other adjustment. */
const correctedOrderId = Effect.fnUntraced(function* (
  kind: AdjustmentKind,
  recordId: string | undefined
) {
  if ((kind === "correction") !== (recordId !== undefined)) {
    const expected = kind === "correction" ? "Expected the charge to correct" : "Expected nothing"
    return yield* new InvalidRequest({
      message: `usage_id: ${expected}, as the kind is ${kind}`,
      param: "usage_id"
    })
  }
  if (recordId === undefined) return null
  return orderOfUsage(recordId) ?? (yield* noSuchRecord)
})

const depositView = (deposit: Deposit): typeof DepositView.Type => ({
  id: deposit.id,
  organization_id: deposit.organizationId,
  amount: formatNano(deposit.amountNano),
  reference: deposit.reference,
  created_at: deposit.createdAt.toISOString()
})

const adjustmentView = (adjustment: Adjustment): typeof AdjustmentView.Type => ({
  ...depositView(adjustment),
  kind: adjustment.kind,
  reason: adjustment.reason,
  author: adjustment.author,
  usage_id: adjustment.orderId === null ? null : usageId(adjustment.orderId)
})

export const layerMoneyHandlers = HttpApiBuilder.group(
  operatorApi(MoneyGroup),
  "money",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const ledger = yield* Ledger
    const transfers = yield* Transfers
    const { currency } = yield* Settings

    const totalsView = ({ count, amountNano }: DepositTotals) => ({
      count,
      amount: formatNano(amountNano),
      currency
    })

    return handlers.handleAll({
      adjust: Effect.fn("money.adjust")(function* ({ params, payload }) {
        const { kind, amount, reason, reference, usage_id } = payload
        const { name: author } = yield* CurrentOperator
        const { adjustment, applied } = yield* transfers.adjust({
          organizationId: params.id,
          kind,
          amountNano: amount,
          reason,
          reference,
          author,
          orderId: yield* correctedOrderId(kind, usage_id)
        })
        const { balance } = moneyView(yield* ledger.balance(params.id))
        return { object: "adjustment" as const, ...adjustmentView(adjustment), applied, balance }
      }),
      listAdjustments: Effect.fn("money.listAdjustments")(function* ({ params, query }) {
        yield* access.organization(params.id)
        const { totals, ...page } = query
        const list = listView(yield* transfers.adjustments(params.id, pageOf(page)), adjustmentView)
        if (totals === "false") return list
        const sums = yield* transfers.adjustmentTotals(params.id)
        return { ...list, totals: sums.map((sum) => ({ kind: sum.kind, ...totalsView(sum) })) }
      }),
      listDeposits: Effect.fn("money.listDeposits")(function* ({ params, query }) {
        yield* access.organization(params.id)
        const { totals, ...page } = query
        const list = listView(yield* transfers.deposits(params.id, pageOf(page)), depositView)
        if (totals === "false") return list
        return { ...list, totals: totalsView(yield* transfers.depositTotals(params.id)) }
      })
    })
  })
)
