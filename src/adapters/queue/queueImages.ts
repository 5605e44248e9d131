/** Images of the vendors that documents describe. */
import { Result } from "effect"
import { imageCount, plainOrderOf } from "../../domain/image/ImageRequest.ts"
import { imageModelsOf, type QueueDocument } from "../../domain/queue/QueueDocument.ts"
import { imageBodyOf, isSingleImage } from "../../domain/queue/queueBody.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ImageOrder } from "../../services/ProtocolAdapter.ts"
import { absentTaskStatuses, type CheckDialect, NO_TASK } from "../common/accountCheck.ts"
import {
  type ImageCancelDialect,
  type ImageDialect,
  type ImageTask,
  imageCalls
} from "../common/adapterCalls.ts"
import {
  failedAnswer,
  failedJob,
  filesIn,
  hasFailed,
  isFailedResult,
  isQueueError,
  jobIdIn,
  queueRefusals,
  stateIn
} from "../common/queueAnswers.ts"
import { jobRequest, queueCancel } from "../common/queueCancel.ts"
import { findModel, queueRequest, refuseFault } from "../common/queueRequests.ts"
import type { GeneratedImages } from "../common/standardImages.ts"
import { decodeFully, type VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer } from "../wire/vendorFailures.ts"

// Wire schemas

/** The images of an answer, or why there are none. */
type Images = Result.Result<GeneratedImages, VendorFailure>

// To the vendor

/** Writes the request that orders images, or fails where the mapping cannot carry the order. */
export const generateRequestOf =
  (document: QueueDocument): ImageDialect["generateRequest"] =>
  (account, { upstreamModel, body, edit = null, isReadLater = false }) =>
    Result.gen(function* () {
      const model = yield* findModel(document, imageModelsOf(document), upstreamModel)
      const order = plainOrderOf({ body, edit })
      const wire = yield* Result.mapError(imageBodyOf(document, model, order), refuseFault)
      const { submit } = document.calls
      const waitHeaders = isReadLater ? {} : submit.image_headers
      const call = { ...submit, headers: { ...submit.headers, ...waitHeaders } }
      return queueRequest(document, call, account, { upstreamModel, upstreamId: null }, wire)
    })

const checkRequestOf =
  (document: QueueDocument): CheckDialect["checkRequest"] =>
  (account) => {
    const noTask = { upstreamModel: document.models[0]?.id ?? "", upstreamId: NO_TASK }
    return Result.succeed(queueRequest(document, document.calls.status, account, noTask))
  }

// From the vendor

const imagesOf = (urls: ReadonlyArray<string>, { body }: ImageOrder): GeneratedImages => {
  const orderedImages = imageCount(body)
  const data = urls.slice(0, orderedImages).map((url) => ({ url }))
  return {
    result: { data },
    surplus: urls.length - orderedImages,
    delivered: { images: data.length, usage: null }
  }
}

/** The task for a job that is not finished yet. */
const taskOf = (
  document: QueueDocument,
  account: Parameters<ImageDialect["readGenerated"]>[0],
  order: ImageOrder,
  taskId: string
): ImageTask => {
  const { status, result } = document.calls
  const job = { upstreamModel: order.upstreamModel, upstreamId: taskId }
  const finishedImages = (answer: VendorAnswer): Images => {
    const urls = filesIn(document, decodeFully(answer).body)
    return urls.length > 0
      ? Result.succeed(imagesOf(urls, order))
      : Result.fail(brokenAnswer(answer))
  }
  return {
    taskId,
    pollRequest: queueRequest(document, status, account, job),
    readPolled: (answer) => {
      const state = answer.status < 300 ? stateIn(document, answer.body) : null
      if (hasFailed(state)) return Result.fail(failedJob(document, account, answer))
      if (state?.meaning !== "finished") return null
      if (result === undefined) return finishedImages(answer)
      return {
        resultRequest: queueRequest(document, result, account, job),
        readResult: (resultAnswer): Images | null => {
          if (isFailedResult(document, resultAnswer)) {
            return Result.fail(failedJob(document, account, resultAnswer))
          }
          return resultAnswer.status < 300 ? finishedImages(resultAnswer) : null
        }
      }
    }
  }
}

/** Reads the images of a vendor that waits for them, or the id of the job. */
const readGeneratedOf =
  (document: QueueDocument): ImageDialect["readGenerated"] =>
  (account, partialAnswer, order) => {
    const answer = decodeFully(partialAnswer)
    if (answer.status >= 300) return Result.fail(failedAnswer(document, account, answer))
    const state = stateIn(document, answer.body)
    if (hasFailed(state)) return Result.fail(failedJob(document, account, answer))
    const urls = filesIn(document, answer.body)
    const isFinished = state === null || state.meaning === "finished"
    if (isFinished && urls.length > 0) return Result.succeed(imagesOf(urls, order))
    // A job that is finished has what it made in this answer, or has it nowhere.
    if (state?.meaning === "finished" && document.calls.result === undefined) {
      return Result.fail(brokenAnswer(answer))
    }
    const id = jobIdIn(document, answer.body)
    return id === null
      ? Result.fail(failedAnswer(document, account, answer))
      : Result.succeed(taskOf(document, account, order, id))
  }

const readStatusOf =
  (document: QueueDocument): ImageCancelDialect["readStatus"] =>
  (account, answer) => {
    const state = answer.status < 300 ? stateIn(document, answer.body) : null
    if (state === null) return Result.fail(failedAnswer(document, account, answer))
    const { meaning } = state
    return Result.succeed(meaning === "queued" || meaning === "cancelled" ? meaning : "other")
  }

const readCheckedOf =
  (document: QueueDocument): CheckDialect["readChecked"] =>
  (account, answer) =>
    answer.status < 300 && stateIn(document, answer.body) !== null
      ? Result.void
      : Result.fail(failedAnswer(document, account, answer))

// Calls

/** The adapter of the document's image models. */
export const makeQueueImages = (document: QueueDocument) => {
  const table = queueRefusals(document)
  const models = new Map(imageModelsOf(document).map((model) => [model.id, model]))
  const { cancel, status } = document.calls
  return imageCalls(document.id, {
    generateRequest: generateRequestOf(document),
    readGenerated: readGeneratedOf(document),
    isOneByOne: ({ upstreamModel }) => {
      const model = models.get(upstreamModel)
      return model !== undefined && isSingleImage(model)
    },
    refusals: () => table,
    ...(cancel === undefined
      ? {}
      : {
          cancel: {
            ...queueCancel(document, cancel),
            isQueue: true,
            statusRequest: jobRequest(document, status),
            readStatus: readStatusOf(document)
          }
        }),
    check: {
      checkRequest: checkRequestOf(document),
      readChecked: readCheckedOf(document),
      refusals: table,
      absentStatuses: absentTaskStatuses,
      isVendorError: isQueueError(document)
    }
  })
}
