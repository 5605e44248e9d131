/** The HTTP API by which operators list, read and change organisations, members and keys. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Amount } from "../../domain/money/Money.ts"
import { plainText } from "../../domain/plainText.ts"
import { keyFields, Name } from "../../http/api/admin/bodies.ts"
import {
  currency,
  idFilter,
  idParams,
  listWithTotals,
  nameFilter,
  stateFilter,
  totalsQuery
} from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { AllowedRoles, LookUp } from "../../http/api/middlewares.ts"
import {
  AmountOrNull,
  amount,
  arrayOf,
  decimalOrNull,
  exposureFields,
  flag,
  integer,
  nullable,
  pageQuery,
  poolFields,
  Timestamp,
  text,
  textOrNull,
  timeOrNull
} from "../../http/api/shared.ts"
import { Scope } from "../../services/Access.ts"

const count = integer("How many there are")
const enabled = flag("Whether its keys open anything")

export const OrganizationView = Schema.Struct({
  id: text("The organisation's id"),
  name: text("Its name"),
  ...poolFields,
  ...exposureFields,
  holds_on_credit: flag(
    "Whether the holds of orders may use the credit as well, so that `available` has it"
  ),
  low_balance: decimalOrNull("Below it `balance.low` is told; null is never"),
  currency: text("Currency of the amounts"),
  enabled,
  disabled_at: timeOrNull("Since when it is disabled"),
  stopped_reason: textOrNull("Why it takes no orders, as its books are broken; null while sound"),
  watermark: nullable(
    Schema.Boolean,
    "Whether its orders are marked as made by AI when they do not say so; null is the gateway's default"
  ),
  price_list: textOrNull("The price list that it is on; null where it pays the catalog's prices"),
  created_at: Timestamp
}).annotate({ identifier: "Organization", description: "An organisation and its pool" })

export const MemberView = Schema.Struct({
  id: text("The member's id"),
  organization_id: text("The organisation's id"),
  name: text("The member's name"),
  monthly_cap: decimalOrNull("The cap of a calendar month; null is none"),
  month: Schema.Struct({
    used: amount("Charged in it"),
    held: amount("Held in it")
  }).annotate({ description: "The current calendar month" }),
  enabled,
  disabled_at: timeOrNull("Since when it is disabled"),
  created_at: Timestamp
}).annotate({ identifier: "Member", description: "Who spends from the pool" })

export const KeyView = Schema.Struct({
  id: text("The key's id"),
  organization_id: text("The organisation's id"),
  member_id: text("Whose it is"),
  name: text("For people"),
  scopes: arrayOf(Scope, "What it may do"),
  models: nullable(Schema.Array(Schema.String), "The models it may order; null is all"),
  requests_per_minute: nullable(Schema.Int, "Its rate; null is the gateway's default"),
  expires_at: timeOrNull("From when it opens nothing; null is never"),
  revoked_at: timeOrNull("Since when it is revoked; null while it is not"),
  created_at: Timestamp
}).annotate({ identifier: "Key", description: "A key, without the text that opens anything" })

const changeableFields = {
  name: Schema.optionalKey(Name),
  enabled: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "False: its keys open nothing until it is true again; what has begun ends as ever"
    })
  )
}

/** A change of an organisation: absent fields are not changed. */
export const OrganizationChangeBody = Schema.Struct({
  ...changeableFields,
  watermark: Schema.optionalKey(
    Schema.NullOr(Schema.Boolean).annotate({
      description:
        "Whether orders without `watermark` are marked as made by AI, where the model has the field; null is the gateway's default"
    })
  ),
  price_list: Schema.optionalKey(
    Schema.NullOr(plainText()).annotate({
      description:
        "The price list that stands over the catalog's prices for its new orders; null is none. Running orders keep their price"
    })
  ),
  credit: Schema.optionalKey(
    Amount.annotate({
      description:
        "How far below zero orders of unknown size may take the pool together; 0 until it is set. Holds need balance all the same, without `holds_on_credit`"
    })
  ),
  holds_on_credit: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Whether holds may use the credit as well: orders are then taken until the pool is below zero by the credit. False until it is set"
    })
  )
})

export const MemberChangeBody = Schema.Struct({
  ...changeableFields,
  monthly_cap: Schema.optionalKey(AmountOrNull)
})

const KeyChangeBody = Schema.Struct({
  name: Schema.optionalKey(Name),
  scopes: Schema.optionalKey(keyFields.scopes),
  models: Schema.optionalKey(keyFields.models),
  expires_at: Schema.optionalKey(keyFields.expires_at),
  requests_per_minute: Schema.optionalKey(keyFields.requests_per_minute)
})

const enabledStates = ["enabled", "disabled"] as const
const changeErrors = [errors.NotFound, ...bodyErrors] as const

export class AccountsGroup extends HttpApiGroup.make("accounts").add(
  HttpApiEndpoint.get("listOrganizations", "/organizations", {
    query: {
      ...pageQuery,
      ...nameFilter,
      state: stateFilter(enabledStates),
      low_balance: Schema.optionalKey(
        Schema.Literals(["true", "false"]).annotate({
          description:
            "Only organisations whose balance is below their `low_balance`, or only all others"
        })
      ),
      ...totalsQuery
    },
    success: listWithTotals(
      OrganizationView,
      Schema.Struct({ count, ...poolFields, currency }).annotate({
        identifier: "OrganizationTotals"
      })
    ),
    error: errors.InvalidRequest
  }).annotateMerge(operation("List organisations", "With what their pools have.")),
  HttpApiEndpoint.get("readOrganization", "/organizations/:id", {
    params: idParams("organisation"),
    success: OrganizationView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read an organisation", "Its name and what its pool has.")),
  HttpApiEndpoint.patch("changeOrganization", "/organizations/:id", {
    params: idParams("organisation"),
    payload: OrganizationChangeBody,
    success: OrganizationView,
    error: changeErrors
  })
    .annotate(AllowedRoles, ["operator", "finance"])
    .annotateMerge(
      operation(
        "Change an organisation",
        "What is left out stays. On every gateway within a second."
      )
    ),
  HttpApiEndpoint.get("listMembers", "/members", {
    query: {
      ...pageQuery,
      organization_id: idFilter("organisation"),
      ...nameFilter,
      state: stateFilter(enabledStates),
      ...totalsQuery
    },
    success: listWithTotals(
      MemberView,
      Schema.Struct({ count, month: MemberView.fields.month, currency }).annotate({
        identifier: "MemberTotals"
      })
    ),
    error: errors.InvalidRequest
  }).annotateMerge(operation("List members", "With what they have used of their month.")),
  HttpApiEndpoint.get("readMember", "/members/:id", {
    params: idParams("member"),
    success: MemberView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read a member", "Its name, cap and month.")),
  HttpApiEndpoint.patch("changeMember", "/members/:id", {
    params: idParams("member"),
    payload: MemberChangeBody,
    success: MemberView,
    error: changeErrors
  })
    .annotate(AllowedRoles, ["operator", "finance"])
    .annotateMerge(
      operation(
        "Change a member",
        "What is left out stays. A cap below what is used refuses new orders, and changes no other."
      )
    ),
  HttpApiEndpoint.get("listKeys", "/keys", {
    query: {
      ...pageQuery,
      organization_id: idFilter("organisation"),
      member_id: idFilter("member"),
      ...nameFilter,
      state: stateFilter(["valid", "revoked"]),
      ...totalsQuery
    },
    success: listWithTotals(KeyView, Schema.Struct({ count }).annotate({ identifier: "Count" })),
    error: errors.InvalidRequest
  }).annotateMerge(
    operation(
      "List keys",
      "Those that are revoked or expired too. `valid` is what is not revoked, expired or not."
    )
  ),
  HttpApiEndpoint.get("readKey", "/keys/:id", {
    params: idParams("key"),
    success: KeyView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read a key", "What it may do, and for how long.")),
  HttpApiEndpoint.patch("changeKey", "/keys/:id", {
    params: idParams("key"),
    payload: KeyChangeBody,
    success: KeyView,
    error: changeErrors
  })
    .annotate(AllowedRoles, ["operator"])
    .annotateMerge(
      operation("Change a key", "What is left out stays. On every gateway within a second.")
    )
) {}
