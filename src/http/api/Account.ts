import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Authorization, RequiredScope } from "./Authorization.ts"
import { ReceiptView } from "./Receipts.ts"
import { RequestRules } from "./RequestRules.ts"
import { list, pageQuery, SignedAmount, UsageEntry } from "./shared.ts"

export const BalanceView = Schema.Struct({
  currency: Schema.String,
  balance: SignedAmount,
  held: SignedAmount,
  available: SignedAmount,
  /** The member's current calendar month; `cap` null is no cap. */
  month: Schema.Struct({
    cap: Schema.NullOr(SignedAmount),
    used: SignedAmount,
    held: SignedAmount
  })
})

export class AccountGroup extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("usage", "/usage", {
      query: pageQuery,
      success: list(UsageEntry)
    }).annotate(RequiredScope, "usage"),
    HttpApiEndpoint.get("balance", "/balance", { success: BalanceView }).annotate(
      RequiredScope,
      "usage"
    ),
    HttpApiEndpoint.get("receipt", "/usage/:id", {
      params: { id: Schema.String },
      success: ReceiptView
    }).annotate(RequiredScope, "usage")
  )
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1") {}
