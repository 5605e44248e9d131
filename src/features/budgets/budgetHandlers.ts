import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { budgetView } from "../../http/handlers/money/budgetView.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { Access } from "../../services/Access.ts"
import { Budgets } from "../../services/money/Budgets.ts"
import { BudgetsGroup } from "./BudgetsApi.ts"

export const layerBudgetHandlers = HttpApiBuilder.group(
  operatorApi(BudgetsGroup),
  "budgets",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const budgets = yield* Budgets

    return handlers.handleAll({
      createBudget: Effect.fn("budgets.createBudget")(function* ({ params, payload }) {
        const { scope, subject_id, period, amount, thresholds } = payload
        yield* access.organization(params.id)
        if (subject_id === undefined && scope !== "organization") {
          return yield* new InvalidRequest({
            message: `subject_id: Expected the ${scope} that the budget is of`,
            param: "subject_id"
          })
        }
        const budget = yield* budgets.create({
          organizationId: params.id,
          scope,
          subjectId: subject_id ?? params.id,
          period,
          amountNano: amount,
          thresholds
        })
        return budgetView(budget)
      }),
      changeBudget: Effect.fn("budgets.changeBudget")(function* ({ params, payload }) {
        const { amount: amountNano, thresholds } = payload
        return budgetView(
          yield* budgets.change(params.id, params.budget_id, { amountNano, thresholds })
        )
      }),
      listBudgets: Effect.fn("budgets.listBudgets")(function* ({ params, query }) {
        yield* access.organization(params.id)
        const { subject_id: subjectId = null, ...page } = query
        return listView(yield* budgets.list(params.id, subjectId, pageOf(page)), budgetView)
      }),
      listUsedBudgets: Effect.fn("budgets.listUsedBudgets")(function* ({ query }) {
        const { min_used_percent: minPercent, ...page } = query
        return listView(yield* budgets.listUsed(minPercent, pageOf(page)), budgetView)
      }),
      readBudget: Effect.fn("budgets.readBudget")(function* ({ params }) {
        return budgetView(yield* budgets.find(params.id, params.budget_id))
      }),
      removeBudget: Effect.fn("budgets.removeBudget")(function* ({ params }) {
        yield* budgets.remove(params.id, params.budget_id)
        return { id: params.budget_id, object: "budget.deleted" as const, deleted: true }
      })
    })
  })
)
