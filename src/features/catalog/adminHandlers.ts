import { Effect, Option, Redacted, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { usageColumns } from "../../http/api/shared.ts"
import { listOrCsv } from "../../http/handlers/csv.ts"
import { budgetView } from "../../http/handlers/money/budgetView.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import {
  formatNanoOrNull,
  moneyView,
  operatorReceiptView,
  tagOf,
  usageView,
  vendorBillView
} from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Access } from "../../services/Access.ts"
import { Catalog, type CatalogReplacement } from "../../services/Catalog.ts"
import { Ledger } from "../../services/Ledger.ts"
import { Budgets } from "../../services/money/Budgets.ts"
import { UsageLog, usageId } from "../../services/UsageLog.ts"
import { AdminGroup, MemberUsageEntry } from "./AdminApi.ts"
import { makeReplays } from "./replayAnswers.ts"

const encodeCatalog = Schema.encodeSync(CatalogDocument)

const changesView = (replaced: CatalogReplacement) => ({
  ...replaced,
  version: Number(replaced.version)
})

export const layerAdminHandlers = HttpApiBuilder.group(
  operatorApi(AdminGroup),
  "admin",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const budgets = yield* Budgets
    const catalog = yield* Catalog
    const ledger = yield* Ledger
    const usageLog = yield* UsageLog
    const replays = yield* makeReplays
    const { currency } = yield* Settings

    return handlers.handleAll({
      readCatalog: Effect.fn("admin.readCatalog")(function* () {
        const { document, version } = yield* catalog.snapshot
        return HttpServerResponse.jsonUnsafe(encodeCatalog(document), {
          headers: { etag: `"${version}"` }
        })
      }),
      replaceCatalog: Effect.fn("admin.replaceCatalog")(function* ({ headers, payload }) {
        const { name: author } = yield* CurrentOperator
        const digits = /\d+/.exec(headers["if-match"] ?? "")?.[0]
        const onVersion = digits === undefined ? null : BigInt(digits)
        return changesView(yield* catalog.replace(payload, { author, onVersion }))
      }),
      previewCatalog: Effect.fn("admin.previewCatalog")(function* ({ query, payload }) {
        const { replay: month, price_list: priceList, organization_id: organizationId } = query
        if (month !== undefined) yield* replays.checkMonth(month)
        if (organizationId !== undefined) yield* access.organization(organizationId)
        const changes = changesView(yield* catalog.preview(payload))
        if (month === undefined) return changes
        const scope = { month, priceList, organizationId }
        return { ...changes, replay: yield* replays.replay(scope, payload) }
      }),
      createOrganization: Effect.fn("admin.createOrganization")(function* ({ payload: { name } }) {
        return { id: yield* access.createOrganization(name), name }
      }),
      deposit: Effect.fn("admin.deposit")(function* ({ params, payload }) {
        const { amount, reference } = payload
        const applied = yield* ledger.deposit(params.id, amount, reference)
        const { balance } = moneyView(yield* ledger.balance(params.id))
        return { organization_id: params.id, reference, applied, balance }
      }),
      setLowBalance: Effect.fn("admin.setLowBalance")(function* ({ params, payload }) {
        yield* ledger.setLowBalance(params.id, payload.threshold)
        return { id: params.id, low_balance: formatNanoOrNull(payload.threshold) }
      }),
      createMember: Effect.fn("admin.createMember")(function* ({ params, payload }) {
        const { name, monthly_cap = null } = payload
        const id = yield* access.createMember(params.id, { name, monthlyCapNano: monthly_cap })
        return { id, organization_id: params.id, name, monthly_cap }
      }),
      createKey: Effect.fn("admin.createKey")(function* ({ params, payload }) {
        const {
          expires_at: expiresAt,
          requests_per_minute: requestsPerMinute,
          budget,
          ...options
        } = payload
        const { id, key, organizationId, budgetId } = yield* access.createKey(params.id, {
          ...options,
          expiresAt,
          requestsPerMinute,
          ...(budget === undefined ? {} : { budget: { ...budget, amountNano: budget.amount } })
        })
        const newKey = { id, key: Redacted.value(key) }
        if (budgetId === null) return newKey
        // The budget was created with the key, and an operator who removed it since sees none.
        const keyBudget = yield* Effect.option(budgets.find(organizationId, budgetId))
        return Option.isNone(keyBudget)
          ? newKey
          : { ...newKey, budget: budgetView(keyBudget.value) }
      }),
      readLedger: Effect.fn("admin.readLedger")(function* ({ params, query }) {
        yield* access.organization(params.id)
        return listView(
          yield* ledger.journal(params.id, pageOf(query)),
          ({ amountNano, holdId, correctedId, createdAt, ...entry }) => ({
            ...entry,
            usage_id: correctedId === null ? null : usageId(correctedId),
            amount: formatNano(amountNano),
            hold_id: holdId,
            created_at: createdAt.toISOString()
          })
        )
      }),
      readUsage: Effect.fn("admin.readUsage")(function* ({ params, query }) {
        yield* access.organization(params.id)
        return yield* listOrCsv(
          yield* usageLog.list(params.id, { memberId: null, tag: tagOf(query) }, pageOf(query)),
          (record) => ({
            ...usageView(record),
            member_id: record.memberId,
            cost: formatNanoOrNull(record.costNano),
            ...vendorBillView(record),
            price_list: record.priceListId
          }),
          { columns: usageColumns(MemberUsageEntry.fields), limit: query.limit }
        )
      }),
      readReceipt: Effect.fn("admin.readReceipt")(function* ({ params }) {
        return operatorReceiptView(
          currency,
          yield* usageLog.receipt(params.id, null, params.usage_id)
        )
      }),
      revokeKey: Effect.fn("admin.revokeKey")(function* ({ params }) {
        yield* access.revokeKey(params.id)
        return { id: params.id, revoked: true as const }
      }),
      verifyLedger: Effect.fn("admin.verifyLedger")(function* () {
        const violations = yield* ledger.verify
        return {
          ok: violations.length === 0,
          violations: violations.map(({ organizationId, ...violation }) => ({
            ...violation,
            organization_id: organizationId
          }))
        }
      })
    })
  })
)
