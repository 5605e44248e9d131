/** What a request to cancel a task comes to, and the steps of such a request at a vendor. */
import { Effect } from "effect"
import type { Cancellation } from "../domain/taskAnswers.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import { CurrentCallSubjects } from "../services/CallLog.ts"
import type { CancelAnswer, JobCancel, JobRef } from "../services/ProtocolAdapter.ts"

/** The time for which a cancel waits for a claim of its task, beyond the ask interval. */
export const CANCEL_WAIT_SECONDS = 5
export const CANCEL_RETRY = "100 millis"

export const notAsked: Cancellation = {
  status: "unknown",
  message: "The vendor could not be asked, so the task goes on: cancel it again"
}

export const notAccepted: Cancellation = {
  status: "unknown",
  message: "The vendor has not accepted the task yet: cancel it again"
}

export const noCancelling: Cancellation = {
  status: "refused",
  message: "The vendor's interface cannot cancel a task, so the task goes on"
}

export const oneCall: Cancellation = {
  status: "refused",
  message: "The vendor makes it in one call, which cannot be cancelled, so the task goes on"
}

const isBegun: Cancellation = {
  status: "refused",
  message: "The vendor cancels only tasks that it has not begun, so the task goes on"
}

const isRequested: Cancellation = {
  status: "requested",
  message: "The vendor took the request to cancel; the task's end shows whether it did"
}

const refusedWith = (message: string): Cancellation => ({
  status: "refused",
  message: `The vendor does not cancel the task: ${message}`
})

export const cancelledWhileWaiting = {
  errorCode: "cancelled",
  errorMessage: "The task was cancelled while it waited for a place at its channel"
}

export const cancelledBeforeCall = {
  errorCode: "cancelled",
  errorMessage: "The task was cancelled before its vendor was called"
}

/** Records the calls of the effect as cancels. */
const asCancel = Effect.updateService(CurrentCallSubjects, (current) =>
  current === null
    ? null
    : {
        ...current,
        subjects: current.subjects.map((subject) => ({ ...subject, purpose: "cancel" as const }))
      }
)

/** A job that is to be cancelled, with the calls about it. `Status` is what a poll brings. */
interface CancellableJob<Status> {
  readonly jobs: JobCancel<JobRef>["jobs"]
  readonly send: Effect.Effect<CancelAnswer, VendorFailure>
  readonly poll: Effect.Effect<Status, VendorFailure>
  readonly isQueued: (status: Status) => boolean
  /** False where another request to cancel the job is on its way. */
  readonly start: Effect.Effect<boolean>
  /** Runs after the vendor's answer to the request. */
  readonly afterSend: Effect.Effect<void>
}

/**
 * Asks the vendor to cancel the job, and polls it afterwards, because the hold is released by the
 * vendor's report of the end alone. Returns the status, or "cancelled" where the vendor's answer
 * already says so. `report` gets what came of the request; a refusal only together with a status,
 * because a vendor also refuses a second request whose first one it took without an answer. A vendor
 * that deletes ended jobs by the same request is polled before it too, and gets the request once,
 * and only for a job in its queue.
 */
export const requestCancel = Effect.fnUntraced(function* <Status>(
  { afterSend, isQueued, jobs, poll, send, start }: CancellableJob<Status>,
  report: (cancellation: Cancellation) => void
): Effect.fn.Return<Status | "cancelled", VendorFailure> {
  if (jobs === "queued") {
    const status = yield* poll
    if (!isQueued(status)) {
      report(isBegun)
      return status
    }
    if (!(yield* start)) {
      report(isRequested)
      return status
    }
  }
  const answer = yield* asCancel(send)
  yield* afterSend
  if (answer._tag === "Cancelled") return "cancelled"
  if (answer._tag === "Requested") {
    report(isRequested)
    return yield* poll
  }
  const status = yield* poll
  report(refusedWith(answer.message))
  return status
})
