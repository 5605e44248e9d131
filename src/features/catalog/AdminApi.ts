/** The operators' HTTP API of the catalog. Unknown fields in its bodies are errors. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CatalogDocument, CatalogWrite } from "../../domain/catalog/CatalogDocument.ts"
import { PositiveAmount } from "../../domain/money/Money.ts"
import { Month } from "../../domain/money/months.ts"
import { transferKinds } from "../../domain/money/transfers.ts"
import { plainText } from "../../domain/plainText.ts"
import { keyFields, Name } from "../../http/api/admin/bodies.ts"
import { BudgetView, budgetFields } from "../../http/api/admin/budgets.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, BodyLimit, LookUp } from "../../http/api/middlewares.ts"
import {
  OperatorReceiptView,
  priceListId,
  vendorBillFields,
  vendorCost
} from "../../http/api/receipts.ts"
import {
  AmountOrNull,
  amount,
  arrayOf,
  CSV_DESCRIPTION,
  decimalOrNull,
  flag,
  integer,
  list,
  oneOf,
  pageQuery,
  Timestamp,
  text,
  textOrNull,
  UsageEntry,
  usageQuery
} from "../../http/api/shared.ts"
import { usualScopes } from "../../services/Access.ts"
import { CatalogReplay } from "./CatalogReplay.ts"

const Fault = Schema.Struct({
  path: text("Path of the field"),
  message: text("What is the matter with it")
})
const ListChange = Schema.Struct({
  added: arrayOf(Schema.String, "What is new"),
  changed: arrayOf(Schema.String, "What is other than before"),
  removed: arrayOf(Schema.String, "What is gone")
}).annotate({ description: "Ids that changed; of mounts, the model" })

const OrganizationBody = Schema.Struct({ name: Name })

const DepositBody = Schema.Struct({
  amount: PositiveAmount,
  reference: plainText().annotate({ description: "Makes a repeat add nothing" })
})

const LowBalanceBody = Schema.Struct({
  threshold: AmountOrNull.annotate({ description: "Below it the balance is low; null is never" })
})

const MemberBody = Schema.Struct({
  name: Name,
  monthly_cap: Schema.optionalKey(AmountOrNull)
})

const KeyBody = Schema.Struct({
  name: Name,
  scopes: keyFields.scopes.pipe(Schema.withDecodingDefaultKey(Effect.succeed(usualScopes))),
  models: keyFields.models.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  expires_at: keyFields.expires_at.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  requests_per_minute: keyFields.requests_per_minute.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  budget: Schema.optionalKey(
    Schema.Struct(budgetFields).annotate({
      description:
        "A budget of the key's own, created with it: the key never spends more, whatever it orders"
    })
  )
})

export const JournalEntry = Schema.Struct({
  id: text("The line's id"),
  kind: oneOf([...transferKinds, "hold", "capture", "release"], "What moved it"),
  amount: amount("How much moved; above zero"),
  debit: text("The account it left"),
  credit: text("The account it went to"),
  hold_id: textOrNull("The task or request it was for; null for deposits and adjustments"),
  reference: textOrNull("Of deposits and adjustments; null for the others"),
  reason: textOrNull("Why, of an adjustment; null for the others"),
  author: textOrNull("By whom, of an adjustment; null for the others"),
  usage_id: textOrNull("The charge that a correction is about; null for the others"),
  created_at: Timestamp
}).annotate({ identifier: "JournalLine", description: "A line of the journal" })

export const MemberUsageEntry = Schema.Struct({
  ...UsageEntry.fields,
  member_id: text("Who ordered it"),
  cost: vendorCost,
  ...vendorBillFields,
  price_list: priceListId
})

export const CatalogChanges = Schema.Struct({
  version: integer("Counts the catalogs that were in force"),
  changes: Schema.Struct({
    channels: ListChange,
    models: ListChange,
    mounts: ListChange,
    protocols: Schema.optionalKey(ListChange)
  }).annotate({ description: "What is other than before" }),
  warnings: arrayOf(
    Fault,
    "What is allowed but cannot be ordered, such as a protocol nobody speaks"
  )
})
export const CatalogPreview = Schema.Struct({
  ...CatalogChanges.fields,
  replay: Schema.optionalKey(CatalogReplay)
})

export class AdminGroup extends HttpApiGroup.make("admin").add(
  HttpApiEndpoint.get("readCatalog", "/catalog", { success: CatalogDocument }).annotateMerge(
    operation(
      "Read the catalog",
      "Everything but the vendors' keys. Its `ETag` is its version, for `If-Match`."
    )
  ),
  HttpApiEndpoint.put("replaceCatalog", "/catalog", {
    payload: CatalogWrite,
    headers: {
      "if-match": Schema.optionalKey(
        Schema.String.check(
          Schema.isPattern(/^"\d{1,15}"$|^\*$/, { expected: 'the `ETag` of a catalog, as "7"' })
        ).annotate({
          description: "The version that the change was made on, as its `ETag` tells it"
        })
      )
    },
    success: CatalogChanges,
    error: [errors.PreconditionFailed, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotate(BodyLimit, "media")
    .annotateMerge(
      operation(
        "Replace the catalog",
        "In force on every gateway within a second. Running tasks keep their price and account. With `If-Match` only where it is still that version: else 412, which tells who changed it."
      )
    ),
  HttpApiEndpoint.post("previewCatalog", "/catalog/preview", {
    query: {
      replay: Schema.optionalKey(
        Month.annotate({ description: "The month whose orders are reckoned again by the catalog" })
      ),
      price_list: Schema.optionalKey(
        plainText().annotate({
          description:
            "With `replay`: the price list by which all orders are reckoned, or `none` for the catalog's prices; left out, each organisation's own"
        })
      ),
      organization_id: Schema.optionalKey(
        plainText().annotate({ description: "With `replay`: only the orders of this organisation" })
      )
    },
    payload: CatalogWrite,
    success: CatalogPreview,
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(BodyLimit, "media")
    .annotate(AllowedRoles, ["operator", "finance", "viewer"])
    .annotateMerge(
      operation(
        "Preview a catalog",
        "What replacing the catalog would change, and its warnings. Nothing is changed; `version` is the one in force. With `replay` also what the orders of a month, all of them, would have been charged and have cost under it, reckoned from what was kept with each. `price_list` tells what they would have come to under another list."
      )
    ),
  HttpApiEndpoint.post("createOrganization", "/organizations", {
    payload: OrganizationBody,
    success: Schema.Struct({ id: text("The organisation's id"), name: text("Its name") }),
    error: bodyErrors
  })
    .annotate(AllowedRoles, ["operator", "finance"])
    .annotateMerge(operation("Create an organisation", "With an empty pool.")),
  HttpApiEndpoint.post("deposit", "/organizations/:id/deposits", {
    params: idParams("organisation"),
    payload: DepositBody,
    success: Schema.Struct({
      organization_id: text("The organisation's id"),
      reference: text("The deposit's reference"),
      applied: flag("False when the reference had been deposited before"),
      balance: amount("What the pool has")
    }),
    error: [errors.NotFound, errors.IdempotencyMismatch, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(operation("Deposit", "Adds money to a pool, once per reference.")),
  HttpApiEndpoint.put("setLowBalance", "/organizations/:id/low_balance", {
    params: idParams("organisation"),
    payload: LowBalanceBody,
    success: Schema.Struct({
      id: text("The organisation's id"),
      low_balance: decimalOrNull("Below it the balance is low; null is never")
    }),
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["finance"])
    .annotateMerge(
      operation(
        "Set the low balance",
        "The webhook `balance.low` tells once when the balance falls below it, and again after it has risen."
      )
    ),
  HttpApiEndpoint.post("createMember", "/organizations/:id/members", {
    params: idParams("organisation"),
    payload: MemberBody,
    success: Schema.Struct({
      id: text("The member's id"),
      organization_id: text("The organisation's id"),
      name: text("The member's name"),
      monthly_cap: AmountOrNull
    }),
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["operator", "finance"])
    .annotateMerge(
      operation("Create a member", "Who spends from the pool, up to a cap a calendar month.")
    ),
  HttpApiEndpoint.get("readLedger", "/organizations/:id/ledger", {
    params: idParams("organisation"),
    query: pageQuery,
    success: list(JournalEntry),
    error: errors.NotFound
  }).annotateMerge(
    operation(
      "Read the journal",
      "Every movement of the pool, the newest order or deposit first: the movements of an order stand together where it was placed, and `created_at` tells when each was made."
    )
  ),
  HttpApiEndpoint.get("readUsage", "/organizations/:id/usage", {
    params: idParams("organisation"),
    query: usageQuery,
    success: list(MemberUsageEntry),
    error: errors.NotFound
  }).annotateMerge(
    operation(
      "Read the usage",
      `Every charge of the organisation, the newest order first, whenever it was charged. ${CSV_DESCRIPTION}`
    )
  ),
  HttpApiEndpoint.get("readReceipt", "/organizations/:id/usage/:usage_id", {
    params: { ...idParams("organisation"), usage_id: text("Id of the usage record") },
    success: OperatorReceiptView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(
      operation("Read a receipt", "What was held and charged for one order, and why.")
    ),
  HttpApiEndpoint.post("createKey", "/members/:id/keys", {
    params: idParams("member"),
    payload: KeyBody,
    success: Schema.Struct({
      id: text("The key's id, to revoke it by"),
      key: text("The key itself, shown here and never again"),
      budget: Schema.optionalKey(BudgetView)
    }),
    error: [errors.NotFound, ...bodyErrors]
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(operation("Create a key", "A key a member calls `/v1` with.")),
  HttpApiEndpoint.delete("revokeKey", "/keys/:id", {
    params: idParams("key"),
    success: Schema.Struct({
      id: text("The key's id"),
      revoked: Schema.Literal(true).annotate({ description: "It opens nothing any more" })
    }),
    error: errors.NotFound
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(operation("Revoke a key", "On every gateway within a second.")),
  HttpApiEndpoint.get("verifyLedger", "/ledger/verify", {
    success: Schema.Struct({
      ok: flag("Whether every invariant holds"),
      violations: arrayOf(
        Schema.Struct({
          invariant: text("Which one is broken"),
          organization_id: text("Whose books"),
          subject: text("The pool, member, hold or task it was found at"),
          detail: text("What was found and what it should be")
        }),
        "Of many, some of each pool"
      )
    })
  }).annotateMerge(
    operation("Verify the ledger", "Recomputes every invariant of the books from their rows.")
  )
) {}
