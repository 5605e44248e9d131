/**
 * What was said between the gateway and a vendor about one job, kept for the operator. Nothing of
 * it may hold a prompt, a key, media or a signed address: the one that reports a call redacts it.
 */
import { Context, Effect, Schema } from "effect"

export const CallPurpose = Schema.Literals(["submit", "poll", "image", "text"])

export interface CallSubject {
  readonly organizationId: string
  /** Task id, or id of an image or text request. */
  readonly jobId: string
  /** Whose vendor is called. */
  readonly channelId: string
  readonly purpose: typeof CallPurpose.Type
  /** The vendor's id of the job, where it had been told before the call. */
  readonly upstreamId: string | null
}

/** One request to a vendor and what came of it, redacted. */
export const VendorCall = Schema.Struct({
  method: Schema.String,
  /** Origin and path. */
  url: Schema.String,
  /** Null when no answer began. */
  status: Schema.NullOr(Schema.Int),
  /** Null when the answer was read whole. */
  failure: Schema.NullOr(
    Schema.Literals(["unreachable", "timeout", "connection_lost", "broken_answer", "interrupted"])
  ),
  startedAt: Schema.Date,
  durationMillis: Schema.Number,
  /** Short JSON; null when there was no body. */
  request: Schema.Unknown,
  answer: Schema.Unknown,
  /** Tells this end from another: a gateway's consecutive polls with the same one are kept as one. */
  outcome: Schema.String
})
export type VendorCall = typeof VendorCall.Type

/** A call whose answer came whole, as an order's row tells of the one that made it. */
export const AnsweredCall = Schema.Struct({
  startedAt: Schema.DateFromString,
  durationMillis: Schema.Int,
  status: Schema.Int,
  /** Length of the answer. */
  bytes: Schema.Int,
  /** The vendor's own name of the request, where it told one. */
  requestId: Schema.NullOr(Schema.String)
})
export type AnsweredCall = typeof AnsweredCall.Type

export interface CallReport {
  /** Null when no whole answer came. */
  readonly answered: AnsweredCall | null
  /** Characters of request and answer that the description has to hold until it is made. */
  readonly weigh: () => number
  /** Redacts and describes the call; run once, apart from the call itself. */
  readonly describe: () => VendorCall
}

export interface CallLogShape {
  /**
   * Takes note of a call that no order's row tells of; never waits and never fails. What does not fit
   * is counted and dropped.
   */
  record(subject: CallSubject, report: CallReport): Effect.Effect<void>
  /** Waits a short time for what was recorded so far to be stored. */
  readonly flush: Effect.Effect<void>
  /** Deletes calls older than the settings keep them, a day (UTC) at a time, once all of it is older. */
  readonly prune: Effect.Effect<void>
}

export const CallLog = Context.Reference<CallLogShape>("gateway/services/CallLog", {
  defaultValue: () => ({
    record: () => Effect.void,
    flush: Effect.void,
    prune: Effect.void
  })
})

/** What the calls of the running fiber are about, and where they are recorded. */
export const CurrentCallSubjects = Context.Reference<{
  readonly subjects: ReadonlyArray<CallSubject>
  readonly log: Pick<CallLogShape, "record">
} | null>("gateway/services/CurrentCallSubjects", { defaultValue: () => null })

/** Has every vendor call within the effect recorded as one about each of the subjects. */
export const recordCalls =
  (log: Pick<CallLogShape, "record">, subjects: ReadonlyArray<CallSubject>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CurrentCallSubjects, { subjects, log })
