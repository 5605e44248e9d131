import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { formatNano } from "../../domain/money/Money.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { UsageEntry, usageColumns } from "../../http/api/shared.ts"
import { listOrCsv } from "../../http/handlers/csv.ts"
import { budgetView } from "../../http/handlers/money/budgetView.ts"
import { pageOf } from "../../http/handlers/respond.ts"
import {
  formatNanoOrNull,
  isoOrNull,
  poolView,
  receiptView,
  tagOf,
  usageView
} from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Ledger } from "../../services/Ledger.ts"
import { Budgets } from "../../services/money/Budgets.ts"
import { Accounts } from "../../services/operators/Accounts.ts"
import { UsageLog } from "../../services/UsageLog.ts"
import { AccountGroup } from "./AccountApi.ts"
import { makeReadSeries } from "./seriesAnswers.ts"

export const layerAccountHandlers = HttpApiBuilder.group(
  customerApi(AccountGroup),
  "account",
  Effect.fn(function* (handlers) {
    const ledger = yield* Ledger
    const usageLog = yield* UsageLog
    const accounts = yield* Accounts
    const budgets = yield* Budgets
    const readSeries = yield* makeReadSeries
    const { currency } = yield* Settings
    return handlers.handleAll({
      usage: Effect.fn("account.usage")(function* ({ query }) {
        const { organizationId, memberId } = yield* CurrentCaller
        return yield* listOrCsv(
          yield* usageLog.list(organizationId, { memberId, tag: tagOf(query) }, pageOf(query)),
          usageView,
          { columns: usageColumns(UsageEntry.fields), limit: query.limit }
        )
      }),
      series: Effect.fn("account.series")(function* ({ query }) {
        const { organizationId, memberId } = yield* CurrentCaller
        return yield* readSeries(query, {
          organizationId,
          memberId,
          keyId: null,
          model: null,
          channelId: null
        })
      }),
      readKey: Effect.fn("account.readKey")(function* () {
        const { organizationId, memberId, keyId } = yield* CurrentCaller
        // The key has just been authenticated, so the key, its member and its organisation exist.
        const [key, member, organization] = yield* Effect.orDie(
          Effect.all([
            accounts.key(keyId),
            accounts.member(memberId),
            accounts.organization(organizationId)
          ])
        )
        return {
          object: "key" as const,
          id: key.id,
          name: key.name,
          organization_id: organization.id,
          organization_name: organization.name,
          member_id: member.id,
          member_name: member.name,
          scopes: key.scopes,
          models: key.models,
          currency,
          requests_per_minute: key.requestsPerMinute,
          expires_at: isoOrNull(key.expiresAt)
        }
      }),
      receipt: Effect.fn("account.receipt")(function* ({ params }) {
        const { organizationId, memberId } = yield* CurrentCaller
        return receiptView(currency, yield* usageLog.receipt(organizationId, memberId, params.id))
      }),
      balance: Effect.fn("account.balance")(function* () {
        const caller = yield* CurrentCaller
        const { organizationId, memberId } = caller
        // The organisation of a key exists as long as the key does.
        const pool = yield* Effect.orDie(ledger.pool(organizationId))
        const month = yield* ledger.memberMonth(organizationId, memberId)
        return {
          currency,
          ...poolView(pool),
          month: {
            cap: formatNanoOrNull(month.capNano),
            used: formatNano(month.capturedNano),
            held: formatNano(month.heldNano)
          },
          budgets: (yield* budgets.listApplicable(caller)).map(budgetView)
        }
      })
    })
  })
)
