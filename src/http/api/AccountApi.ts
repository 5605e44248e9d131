/** What a member may know of its own: the pool, the month, usage, and the receipt of each charge. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NotFound } from "./apiErrors.ts"
import { operation } from "./document.ts"
import { Authorization, RequestRules, RequiredScope } from "./middlewares.ts"
import { ImageInputs, SecondVideoInputs, TextInputs, TokenVideoInputs, tier } from "./QuotesApi.ts"
import {
  amount,
  list,
  pageQuery,
  poolFields,
  SignedAmount,
  Timestamp,
  told,
  UsageEntry
} from "./shared.ts"

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

const Entry = Schema.Struct({
  id: Schema.String.annotate({
    description: "Id of the entry in the organisation's journal",
    examples: ["tr_vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"]
  }),
  kind: Schema.Literals(["hold", "capture", "release"]).annotate({
    description: "`hold` sets aside, `capture` charges, `release` gives the whole hold back",
    examples: ["capture"]
  }),
  amount: SignedAmount.annotate({
    description: "Positive; debit and credit tell the direction",
    examples: ["5.0094"]
  }),
  debit: Schema.String.annotate({
    description: "Account the amount leaves",
    examples: ["pool"]
  }),
  credit: Schema.String.annotate({
    description: "Account the amount enters",
    examples: ["revenue"]
  }),
  at: Timestamp.annotate({
    description: "When it was booked, ISO 8601 in UTC",
    examples: ["2026-01-31T12:00:00.000Z"]
  })
})

export const ReceiptView = Schema.Struct({
  object: Schema.Literal("receipt").annotate({
    description: "Always `receipt`",
    examples: ["receipt"]
  }),
  id: Schema.String.annotate({
    description: "Id of the usage record",
    examples: ["us_vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"]
  }),
  task_id: Schema.NullOr(Schema.String).annotate({
    description: "The video task that was charged; null for all else",
    examples: ["vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"]
  }),
  model: Schema.String.annotate({ description: "The model ordered", examples: ["film-1"] }),
  modality: Schema.String.annotate({ description: "Its modality", examples: ["video"] }),
  currency: Schema.String.annotate({ description: "Currency of every amount", examples: ["CNY"] }),
  hold: SignedAmount.annotate({
    description: "What was set aside before the vendor was called",
    examples: ["4.968"]
  }),
  charge: SignedAmount.annotate({ description: "What was charged", examples: ["5.0094"] }),
  difference: SignedAmount.annotate({
    description: "Charge less hold; negative when less was charged than held",
    examples: ["0.0414"]
  }),
  overage: SignedAmount.annotate({
    description: "What was charged above the hold; never negative",
    examples: ["0.0414"]
  }),
  unit: Schema.String.annotate({
    description: "What is counted: `token`, `second` or `image`",
    examples: ["token"]
  }),
  unit_price: SignedAmount.annotate({
    description: "Currency units per `unit`, exact",
    examples: ["0.000046"]
  }),
  units: Schema.Int.annotate({
    description: "How many were charged; of text, the output tokens",
    examples: [108900]
  }),
  input_units: Schema.Int.annotate({
    description: "Of text, the input tokens that were charged; 0 for everything else",
    examples: [0]
  }),
  input_unit_price: Schema.NullOr(SignedAmount).annotate({
    description: "Of text, currency units per input token; null for everything else"
  }),
  basis: Schema.String.annotate({
    description:
      "How the units were found: `upstream_usage`, `formula`, `ordered_seconds` or `requested_images`",
    examples: ["upstream_usage"]
  }),
  resolution: Schema.optionalKey(Schema.String).annotate({
    description: "The resolution that was billed; absent for images",
    examples: ["720p"]
  }),
  tier: Schema.optionalKey(tier),
  inputs: Schema.Union([TokenVideoInputs, SecondVideoInputs, ImageInputs, TextInputs]).annotate({
    description: "What the hold was reckoned from, frozen when it was taken"
  }),
  formula: Schema.String.annotate({
    description: "How the hold was reckoned, in one line",
    examples: ["(0 + 5) s x 21600 tokens/s x 0.000046 = 4.968"]
  }),
  entries: Schema.Array(Entry).annotate({
    description: "The journal entries of this charge, in time"
  }),
  explanation: Schema.String.annotate({
    description: "Why this was charged, in one sentence",
    examples: [
      "The vendor reported 108900 completion tokens at 0.000046 CNY each; 4.968 was held, so 0.0414 more was charged than held."
    ]
  }),
  created_at: Timestamp.annotate({
    description: "When it was charged, ISO 8601 in UTC",
    examples: ["2026-01-31T12:00:00.000Z"]
  })
}).annotate({ identifier: "Receipt", description: "One charge, explained" })
export type ReceiptView = typeof ReceiptView.Type

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
