/** Cancelling of the jobs of vendors that documents describe. */
import { Result } from "effect"
import type { QueueCall, QueueDocument } from "../../domain/queue/QueueDocument.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import { scrubText } from "../../redaction/credentialsFromClients.ts"
import type { CancelAnswer, ChannelAccount, JobRef } from "../../services/ProtocolAdapter.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import type { VendorRequest } from "../wire/vendorRequest.ts"
import type { CancelDialect } from "./adapterCalls.ts"
import { failedAnswer, messageIn, statusNameIn } from "./queueAnswers.ts"
import { queueRequest } from "./queueRequests.ts"

type Cancel = NonNullable<QueueDocument["calls"]["cancel"]>

/** A request about a job, without a body. */
export const jobRequest =
  (document: QueueDocument, call: QueueCall) =>
  (account: ChannelAccount, job: JobRef): Result.Result<VendorRequest, VendorFailure> =>
    Result.succeed(queueRequest(document, call, account, job))

/** The answer to a request to cancel; vendors refuse it with a status of success or of errors. */
const readCancelledOf =
  (document: QueueDocument, { cancelled = [], requested = [], refused = [] }: Cancel) =>
  (account: ChannelAccount, answer: VendorAnswer): Result.Result<CancelAnswer, VendorFailure> => {
    const name = statusNameIn(document, answer.body)
    const isAccepted = answer.status < 300 && name !== null
    if (isAccepted && cancelled.includes(name)) return Result.succeed({ _tag: "Cancelled" })
    if (isAccepted && requested.includes(name)) return Result.succeed({ _tag: "Requested" })
    if (name === null || !refused.includes(name)) {
      return Result.fail(failedAnswer(document, account, answer))
    }
    const message = messageIn(document, answer.body) ?? `The vendor answered ${name}`
    return Result.succeed({ _tag: "Refused", message: scrubText(account, message) })
  }

export const queueCancel = (document: QueueDocument, cancel: Cancel): CancelDialect<JobRef> => ({
  jobs: cancel.jobs,
  cancelRequest: jobRequest(document, cancel),
  readCancelled: readCancelledOf(document, cancel)
})
