/** What operators write about organisations, members and keys. */
import { Effect, Schema, SchemaTransformation, Struct } from "effect"
import { Amount, PositiveAmount } from "../../../domain/money/Money.ts"
import { plainText } from "../../../domain/plainText.ts"
import { Scope, usualScopes } from "../../../services/Access.ts"
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

const enabled = Schema.optionalKey(
  Schema.Boolean.annotate({
    description: "False: its keys open nothing until it is true again; what has begun ends as ever"
  })
)

/** What is left out of a change stays as it is. */
export const OrganizationChangeBody = Schema.Struct({
  name: Schema.optionalKey(Name),
  enabled,
  credit: Schema.optionalKey(
    Amount.annotate({
      description:
        "How far below zero orders of unknown size may take the pool together; 0 until it is set. Holds need balance all the same"
    })
  )
})

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

export const MemberChangeBody = Schema.Struct({
  ...Struct.pick(OrganizationChangeBody.fields, ["name", "enabled"]),
  ...Struct.pick(MemberBody.fields, ["monthly_cap"])
})

const keyFields = {
  scopes: Schema.Array(Scope)
    .check(Schema.isMinLength(1))
    .annotate({ description: "What the key may do; all but `statements` when it is made without" }),
  models: Schema.NullOr(Schema.Array(plainText())).annotate({
    description: "The models it may order; null is all"
  }),
  expires_at: Schema.NullOr(ExpiryTime),
  requests_per_minute: Schema.NullOr(RequestsPerMinute).annotate({
    description: "Its rate; null is the gateway's default"
  })
}

export const KeyBody = Schema.Struct({
  name: Name,
  scopes: keyFields.scopes.pipe(Schema.withDecodingDefaultKey(Effect.succeed(usualScopes))),
  models: keyFields.models.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  expires_at: keyFields.expires_at.pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  requests_per_minute: keyFields.requests_per_minute.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  )
})

export const KeyChangeBody = Schema.Struct({
  name: Schema.optionalKey(Name),
  scopes: Schema.optionalKey(keyFields.scopes),
  models: Schema.optionalKey(keyFields.models),
  expires_at: Schema.optionalKey(keyFields.expires_at),
  requests_per_minute: Schema.optionalKey(keyFields.requests_per_minute)
})
