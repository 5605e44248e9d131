/**
 * The call an order is made by. What an order is charged for tells of it on its own row, so it is
 * described for the log only where the order comes to another end.
 */
import { Effect } from "effect"
import type { AnsweredCall, CallLogShape, CallReport, CallSubject } from "../services/CallLog.ts"

/** Submits and polls are of jobs that go on. */
const makesOrder = ({ purpose }: CallSubject): boolean => purpose === "image" || purpose === "text"

/** Characters of a vendor's answer that operators see at a channel. */
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
        if (report.answered === null || !makesOrder(subject)) {
          return callLog.record(subject, report)
        }
        unlogged = { subject, report }
        return Effect.void
      })
    )

  return {
    record,
    log,
    /** What the vendor answered to the last call, without prompts and credentials. */
    vendorAnswer: (): string | null => {
      const answer = last?.describe().answer ?? null
      return answer === null ? null : JSON.stringify(answer).slice(0, MAX_ANSWER).toWellFormed()
    },
    answered: (): AnsweredCall | null => unlogged?.report.answered ?? null,
    /** The order's row tells of the call, so that the log need not. */
    forget: (): void => {
      unlogged = null
    }
  }
}
