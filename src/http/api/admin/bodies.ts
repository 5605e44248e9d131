/** The fields that the bodies for creating and for changing an account share. */
import { Schema, SchemaTransformation } from "effect"
import { plainText } from "../../../domain/plainText.ts"
import { Scope } from "../../../services/Access.ts"

export const Name = plainText().annotate({ description: "For people" })

const ExpiryTime = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, {
    expected: "an ISO 8601 time such as 2027-01-31T12:00:00Z"
  })
)
  .annotate({ description: "ISO 8601 time at which the key expires; null is never" })
  .pipe(Schema.decodeTo(Schema.Date, SchemaTransformation.dateFromString))

const MAX_REQUESTS_PER_MINUTE = 100_000_000
const RequestsPerMinute = Schema.Int.check(
  Schema.isBetween(
    { minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE },
    { expected: `a whole number from 1 to ${MAX_REQUESTS_PER_MINUTE}` }
  )
)

export const keyFields = {
  scopes: Schema.Array(Scope)
    .check(Schema.isMinLength(1))
    .annotate({ description: "What the key may do; all but `statements` when left out" }),
  models: Schema.NullOr(Schema.Array(plainText())).annotate({
    description: "The models it may order, by their ids or aliases; null is all"
  }),
  expires_at: Schema.NullOr(ExpiryTime),
  requests_per_minute: Schema.NullOr(RequestsPerMinute).annotate({
    description: "Its limit of requests a minute; null is the gateway's default"
  })
}
