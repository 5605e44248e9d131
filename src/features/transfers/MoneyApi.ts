/** The HTTP API of deposits and adjustments: money that moves without an order. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { PositiveAmount } from "../../domain/money/Money.ts"
import { adjustmentKinds } from "../../domain/money/transfers.ts"
import { plainText } from "../../domain/plainText.ts"
import { currency, idParams, listWithTotals, totalsQuery } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles } from "../../http/api/middlewares.ts"
import {
  amount,
  arrayOf,
  constant,
  flag,
  integer,
  oneOf,
  pageQuery,
  Timestamp,
  text,
  textOrNull
} from "../../http/api/shared.ts"

const AdjustmentBody = Schema.Struct({
  kind: oneOf(
    adjustmentKinds,
    "`credit` gives, `withdrawal` takes, and `correction` gives a charge back, or a part of it"
  ),
  amount: PositiveAmount,
  reason: plainText(500).annotate({ description: "Why; the journal and the receipt tell it" }),
  reference: plainText().annotate({ description: "Makes a repeat move nothing" }),
  usage_id: Schema.optionalKey(
    plainText().annotate({ description: "The charge that a correction is about" })
  )
})

export const DepositView = Schema.Struct({
  id: text("Id of the entry in the journal"),
  organization_id: text("Whose pool it went to"),
  amount: amount("How much"),
  reference: text("What the operator calls it"),
  created_at: Timestamp
}).annotate({ identifier: "Deposit", description: "Money that came in" })

export const AdjustmentView = Schema.Struct({
  id: text("Id of the entry in the journal"),
  organization_id: text("Whose pool it moved"),
  kind: AdjustmentBody.fields.kind,
  amount: amount("How much; above zero"),
  reason: text("Why"),
  reference: text("What the operator calls it"),
  usage_id: textOrNull("The charge that a correction is about; null for the others"),
  author: text("Who made it"),
  created_at: Timestamp
}).annotate({ identifier: "Adjustment", description: "Money that an operator moved, and why" })

const transferTotals = {
  count: integer("How many there are"),
  amount: amount("What they come to"),
  currency
}

const params = idParams("organisation")

export class MoneyGroup extends HttpApiGroup.make("money").add(
  HttpApiEndpoint.post("adjust", "/organizations/:id/adjustments", {
    params,
    payload: AdjustmentBody,
    success: Schema.Struct({
      object: constant("adjustment", "Always `adjustment`"),
      ...AdjustmentView.fields,
      applied: flag("False when the reference had been used before, for the same"),
      balance: amount("What the pool has")
    }),
    error: [errors.NotFound, errors.IdempotencyMismatch, errors.InsufficientBalance, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(
      operation(
        "Adjust",
        "A journal entry of its own, once per reference: nothing that was booked is ever changed. A withdrawal takes no more than what is available, and corrections give no more back than was charged. The member's month and its cap count charges as they were made."
      )
    ),
  HttpApiEndpoint.get("listAdjustments", "/organizations/:id/adjustments", {
    params,
    query: { ...pageQuery, ...totalsQuery },
    success: listWithTotals(
      AdjustmentView,
      arrayOf(
        Schema.Struct({ kind: AdjustmentBody.fields.kind, ...transferTotals }).annotate({
          identifier: "AdjustmentTotals"
        }),
        "Of each kind that there is"
      )
    ),
    error: [errors.NotFound, errors.InvalidRequest]
  }).annotateMerge(operation("List adjustments", "Credits, withdrawals and corrections.")),
  HttpApiEndpoint.get("listDeposits", "/organizations/:id/deposits", {
    params,
    query: { ...pageQuery, ...totalsQuery },
    success: listWithTotals(
      DepositView,
      Schema.Struct(transferTotals).annotate({ identifier: "DepositTotals" })
    ),
    error: [errors.NotFound, errors.InvalidRequest]
  }).annotateMerge(operation("List deposits", "Money that came in."))
) {}
