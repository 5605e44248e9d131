import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Authorization, RequiredScope } from "./AuthorizationApi.ts"
import { NotFound } from "./apiErrors.ts"
import { operation } from "./document.ts"
import { ReceiptView } from "./ReceiptsApi.ts"
import { RequestRules } from "./RequestRulesApi.ts"
import { amount, list, pageQuery, poolFields, SignedAmount, told, UsageEntry } from "./shared.ts"

export const BalanceView = Schema.Struct({
  currency: told("Currency of the amounts"),
  ...poolFields,
  month: Schema.Struct({
    cap: Schema.NullOr(SignedAmount).annotate({ description: "The member's cap; null is none" }),
    used: amount("Charged in it"),
    held: amount("Held in it")
  }).annotate({ description: "The member's current calendar month" })
}).annotate({
  identifier: "Balance",
  description: "The organisation's pool and the member's month"
})

export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("usage", "/usage", {
      query: pageQuery,
      success: list(UsageEntry)
    })
      .annotate(RequiredScope, "usage")
      .annotateMerge(
        operation(
          "List usage",
          "The member's own charges, newest first. With `Accept: text/csv` the page comes as CSV with a " +
            'header row, and a `link` header with `rel="next"` names the following page.'
        )
      ),
    HttpApiEndpoint.get("balance", "/balance", { success: BalanceView })
      .annotate(RequiredScope, "usage")
      .annotateMerge(operation("Read the balance", "What the pool has, and the member's month.")),
    HttpApiEndpoint.get("receipt", "/usage/:id", {
      params: { id: told("Id of the usage record") },
      success: ReceiptView,
      error: NotFound
    })
      .annotate(RequiredScope, "usage")
      .annotateMerge(
        operation("Read a receipt", "What was held and charged for one order, and why.")
      )
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
