/**
 * ip_b: the cloud vendor's messages; only addresses come back, never base64. A family of the relay
 * speaks the same.
 */
import { Result, Schema } from "effect"
import { parameterFaults } from "../domain/catalog/vendorParameters.ts"
import { imageProtocols } from "../domain/image/ImageProtocol.ts"
import { imageCount, referenceImages } from "../domain/image/ImageRequest.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { ChannelAccount, ImageOrder } from "../services/ProtocolAdapter.ts"
import { absentTask, type CheckDialect, NO_TASK } from "./common/accountCheck.ts"
import { type Drawing, type ImageDialect, imageCalls } from "./common/adapterCalls.ts"
import { cloudRefusals, emptyAnswer, failedJob, flatFailure } from "./common/flatErrors.ts"
import type { Drawn } from "./common/standardImages.ts"
import { saysError } from "./wire/errorText.ts"
import type { RefusalTable } from "./wire/refusalTable.ts"
import { decodedWhole, listOf, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "./wire/vendorFailures.ts"
import { bearer, get, given, post, rootOf } from "./wire/vendorRequest.ts"

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

/** `1024x768` in the vendor's spelling; tiers such as `2K` stay as they are. */
const sizeOf = (size: string): string => size.replace(/^(\d+)x(\d+)$/i, "$1*$2")

/** Fields of the vendor's own that a client may add. */
const { parameters } = imageProtocols.ip_b.families[0]

/** Those of them that an order has; one of another value is left out. */
const extrasOf = (body: Readonly<Record<string, unknown>>) => {
  const faults = new Set(parameterFaults(body, parameters).map(({ path }) => path))
  const names = Object.keys(parameters).filter((name) => !faults.has(name))
  return given(Object.fromEntries(names.map((name) => [name, body[name]])))
}

/**
 * The whole body. `n` always goes out: some models make four images of an order without it, and
 * one is what the client pays for.
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
    ...extrasOf(body)
  }
})

const apiUrl = (account: ChannelAccount): string => `${rootOf(account, "/api/v1")}/api/v1`
const tasksUrl = (account: ChannelAccount): string => `${apiUrl(account)}/tasks`

const generateRequest: ImageDialect["generateRequest"] = (account, order) =>
  Result.succeed(
    post(
      `${apiUrl(account)}/services/aigc/multimodal-generation/generation`,
      bearer(account),
      toEnvelope(order)
    )
  )

const taskRequest = (account: ChannelAccount, tasksUrl: string, taskId: string) =>
  get(`${tasksUrl}/${encodeURIComponent(taskId)}`, bearer(account))

// From the vendor

/** Every address in every choice, or in the results of an older form; texts between are skipped. */
const imagesIn = ({ output }: typeof Output.Type): ReadonlyArray<string> => [
  ...listOf(output.choices)
    .filter(isChoice)
    .flatMap(({ message }) => message.content.filter(isImage).map(({ image }) => image)),
  ...listOf(output.results)
    .filter(isOldResult)
    .map(({ url }) => url)
]

type Images = Result.Result<ReadonlyArray<string>, VendorFailure>

/** Images, or why there are none, or the id of the task that is still making them. */
const readAnswer = (
  account: ChannelAccount,
  answer: VendorAnswer
): Images | { readonly taskId: string } => {
  if (answer.status >= 300) return Result.fail(flatFailure(account, answer))
  const urls = isOutput(answer.body) ? imagesIn(answer.body) : []
  if (urls.length > 0) return Result.succeed(urls)
  if (saysError(answer.body)) return Result.fail(refusal(account, answer))
  if (!isOutput(answer.body)) return Result.fail(flatFailure(account, answer))
  const { task_id: taskId } = answer.body.output
  return isJobId(taskId) ? { taskId } : Result.fail(emptyAnswer(account, answer))
}

const failedWords: ReadonlySet<unknown> = new Set(["FAILED", "CANCELED", "CANCELLED"])

/** Null while there is no verdict. */
const readTask = (account: ChannelAccount, answer: VendorAnswer): Images | null => {
  if (answer.status >= 300 || !isOutput(answer.body)) return null
  const { output } = answer.body
  if (failedWords.has(output.task_status)) return Result.fail(failedJob(account, answer, output))
  if (output.task_status !== "SUCCEEDED") return null
  const urls = imagesIn(answer.body)
  return urls.length > 0 ? Result.succeed(urls) : Result.fail(brokenAnswer(answer))
}

const drawnOf = (images: Images, ordered: number): Result.Result<Drawn, VendorFailure> =>
  Result.map(images, (urls) => ({
    result: { data: urls.slice(0, ordered).map((url) => ({ url })) },
    surplus: urls.length - ordered
  }))

/** The images, or the task that is asked for below `tasksUrl`. */
export const readMessages = (
  account: ChannelAccount,
  answer: VendorAnswer,
  { body }: ImageOrder,
  tasksUrl: string
): Result.Result<Drawn | Drawing, VendorFailure> => {
  const ordered = imageCount(body)
  // An address may be as long as a medium.
  const said = readAnswer(account, decodedWhole(answer))
  if (!("taskId" in said)) return drawnOf(said, ordered)
  return Result.succeed({
    taskId: said.taskId,
    pollRequest: taskRequest(account, tasksUrl, said.taskId),
    readPolled: (polled) => {
      const images = readTask(account, polled)
      return images === null ? null : drawnOf(images, ordered)
    }
  })
}

const readGenerated: ImageDialect["readGenerated"] = (account, answer, order) =>
  readMessages(account, answer, order, tasksUrl(account))

const readChecked: CheckDialect["readChecked"] = (account, answer) =>
  answer.status < 300 && isOutput(answer.body) && !saysError(answer.body)
    ? Result.void
    : Result.fail(flatFailure(account, answer))

// Calls

/** Asks for a task that nobody has. */
export const taskCheck = (
  tasksUrl: (account: ChannelAccount) => string,
  refusals: RefusalTable
): CheckDialect => ({
  checkRequest: (account) => Result.succeed(taskRequest(account, tasksUrl(account), NO_TASK)),
  readChecked,
  refusals,
  absentStatuses: absentTask
})

export const makeIpB = imageCalls("ip_b", {
  generateRequest,
  readGenerated,
  refusals: () => cloudRefusals,
  check: taskCheck(tasksUrl, cloudRefusals)
})
