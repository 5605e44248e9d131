import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import type { AdjustmentKind } from "../../domain/money/transfers.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { strictly } from "../../http/api/shared.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { moneyView } from "../../http/handlers/views.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
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
import { AdjustmentBody, MoneyGroup } from "./MoneyApi.ts"

const asAdjustment = bodyOf(AdjustmentBody, strictly)

/** The order that is to be corrected; only a correction has one, and has to. */
const correctedOrder = Effect.fnUntraced(function* (
  kind: AdjustmentKind,
  usage: string | undefined
) {
  if ((kind === "correction") !== (usage !== undefined)) {
    const expected = kind === "correction" ? "Expected the charge to correct" : "Expected nothing"
    return yield* new InvalidRequest({
      message: `usage_id: ${expected}, as the kind is ${kind}`,
      param: "usage_id"
    })
  }
  if (usage === undefined) return null
  return orderOfUsage(usage) ?? (yield* noSuchRecord)
})

const depositView = ({ id, organizationId, amountNano, reference, createdAt }: Deposit) => ({
  ...{ id, organization_id: organizationId, amount: formatNano(amountNano), reference },
  created_at: createdAt.toISOString()
})

const adjustmentView = ({ kind, reason, author, orderId, ...made }: Adjustment) => ({
  ...depositView(made),
  ...{ kind, reason, author },
  usage_id: orderId === null ? null : usageId(orderId)
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
      ...{ count, amount: formatNano(amountNano), currency }
    })

    const written = handlers.handleRaw(
      "adjust",
      Effect.fn("money.adjust")(function* ({ params }) {
        const { kind, amount, usage_id, ...why } = yield* asAdjustment
        const { name: author } = yield* CurrentOperator
        const { adjustment, applied } = yield* transfers.adjust({
          ...{ organizationId: params.id, kind, amountNano: amount, author, ...why },
          orderId: yield* correctedOrder(kind, usage_id)
        })
        const { balance } = moneyView(yield* ledger.balance(params.id))
        return {
          object: "adjustment" as const,
          ...adjustmentView(adjustment),
          applied,
          balance
        }
      })
    )
    return written.handleAll({
      listAdjustments: Effect.fn("money.listAdjustments")(function* ({ params, query }) {
        yield* access.organization(params.id)
        const { totals, ...page } = query
        const list = listView(yield* transfers.adjustments(params.id, pageOf(page)), adjustmentView)
        if (totals === "false") return list
        const all = yield* transfers.adjustmentTotals(params.id)
        return { ...list, totals: all.map((of) => ({ kind: of.kind, ...totalsView(of) })) }
      }),
      listDeposits: Effect.fn("money.listDeposits")(function* ({ params, query }) {
        yield* access.organization(params.id)
        const { totals, ...page } = query
        const list = listView(yield* transfers.deposits(params.id, pageOf(page)), depositView)
        return totals === "false"
          ? list
          : { ...list, totals: totalsView(yield* transfers.depositTotals(params.id)) }
      })
    })
  })
)
