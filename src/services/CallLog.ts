/**
 * What was said between the gateway and a vendor about one job, kept for the operator. Nothing of
 * it may hold a prompt, a key, media or a signed address: the one that reports a call redacts it.
 */
import { Context, Effect } from "effect"

export interface CallSubject {
  readonly organizationId: string
  /** Task id, or id of an image or text request. */
  readonly jobId: string
  readonly purpose: "submit" | "poll" | "image" | "text"
  /** The vendor's id of the job, where it had been told before the call. */
  readonly upstreamId: string | null
}

/** One request to a vendor and what came of it, redacted. */
export interface VendorCall {
  readonly method: string
  /** Origin and path. */
  readonly url: string
  /** Null when no answer began. */
  readonly status: number | null
  /** Null when the answer was read whole. */
  readonly failure:
    | "unreachable"
    | "timeout"
    | "connection_lost"
    | "broken_answer"
    | "interrupted"
    | null
  readonly startedAt: Date
  readonly durationMillis: number
  /** Short JSON; null when there was no body. */
  readonly request: unknown
  readonly answer: unknown
  /** What tells this end from another: consecutive polls with the same one are kept as one. */
  readonly outcome: string
}

export interface CallReport {
  /** Characters of request and answer that the description has to hold until it is made. */
  readonly weight: number
  /** Redacts and describes the call; run once, apart from the call itself. */
  readonly describe: () => VendorCall
}

export interface CallLogShape {
  /** Takes note of a call; never waits and never fails. What does not fit is counted and dropped. */
  record(subject: CallSubject, report: CallReport): Effect.Effect<void>
  /** Waits a short time for what was recorded so far to be stored. */
  readonly flush: Effect.Effect<void>
  /** Deletes calls older than the settings keep them; answers how many. */
  readonly prune: Effect.Effect<number>
}

export const CallLog = Context.Reference<CallLogShape>("gateway/services/CallLog", {
  defaultValue: () => ({
    record: () => Effect.void,
    flush: Effect.void,
    prune: Effect.succeed(0)
  })
})

/** What the calls of the running fiber are about, and where they are recorded. */
export const CurrentCallSubjects = Context.Reference<{
  readonly subjects: ReadonlyArray<CallSubject>
  readonly log: CallLogShape
} | null>("gateway/services/CurrentCallSubjects", { defaultValue: () => null })

/** Has every vendor call within the effect recorded as one about each of the subjects. */
export const recordingCalls =
  (log: CallLogShape, subjects: ReadonlyArray<CallSubject>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CurrentCallSubjects, { subjects, log })
