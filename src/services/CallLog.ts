/**
 * The log of calls to vendors, by job, for operators. No entry may contain a prompt, a key, media
 * or a signed address: whoever reports a call removes these from its description.
 */
import { Context, Effect, Schema } from "effect"

export const CallPurpose = Schema.Literals(["submit", "poll", "cancel", "image", "text"])

export interface CallSubject {
  readonly organizationId: string
  /** The id of a task, image request or text request. */
  readonly jobId: string
  readonly channelId: string
  readonly purpose: typeof CallPurpose.Type
  /** The vendor's id of the job; null where it was not known before the call. */
  readonly upstreamId: string | null
}

/** One request to a vendor and its result, redacted. */
export const VendorCall = Schema.Struct({
  method: Schema.String,
  /** Origin and path of the request's URL. */
  url: Schema.String,
  /** The HTTP status; null where no response arrived. */
  status: Schema.NullOr(Schema.Int),
  /** Why the response was not read completely; null where it was read completely. */
  failure: Schema.NullOr(
    Schema.Literals(["unreachable", "timeout", "connection_lost", "broken_answer", "interrupted"])
  ),
  startedAt: Schema.Date,
  durationMillis: Schema.Number,
  /** Shortened JSON of the body; null when there was no body. */
  request: Schema.Unknown,
  answer: Schema.Unknown,
  /**
   * The result of the call in a few words, such as the HTTP status or the failure. Consecutive
   * polls of a gateway with the same outcome are stored as one entry.
   */
  outcome: Schema.String
})
export type VendorCall = typeof VendorCall.Type

/**
 * A call whose response arrived completely. The row of an order stores the call that produced the
 * order's result.
 */
export const AnsweredCall = Schema.Struct({
  startedAt: Schema.DateFromString,
  durationMillis: Schema.Int,
  status: Schema.Int,
  /** Length of the response body in bytes. */
  bytes: Schema.Int,
  /** The vendor's request id, where it sent one. */
  requestId: Schema.NullOr(Schema.String)
})
export type AnsweredCall = typeof AnsweredCall.Type

export interface CallReport {
  /** The complete response; null where none arrived. */
  readonly answeredCall: AnsweredCall | null
  /**
   * Returns the number of characters of the request and the response. They stay in memory until
   * `describe` has run.
   */
  readonly weigh: () => number
  /** Returns the redacted description of the call. It runs once per call, in the background. */
  readonly describe: () => VendorCall
}

export interface CallLogShape {
  /**
   * Records a call that is not stored in the row of an order. Never waits and never fails. Calls
   * beyond the memory limit are dropped and counted.
   */
  record(subject: CallSubject, report: CallReport): Effect.Effect<void>
  /** Waits for the recorded calls to be stored, up to a short limit. */
  readonly flush: Effect.Effect<void>
  /** Deletes calls older than the retention time, by whole days (UTC). */
  readonly prune: Effect.Effect<void>
}

export const CallLog = Context.Reference<CallLogShape>("gateway/services/CallLog", {
  defaultValue: () => ({
    record: () => Effect.void,
    flush: Effect.void,
    prune: Effect.void
  })
})

/**
 * The jobs to which the vendor calls of the running fiber belong, and the log that records these
 * calls. It is null where calls are not logged.
 */
export const CurrentCallSubjects = Context.Reference<{
  readonly subjects: ReadonlyArray<CallSubject>
  readonly log: Pick<CallLogShape, "record">
} | null>("gateway/services/CurrentCallSubjects", { defaultValue: () => null })

/** Records every vendor call within the effect for each of the subjects. */
export const recordCalls =
  (log: Pick<CallLogShape, "record">, subjects: ReadonlyArray<CallSubject>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CurrentCallSubjects, { subjects, log })
