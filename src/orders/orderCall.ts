/**
 * The call an order is made by. What an order is charged for tells of it on its own row, so it is
 * described for the log only where the order comes to another end.
 */
import { Effect } from "effect"
import type { AnsweredCall, CallLogShape, CallReport, CallSubject } from "../services/CallLog.ts"

/** Submits and polls are of jobs that go on. */
const makesOrder = ({ purpose }: CallSubject): boolean => purpose === "image" || purpose === "text"

/** Characters of a vendor's answer that operators see at a channel. */
const MAX_SAID = 500

export const makeOrderCall = (log: CallLogShape) => {
  let last: CallReport | null = null
  let kept: { readonly subject: CallSubject; readonly report: CallReport } | null = null

  /** Hands the log what is kept back from it. */
  const tell = Effect.suspend(() => {
    if (kept === null) return Effect.void
    const { subject, report } = kept
    kept = null
    return log.record(subject, report)
  })

  const record: CallLogShape["record"] = (subject, report) =>
    Effect.andThen(
      tell,
      Effect.suspend(() => {
        last = report
        if (report.answered === null || !makesOrder(subject)) return log.record(subject, report)
        kept = { subject, report }
        return Effect.void
      })
    )

  return {
    record,
    tell,
    /** What the vendor answered to the last call, without prompts and credentials. */
    said: (): string | null => {
      const answer = last?.describe().answer ?? null
      return answer === null ? null : JSON.stringify(answer).slice(0, MAX_SAID).toWellFormed()
    },
    answered: (): AnsweredCall | null => kept?.report.answered ?? null,
    /** The order's row tells of it. */
    forget: (): void => {
      kept = null
    }
  }
}
