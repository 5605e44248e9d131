/** A vendor's paid call under a hold: whatever becomes of it, the hold is answered for. */
import { Effect } from "effect"
import { UpstreamError } from "../domain/Errors.ts"
import { upstreamErrorOf, type VendorFailure } from "../domain/VendorOutcome.ts"
import type { Orphan } from "./Ledger.ts"

/**
 * Makes the call once. On a failure `giveBack` returns the hold before the error is answered; its
 * orphan is set when the vendor may have made the job all the same.
 */
export const paidCall = <A>(
  call: Effect.Effect<A, VendorFailure>,
  giveBack: (message: string, orphan: Orphan | null) => Effect.Effect<unknown>
): Effect.Effect<A, UpstreamError> =>
  call.pipe(
    Effect.catch((failure) => {
      const error = upstreamErrorOf(failure)
      const orphan =
        failure._tag === "VendorLost" ? { upstreamId: null, reason: failure.reason } : null
      return Effect.andThen(giveBack(error.message, orphan), Effect.fail(error))
    }),
    Effect.tapDefect(() =>
      giveBack("The gateway failed", { upstreamId: null, reason: "gateway_defect" })
    )
  )

/** The vendor answered, but the sweep had given the request up before. */
export const givenUp = () =>
  new UpstreamError({
    message: "The vendor answered after the request had been given up",
    status: 504,
    upstream: { status: null, body: null },
    retryable: false,
    retryAfterSeconds: null
  })
