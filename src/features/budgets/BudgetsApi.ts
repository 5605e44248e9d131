/** The HTTP API of budgets, which limit what organisations, members and keys may spend. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { budgetPeriods, budgetScopes, usualThresholds } from "../../domain/money/budgets.ts"
import { Amount } from "../../domain/money/Money.ts"
import { plainText } from "../../domain/plainText.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, LookUp } from "../../http/api/middlewares.ts"
import {
  amount,
  constant,
  flag,
  list,
  oneOf,
  pageQuery,
  Timestamp,
  text,
  timeOrNull,
  wholeNumber
} from "../../http/api/shared.ts"

const MAX_THRESHOLDS = 10
const MAX_PERCENT = 1000
/** The percentage from which on a budget is listed as used. */
const USUAL_USED_PERCENT = 80

const Thresholds = Schema.Array(
  Schema.Int.check(
    Schema.isBetween(
      { minimum: 1, maximum: MAX_PERCENT },
      { expected: `a whole number from 1 to ${MAX_PERCENT}` }
    )
  )
)
  .check(Schema.isMaxLength(MAX_THRESHOLDS, { expected: `at most ${MAX_THRESHOLDS} percents` }))
  .annotate({
    description:
      "Percents of the amount: when what is used reaches one, `budget.threshold` tells so, once in a period"
  })

const scope = oneOf(
  budgetScopes,
  "Whose orders count: a key's, a member's or all of an organisation"
)

const BudgetBody = Schema.Struct({
  scope,
  subject_id: Schema.optionalKey(
    plainText().annotate({
      description: "The member or the key; of an organisation it may be left out"
    })
  ),
  period: oneOf(
    budgetPeriods,
    "The calendar's day or month in the deployment's zone, or all of time"
  ),
  amount: Amount,
  thresholds: Thresholds.pipe(Schema.withDecodingDefaultKey(Effect.succeed([...usualThresholds])))
})

const BudgetChangeBody = Schema.Struct({
  amount: Schema.optionalKey(Amount),
  thresholds: Schema.optionalKey(Thresholds)
})

export const BudgetView = Schema.Struct({
  object: constant("budget", "Always `budget`"),
  id: text("The budget's id"),
  organization_id: text("Whose it is"),
  scope,
  subject_id: text("The organisation, the member or the key whose orders count"),
  period: BudgetBody.fields.period,
  amount: amount("How much may be held and charged in a period"),
  thresholds: Thresholds,
  held: amount("What open orders hold of it"),
  charged: amount("What was charged in the period"),
  used: amount("Both together"),
  available: amount("What can still be ordered for; not below zero"),
  exceeded: flag("More is used than the amount: new orders are refused, and what runs goes on"),
  is_member_cap: flag("It is the member's `monthly_cap`, and refuses as `member_cap_exceeded`"),
  started_at: timeOrNull("When the present period began; null where it is all of time"),
  resets_at: timeOrNull("When the next one begins; null is never"),
  created_at: Timestamp
}).annotate({ identifier: "Budget", description: "What may be spent, and what is" })
export type BudgetView = typeof BudgetView.Type

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
