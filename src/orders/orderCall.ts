/**
 * Records an order's calls to vendors. The usage row of a charged order describes its last call, so
 * the last call has its own log entry only when the order ends without a charge.
 */
import { Effect } from "effect"
import type { AnsweredCall, CallLogShape, CallReport, CallSubject } from "../services/CallLog.ts"

/**
 * Whether the call returns the product. Submits and polls return no product: their task continues
 * after the call.
 */
const returnsProduct = ({ purpose }: CallSubject): boolean =>
  purpose === "image" || purpose === "text"

/** The maximum number of characters of a vendor's answer that operators see at a channel. */
const MAX_ANSWER = 500

export type OrderCall = ReturnType<typeof makeOrderCall>

export const makeOrderCall = (callLog: CallLogShape) => {
  let last: CallReport | null = null
  let unlogged: { readonly subject: CallSubject; readonly report: CallReport } | null = null

  /** Logs the last call; undefined if it is already logged. */
  const log = (): Effect.Effect<void> | undefined => {
    if (unlogged === null) return undefined
    const { subject, report } = unlogged
    unlogged = null
    return callLog.record(subject, report)
  }

  const record: CallLogShape["record"] = (subject, report) =>
    Effect.suspend(() => {
      const logEarlier = log() ?? Effect.void
      last = report
      if (report.answeredCall === null || !returnsProduct(subject)) {
        return Effect.andThen(logEarlier, callLog.record(subject, report))
      }
      unlogged = { subject, report }
      return logEarlier
    })

  return {
    record,
    log,
    /** The vendor's answer to the last call, without prompts and credentials. */
    vendorAnswer: (): string | null => {
      const answer = last?.describe().answer ?? null
      return answer === null ? null : JSON.stringify(answer).slice(0, MAX_ANSWER).toWellFormed()
    },
    answered: (): AnsweredCall | null => unlogged?.report.answeredCall ?? null,
    /** Drops the last call without a log entry, as the order's usage row describes it. */
    skipLog: (): void => {
      unlogged = null
    }
  }
}
