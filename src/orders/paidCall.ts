/** A vendor's paid call under a hold: whatever becomes of it, the hold is answered for. */
import { Cause, Effect, Result } from "effect"
import { UpstreamError } from "../domain/Errors.ts"
import {
  type Doubt,
  doubtOf,
  givenUp,
  upstreamErrorOf,
  type VendorFailure
} from "../domain/VendorOutcome.ts"
import { holdsLongText } from "../hiding/patterns.ts"
import { withoutEchoes } from "../hiding/promptsFromRecords.ts"
import type { StoredAnswer } from "../services/IdempotencyKeys.ts"

/** How a hold is returned: what the client is told, and what an operator should know. */
export interface GiveBack {
  readonly error: UpstreamError
  /** Set when the vendor may have made the job all the same. */
  readonly orphan: Doubt | null
  /** Kept for repeats of the request. */
  readonly answer: StoredAnswer | null
  /** No job exists and the client may try again, so its key must not stand for this failure. */
  readonly forgetKey: boolean
}

/** A vendor may answer with what it was sent; images are not kept, also not in an error. */
const withoutMedia = (error: UpstreamError): UpstreamError =>
  holdsLongText([error.upstream.body, error.message])
    ? new UpstreamError({
        message: holdsLongText(error.message) ? withoutEchoes(error.message, []) : error.message,
        status: error.status,
        upstream: { status: error.upstream.status, body: null },
        retryable: error.retryable,
        retryAfterSeconds: error.retryAfterSeconds
      })
    : error

const giveBackOf = (error: UpstreamError, orphan: Doubt | null): GiveBack => {
  const forgetKey = orphan === null && error.status >= 500
  return {
    error,
    orphan,
    answer: forgetKey ? null : { _tag: "Refused", error: withoutMedia(error) },
    forgetKey
  }
}

/** Given back because of trouble on our side, after the vendor may have started the job. */
export const abandonedCall = (orphan: Doubt): GiveBack => giveBackOf(givenUp(), orphan)

/** Makes the call once. On a failure `giveBack` returns the hold before the error is answered. */
export const paidCall = <A>(
  call: Effect.Effect<A, VendorFailure>,
  giveBack: (how: GiveBack) => Effect.Effect<unknown>
): Effect.Effect<A, UpstreamError> =>
  Effect.catchCause(call, (cause) => {
    const abandon = () => giveBack(abandonedCall({ upstreamId: null, reason: "gateway_defect" }))
    const found = Cause.findError(cause)
    if (Result.isFailure(found)) {
      const given = Cause.hasDies(cause) ? abandon() : Effect.void
      return Effect.andThen(given, Effect.failCause(found.failure))
    }
    const failure = found.success
    const error = upstreamErrorOf(failure)
    const orphan = doubtOf(failure)
    return Effect.andThen(
      Effect.tapDefect(giveBack(giveBackOf(error, orphan)), abandon),
      Effect.fail(error)
    )
  })
