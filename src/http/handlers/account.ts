import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { formatNano } from "../../domain/Money.ts"
import { Ledger } from "../../services/Ledger.ts"
import { Settings } from "../../services/Settings.ts"
import { UsageLog } from "../../services/UsageLog.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { answerErrors, listView, pageOf } from "./respond.ts"
import { moneyView, usageView } from "./views.ts"

export const layerAccountHandlers = HttpApiBuilder.group(
  GatewayApi,
  "account",
  Effect.fn(function* (handlers) {
    const ledger = yield* Ledger
    const usageLog = yield* UsageLog
    const { currency } = yield* Settings
    return handlers.handleAll({
      usage: Effect.fn("account.usage")(function* ({ query }) {
        const caller = yield* CurrentCaller
        return listView(
          yield* usageLog.list(caller.organizationId, caller.memberId, pageOf(query)),
          usageView
        )
      }, answerErrors),
      balance: Effect.fn("account.balance")(function* () {
        const caller = yield* CurrentCaller
        const balance = yield* ledger.balance(caller.organizationId)
        const month = yield* ledger.memberMonth(caller.organizationId, caller.memberId)
        return {
          currency,
          ...moneyView(balance),
          month: {
            cap: month.capNano === null ? null : formatNano(month.capNano),
            used: formatNano(month.capturedNano),
            held: formatNano(month.heldNano)
          }
        }
      }, answerErrors)
    })
  })
)
