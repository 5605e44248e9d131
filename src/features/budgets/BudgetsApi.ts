/** The HTTP API of budgets, which limit what organisations, members and keys may spend. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Amount } from "../../domain/money/Money.ts"
import { plainText } from "../../domain/plainText.ts"
import {
  BudgetView,
  budgetFields,
  budgetScope,
  MAX_PERCENT,
  Thresholds
} from "../../http/api/admin/budgets.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, LookUp } from "../../http/api/middlewares.ts"
import { constant, flag, list, pageQuery, text, wholeNumber } from "../../http/api/shared.ts"

/** The percentage from which on a budget is listed as used. */
const USUAL_USED_PERCENT = 80

const BudgetBody = Schema.Struct({
  scope: budgetScope,
  subject_id: Schema.optionalKey(
    plainText().annotate({
      description: "The member or the key; of an organisation it may be left out"
    })
  ),
  ...budgetFields
})

const BudgetChangeBody = Schema.Struct({
  amount: Schema.optionalKey(Amount),
  thresholds: Schema.optionalKey(Thresholds)
})

const organization = idParams("organisation")
const params = {
  ...organization,
  budget_id: plainText().annotate({ description: "The budget's id" })
}

export class BudgetsGroup extends HttpApiGroup.make("budgets").add(
  HttpApiEndpoint.post("createBudget", "/organizations/:id/budgets", {
    params: organization,
    payload: BudgetBody,
    success: BudgetView,
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(
      operation(
        "Create a budget",
        "What the present period has held and charged counts in it at once: where that is too much already, new orders are refused and the answer says `exceeded`. Several may apply to an order, which must fit into each."
      )
    ),
  HttpApiEndpoint.get("listBudgets", "/organizations/:id/budgets", {
    params: organization,
    query: {
      ...pageQuery,
      subject_id: Schema.optionalKey(
        plainText().annotate({ description: "Only of this organisation, member or key" })
      )
    },
    success: list(BudgetView),
    error: [errors.NotFound, errors.InvalidRequest]
  }).annotateMerge(operation("List budgets", "With what is used of them; members' caps as well.")),
  HttpApiEndpoint.get("listUsedBudgets", "/budgets", {
    query: {
      ...pageQuery,
      min_used_percent: wholeNumber(
        1,
        MAX_PERCENT,
        `Only budgets of which at least this percentage is used, ${USUAL_USED_PERCENT} when left out`
      ).pipe(Schema.withDecodingDefaultKey(Effect.succeed(String(USUAL_USED_PERCENT))))
    },
    success: list(BudgetView),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "List used budgets",
      "Budgets of all organisations that are near their limit or above it, members' caps as well."
    )
  ),
  HttpApiEndpoint.get("readBudget", "/organizations/:id/budgets/:budget_id", {
    params,
    success: BudgetView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read a budget", "With what is used of it.")),
  HttpApiEndpoint.patch("changeBudget", "/organizations/:id/budgets/:budget_id", {
    params,
    payload: BudgetChangeBody,
    success: BudgetView,
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(
      operation(
        "Change a budget",
        "What is left out stays. New orders are decided by it; what was told in the period is not told again."
      )
    ),
  HttpApiEndpoint.delete("removeBudget", "/organizations/:id/budgets/:budget_id", {
    params,
    success: Schema.Struct({
      id: text("The budget's id"),
      object: constant("budget.deleted", "Always `budget.deleted`"),
      deleted: flag("Whether it was removed")
    }),
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(operation("Remove a budget", "Orders that counted in it go on without it."))
) {}
