/**
 * ip_b: the cloud vendor's message API, whose answers contain addresses, never base64. A family of
 * the relay uses the same form.
 */
import { Result, Schema } from "effect"
import { parameterValues } from "../domain/catalog/vendorParameters.ts"
import { imageProtocols } from "../domain/image/ImageProtocol.ts"
import { imageCount, referenceImages } from "../domain/image/ImageRequest.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { absentTaskStatuses, type CheckDialect, NO_TASK } from "./common/accountCheck.ts"
import {
  type ImageCancelDialect,
  type ImageDialect,
  type ImageTask,
  imageCalls
} from "./common/adapterCalls.ts"
import { cloudCancel, cloudPollRequest } from "./common/cloudTasks.ts"
import { cloudRefusals, emptyAnswer, failedJob, flatFailure } from "./common/flatErrors.ts"
import type { GeneratedImages } from "./common/standardImages.ts"
import { isErrorText } from "./wire/errorText.ts"
import type { RefusalTable } from "./wire/refusalTable.ts"
import { decodeFully, listOf, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "./wire/vendorFailures.ts"
import { bearer, cloudUrl, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Output = Schema.Struct({
  output: Schema.Struct({
    choices: Schema.optional(Schema.Unknown),
    results: Schema.optional(Schema.Unknown),
    task_id: Schema.optional(Schema.Unknown),
    task_status: Schema.optional(Schema.Unknown)
  })
})
const isOutput = Schema.is(Output)
const isChoice = Schema.is(
  Schema.Struct({ message: Schema.Struct({ content: Schema.Array(Schema.Unknown) }) })
)
const isImage = Schema.is(Schema.Struct({ image: WebAddress }))
const isOldResult = Schema.is(Schema.Struct({ url: WebAddress }))
const isJobId = Schema.is(JobId)

// To the vendor

/** Converts `1024x768` to the vendor's spelling; tiers such as `2K` stay unchanged. */
const sizeOf = (size: string): string => size.replace(/^(\d+)x(\d+)$/i, "$1*$2")

/** The vendor-specific fields that a client may add. */
const { parameters } = imageProtocols.ip_b.families[0]

/**
 * The body of an order. `n` is always sent: without it some models generate four images while the
 * client pays for one.
 */
export const toEnvelope = ({ upstreamModel, body, edit = null }: ImageOrder) => ({
  model: upstreamModel,
  input: {
    messages: [
      {
        role: "user",
        content: [
          ...(edit?.references ?? referenceImages(body)).map((image) => ({ image })),
          { text: body.prompt }
        ]
      }
    ]
  },
  parameters: {
    ...(typeof body.size === "string" ? { size: sizeOf(body.size) } : {}),
    n: imageCount(body),
    ...parameterValues(body, parameters)
  }
})

/** The path of the cloud's messages. */
export const messagesPath = "services/aigc/multimodal-generation/generation"

export const tasksUrl = (account: ChannelAccount): string => cloudUrl(account, "tasks")

const generateRequest: ImageDialect["generateRequest"] = (account, order) =>
  Result.succeed(post(cloudUrl(account, messagesPath), bearer(account), toEnvelope(order)))

const taskRequest = (account: ChannelAccount, tasksUrl: string, taskId: string) =>
  get(`${tasksUrl}/${encodeURIComponent(taskId)}`, bearer(account))

// From the vendor

/**
 * All image addresses in the choices, or in the `results` of an older answer format; texts are
 * skipped.
 */
const imagesIn = ({ output }: typeof Output.Type): ReadonlyArray<string> => [
  ...listOf(output.choices)
    .filter(isChoice)
    .flatMap(({ message }) => message.content.filter(isImage).map(({ image }) => image)),
  ...listOf(output.results)
    .filter(isOldResult)
    .map(({ url }) => url)
]

type Images = Result.Result<ReadonlyArray<string>, VendorFailure>

/** Reads the images, the failure, or the id of the task that still generates the images. */
const readAnswer = (
  account: ChannelAccount,
  answer: VendorAnswer
): Images | { readonly taskId: string } => {
  if (answer.status >= 300) return Result.fail(flatFailure(account, answer))
  const urls = isOutput(answer.body) ? imagesIn(answer.body) : []
  if (urls.length > 0) return Result.succeed(urls)
  if (isErrorText(answer.body)) return Result.fail(refusal(account, answer))
  if (!isOutput(answer.body)) return Result.fail(flatFailure(account, answer))
  const { task_id: taskId } = answer.body.output
  return isJobId(taskId) ? { taskId } : Result.fail(emptyAnswer(account, answer))
}

const cancelledStatuses: ReadonlySet<unknown> = new Set(["CANCELED", "CANCELLED"])

/** Reads a poll; null while the task is not finished. */
const readTask = (account: ChannelAccount, answer: VendorAnswer): Images | null => {
  if (answer.status >= 300 || !isOutput(answer.body)) return null
  const { output } = answer.body
  const isCancelled = cancelledStatuses.has(output.task_status)
  if (isCancelled || output.task_status === "FAILED") {
    return Result.fail(failedJob(account, answer, output, isCancelled))
  }
  if (output.task_status !== "SUCCEEDED") return null
  const urls = imagesIn(answer.body)
  return urls.length > 0 ? Result.succeed(urls) : Result.fail(brokenAnswer(answer))
}

const generatedImages = (
  images: Images,
  orderedImages: number
): Result.Result<GeneratedImages, VendorFailure> =>
  Result.map(images, (urls) => {
    const data = urls.slice(0, orderedImages).map((url) => ({ url }))
    return {
      result: { data },
      surplus: urls.length - orderedImages,
      delivered: { images: data.length, usage: null }
    }
  })

/** Reads the images, or the task to poll under `tasksUrl`. */
export const readMessages = (
  account: ChannelAccount,
  answer: VendorAnswer,
  { body }: ImageOrder,
  tasksUrl: string
): Result.Result<GeneratedImages | ImageTask, VendorFailure> => {
  const orderedImages = imageCount(body)
  // The answer is decoded fully, because a very long image address may have been skipped.
  const response = readAnswer(account, decodeFully(answer))
  if (!("taskId" in response)) return generatedImages(response, orderedImages)
  return Result.succeed({
    taskId: response.taskId,
    pollRequest: taskRequest(account, tasksUrl, response.taskId),
    readPolled: (polled) => {
      const images = readTask(account, polled)
      return images === null ? null : generatedImages(images, orderedImages)
    }
  })
}

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) =>
  readMessages(account, answer, order, tasksUrl(account))

const readStatus: ImageCancelDialect["readStatus"] = (account, answer) => {
  if (answer.status >= 300 || !isOutput(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const { task_status: status } = answer.body.output
  if (cancelledStatuses.has(status)) return Result.succeed("cancelled")
  return Result.succeed(status === "PENDING" ? "queued" : "other")
}

const readChecked: CheckDialect["readChecked"] = (account, answer) =>
  answer.status < 300 && isOutput(answer.body) && !isErrorText(answer.body)
    ? Result.void
    : Result.fail(flatFailure(account, answer))

// Calls

/** An account check that polls a task which cannot exist. */
export const taskCheck = (
  tasksUrl: (account: ChannelAccount) => string,
  refusals: RefusalTable
): CheckDialect => ({
  checkRequest: (account) => Result.succeed(taskRequest(account, tasksUrl(account), NO_TASK)),
  readChecked,
  refusals,
  absentStatuses: absentTaskStatuses
})

export const makeIpB = imageCalls("ip_b", {
  generateRequest,
  readGenerated,
  refusals: () => cloudRefusals,
  cancel: { ...cloudCancel, isQueue: false, statusRequest: cloudPollRequest, readStatus },
  check: taskCheck(tasksUrl, cloudRefusals)
})
