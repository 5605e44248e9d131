/** Videos of the vendors that documents describe. */
import { Result, Schema } from "effect"
import { readBill } from "../../domain/money/vendorBill.ts"
import { type QueueDocument, videoModelsOf } from "../../domain/queue/QueueDocument.ts"
import { videoBodyOf } from "../../domain/queue/queueBody.ts"
import type { VideoUsage } from "../../domain/video/VideoCharge.ts"
import { scrubText } from "../../redaction/credentialsFromClients.ts"
import type { VideoStatus } from "../../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "../common/adapterCalls.ts"
import {
  amountAt,
  codeIn,
  failedAnswer,
  failedJob,
  filesIn,
  hasFailed,
  isFailedResult,
  isQueueError,
  jobIdIn,
  messageIn,
  numberAt,
  queueRefusals,
  stateIn
} from "../common/queueAnswers.ts"
import { jobRequest, queueCancel } from "../common/queueCancel.ts"
import { findModel, queueRequest, refuseFault } from "../common/queueRequests.ts"
import { taskStatus, unknownTask } from "../common/videoStatus.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"

// Wire schemas

const isCount = Schema.is(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
const isSeconds = Schema.is(Schema.Finite.check(Schema.isGreaterThan(0)))

// To the vendor

/** Writes the request that submits a video, or fails where the mapping cannot carry the order. */
export const submitRequestOf =
  (document: QueueDocument): VideoDialect["submitRequest"] =>
  (account, order) =>
    Result.gen(function* () {
      const { upstreamModel } = order
      const model = yield* findModel(document, videoModelsOf(document), upstreamModel)
      const body = yield* Result.mapError(videoBodyOf(document, model, order), refuseFault)
      const path = { upstreamModel, upstreamId: null }
      return queueRequest(document, document.calls.submit, account, path, body)
    })

// From the vendor

const usageIn = ({ answers }: QueueDocument, body: unknown): VideoUsage => {
  const { seconds, tokens, bill } = answers
  const [rendered, count] = [numberAt(body, seconds), numberAt(body, tokens)]
  return {
    completionTokens: isCount(count) ? BigInt(count) : null,
    outputSeconds: isSeconds(rendered) ? Math.round(rendered) : null,
    ...(bill === undefined ? {} : readBill(bill.unit, amountAt(body, bill.amount)))
  }
}

const readSubmittedOf =
  (document: QueueDocument): VideoDialect["readSubmitted"] =>
  (account, answer) => {
    if (answer.status >= 300) return Result.fail(failedAnswer(document, account, answer))
    if (hasFailed(stateIn(document, answer.body))) {
      return Result.fail(failedJob(document, account, answer))
    }
    const id = jobIdIn(document, answer.body)
    return id === null ? Result.fail(failedAnswer(document, account, answer)) : Result.succeed(id)
  }

const readPolledOf =
  (document: QueueDocument): VideoDialect["readPolled"] =>
  (account, answer) => {
    if (answer.status === 404) return unknownTask
    const { body } = answer
    const state = answer.status < 300 ? stateIn(document, body) : null
    if (state === null) return Result.fail(failedAnswer(document, account, answer))
    const { statuses } = document
    const names = state.meaning === "failed" ? { failed: [state.name] } : statuses
    return taskStatus(account, answer, names, {
      status: state.name,
      videoUrl: filesIn(document, body)[0],
      usage: usageIn(document, body),
      code: codeIn(document, body),
      message: messageIn(document, body)
    })
  }

const readResultOf =
  (document: QueueDocument): VideoDialect["readPolled"] =>
  (account, answer): Result.Result<VideoStatus, ReturnType<typeof failedAnswer>> => {
    const { body } = answer
    if (isFailedResult(document, answer)) {
      const message = messageIn(document, body) ?? "The vendor failed to make the video"
      const code = codeIn(document, body) ?? "failed"
      return Result.succeed({
        _tag: "Failed",
        code: scrubText(account, code),
        message: scrubText(account, message)
      })
    }
    const videoUrl = answer.status < 300 ? filesIn(document, body)[0] : undefined
    return videoUrl === undefined
      ? Result.fail(failedAnswer(document, account, answer))
      : Result.succeed({ _tag: "Succeeded", videoUrl, usage: usageIn(document, body) })
  }

const isFinished =
  (document: QueueDocument) =>
  ({ status, body }: VendorAnswer): boolean =>
    status < 300 && stateIn(document, body)?.meaning === "finished"

// Calls

/** The adapter of the document's video models. */
export const makeQueueVideos = (document: QueueDocument) => {
  const { id, calls } = document
  const table = queueRefusals(document)
  return videoCalls(id, {
    submitRequest: submitRequestOf(document),
    readSubmitted: readSubmittedOf(document),
    pollRequest: jobRequest(document, calls.status),
    readPolled: readPolledOf(document),
    ...(calls.result === undefined
      ? {}
      : {
          result: {
            isReady: isFinished(document),
            resultRequest: jobRequest(document, calls.result),
            readResult: readResultOf(document)
          }
        }),
    ...(calls.cancel === undefined ? {} : { cancel: queueCancel(document, calls.cancel) }),
    refusals: () => table,
    noTask: { upstreamModel: document.models[0]?.id ?? "" },
    isVendorError: isQueueError(document)
  })
}
