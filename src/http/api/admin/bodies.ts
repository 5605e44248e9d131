/** What operators write about organisations, members and keys. */
import { Effect, Schema, SchemaTransformation } from "effect"
import { PositiveAmount } from "../../../domain/money/Money.ts"
import { plainText } from "../../../domain/plainText.ts"
import { allScopes, Scope } from "../../../services/Access.ts"
import { AmountOrNull } from "../shared.ts"

const Name = plainText().annotate({ description: "For people" })

const ExpiryTime = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, {
    expected: "an ISO 8601 time such as 2027-01-31T12:00:00Z"
  })
)
  .annotate({ description: "ISO 8601 time from which the key opens nothing; null is never" })
  .pipe(Schema.decodeTo(Schema.Date, SchemaTransformation.dateFromString))

const MAX_REQUESTS_PER_MINUTE = 100_000_000
const RequestsPerMinute = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE },
    { expected: `a whole number from 1 to ${MAX_REQUESTS_PER_MINUTE}` }
  )
)

export const OrganizationBody = Schema.Struct({ name: Name })

export const DepositBody = Schema.Struct({
  amount: PositiveAmount,
  reference: plainText().annotate({ description: "Makes a repeat add nothing" })
})

export const LowBalanceBody = Schema.Struct({
  threshold: AmountOrNull.annotate({ description: "Below it the balance is low; null is never" })
})

export const MemberBody = Schema.Struct({
  name: Name,
  monthly_cap: Schema.optionalKey(AmountOrNull)
})

export const KeyBody = Schema.Struct({
  name: Name,
  scopes: Schema.Array(Scope)
    .check(Schema.isMinLength(1))
    .annotate({ description: "What the key may do; everything when left out" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(allScopes))),
  models: Schema.NullOr(Schema.Array(plainText()))
    .annotate({ description: "The models it may order; null or left out is all" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  expires_at: Schema.NullOr(ExpiryTime).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  requests_per_minute: Schema.NullOr(RequestsPerMinute)
    .annotate({ description: "Its rate; null or left out is the gateway's default" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})
