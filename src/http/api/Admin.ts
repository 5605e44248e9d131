/** The operator's interface. Unknown fields in its bodies are errors. */
import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CatalogDocument, CatalogWrite } from "../../domain/CatalogDocument.ts"
import { PositiveAmount } from "../../domain/Money.ts"
import { plainText } from "../../domain/text.ts"
import { allScopes, Scope } from "../../services/Access.ts"
import { AdminAuditing } from "./AdminAuditing.ts"
import { AdminAuthorization } from "./Authorization.ts"
import { BodyLimit, RequestRules } from "./RequestRules.ts"
import { AmountOrNull, list, pageQuery, SignedAmount, Timestamp, UsageEntry } from "./shared.ts"

const Fault = Schema.Struct({ path: Schema.String, message: Schema.String })
const ListChange = Schema.Struct({
  added: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String)
})

const Name = plainText()

const ExpiryTime = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, {
    expected: "an ISO 8601 time such as 2027-01-31T12:00:00Z"
  })
).pipe(Schema.decodeTo(Schema.Date, SchemaTransformation.dateFromString))

const MAX_REQUESTS_PER_MINUTE = 100_000_000
const RequestsPerMinute = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE },
    { expected: `a whole number from 1 to ${MAX_REQUESTS_PER_MINUTE}` }
  )
)

const OrganizationView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  balance: SignedAmount,
  held: SignedAmount,
  available: SignedAmount,
  currency: Schema.String
})

export const JournalEntry = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["deposit", "hold", "capture", "release"]),
  amount: SignedAmount,
  debit: Schema.String,
  credit: Schema.String,
  hold_id: Schema.NullOr(Schema.String),
  reference: Schema.NullOr(Schema.String),
  created_at: Timestamp
})

const catalog = [
  HttpApiEndpoint.get("readCatalog", "/catalog", { success: CatalogDocument }),
  HttpApiEndpoint.put("replaceCatalog", "/catalog", {
    payload: CatalogWrite,
    success: Schema.Struct({
      version: Schema.Int,
      changes: Schema.Struct({ channels: ListChange, models: ListChange, mounts: ListChange }),
      warnings: Schema.Array(Fault)
    })
  }).annotate(BodyLimit, "media")
] as const

const organizations = [
  HttpApiEndpoint.post("createOrganization", "/organizations", {
    payload: Schema.Struct({ name: Name }),
    success: Schema.Struct({ id: Schema.String, name: Schema.String })
  }),
  HttpApiEndpoint.get("readOrganization", "/organizations/:id", {
    params: { id: plainText() },
    success: OrganizationView
  }),
  HttpApiEndpoint.post("deposit", "/organizations/:id/deposits", {
    params: { id: plainText() },
    payload: Schema.Struct({
      amount: PositiveAmount,
      reference: plainText()
    }),
    /** `applied` is false when the reference had been deposited before. */
    success: Schema.Struct({
      organization_id: Schema.String,
      reference: Schema.String,
      applied: Schema.Boolean,
      balance: SignedAmount
    })
  }),
  HttpApiEndpoint.post("createMember", "/organizations/:id/members", {
    params: { id: plainText() },
    payload: Schema.Struct({ name: Name, monthly_cap: Schema.optionalKey(AmountOrNull) }),
    success: Schema.Struct({
      id: Schema.String,
      organization_id: Schema.String,
      name: Schema.String,
      monthly_cap: AmountOrNull
    })
  }),
  HttpApiEndpoint.get("readLedger", "/organizations/:id/ledger", {
    params: { id: plainText() },
    query: pageQuery,
    success: list(JournalEntry)
  }),
  HttpApiEndpoint.get("readUsage", "/organizations/:id/usage", {
    params: { id: plainText() },
    query: pageQuery,
    success: list(Schema.Struct({ ...UsageEntry.fields, member_id: Schema.String }))
  })
] as const

const keys = [
  HttpApiEndpoint.post("createKey", "/members/:id/keys", {
    params: { id: plainText() },
    payload: Schema.Struct({
      name: Name,
      scopes: Schema.Array(Scope)
        .check(Schema.isMinLength(1))
        .pipe(Schema.withDecodingDefaultKey(Effect.succeed(allScopes))),
      models: Schema.NullOr(Schema.Array(plainText())).pipe(
        Schema.withDecodingDefaultKey(Effect.succeed(null))
      ),
      expires_at: Schema.NullOr(ExpiryTime).pipe(
        Schema.withDecodingDefaultKey(Effect.succeed(null))
      ),
      /** Null is the gateway's default. */
      requests_per_minute: Schema.NullOr(RequestsPerMinute).pipe(
        Schema.withDecodingDefaultKey(Effect.succeed(null))
      )
    }),
    /** The key is shown here and never again. */
    success: Schema.Struct({ id: Schema.String, key: Schema.String })
  }),
  HttpApiEndpoint.delete("revokeKey", "/keys/:id", {
    params: { id: plainText() },
    success: Schema.Struct({ id: Schema.String, revoked: Schema.Literal(true) })
  })
] as const

const ledger = [
  HttpApiEndpoint.get("verifyLedger", "/ledger/verify", {
    success: Schema.Struct({
      ok: Schema.Boolean,
      violations: Schema.Array(
        Schema.Struct({
          invariant: Schema.String,
          organization_id: Schema.String,
          subject: Schema.String,
          detail: Schema.String
        })
      )
    })
  })
] as const

export class AdminGroup extends HttpApiGroup.make("admin")
  .add(...catalog, ...organizations, ...keys, ...ledger)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .middleware(RequestRules)
  .middleware(AdminAuditing)
  .middleware(AdminAuthorization)
  .prefix("/admin/v1") {}
