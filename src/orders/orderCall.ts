/**
 * Records the vendor's calls of an order. The usage row of a charged order describes its last call, so
 * that call is logged on its own only where the order ends without a charge.
 */
import { Effect } from "effect"
import type { AnsweredCall, CallLogShape, CallReport, CallSubject } from "../services/CallLog.ts"

/** Whether the call returns the product; submits and polls belong to a task that goes on. */
const returnsProduct = ({ purpose }: CallSubject): boolean =>
  purpose === "image" || purpose === "text"

/** The most characters of a vendor's answer that operators see at a channel. */
const MAX_ANSWER = 500

export type OrderCall = ReturnType<typeof makeOrderCall>

export const makeOrderCall = (callLog: CallLogShape) => {
  let last: CallReport | null = null
  let unlogged: { readonly subject: CallSubject; readonly report: CallReport } | null = null

  /** Records the call that has not been logged, if there is one. */
  const log = Effect.suspend(() => {
    if (unlogged === null) return Effect.void
    const { subject, report } = unlogged
    unlogged = null
    return callLog.record(subject, report)
  })

  const record: CallLogShape["record"] = (subject, report) =>
    Effect.andThen(
      log,
      Effect.suspend(() => {
        last = report
        if (report.answered === null || !returnsProduct(subject)) {
          return callLog.record(subject, report)
        }
        unlogged = { subject, report }
        return Effect.void
      })
    )

  return {
    record,
    log,
    /** The vendor's answer to the last call, without prompts and credentials. */
    vendorAnswer: (): string | null => {
      const answer = last?.describe().answer ?? null
      return answer === null ? null : JSON.stringify(answer).slice(0, MAX_ANSWER).toWellFormed()
    },
    answered: (): AnsweredCall | null => unlogged?.report.answered ?? null,
    /** Drops the unlogged call, which the order's usage row describes. */
    skipLog: (): void => {
      unlogged = null
    }
  }
}
