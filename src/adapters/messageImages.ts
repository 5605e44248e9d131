/** Images asked for by a message in the cloud vendor's envelope: ip_b, and a family of the relay. */
import { Clock, Duration, Effect, Result, Schema } from "effect"
import { imageCount, referenceImages } from "../domain/image/ImageRequest.ts"
import { JobId, WebAddress } from "../domain/plainText.ts"
import { type VendorFailure, VendorLost, VendorRefused } from "../domain/VendorOutcome.ts"
import { CurrentCallSubjects } from "../services/CallLog.ts"
import type { ChannelAccount, ImageOrder, ImageResult } from "../services/ProtocolAdapter.ts"
import { emptyAnswer, failedJob, flatFailure } from "./flatErrors.ts"
import { noteSurplus } from "./standardImages.ts"
import { saysError } from "./wire/errorText.ts"
import type { VendorLimits } from "./wire/limits.ts"
import type { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal, timedOut } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, get, post } from "./wire/vendorRequest.ts"

// Wire schemas

const Output = Schema.Struct({
  output: Schema.Struct({
    choices: Schema.optional(Schema.Unknown),
    results: Schema.optional(Schema.Unknown),
    task_id: Schema.optional(Schema.Unknown),
    task_status: Schema.optional(Schema.Unknown)
  })
})
const Choice = Schema.Struct({
  message: Schema.Struct({ content: Schema.Array(Schema.Unknown) })
})
const Image = Schema.Struct({ image: WebAddress })
const OldResult = Schema.Struct({ url: WebAddress })

const isOutput = Schema.is(Output)
const isChoice = Schema.is(Choice)
const isImage = Schema.is(Image)
const isOldResult = Schema.is(OldResult)
const isText = Schema.is(Schema.NonEmptyString)
const isJobId = Schema.is(JobId)
const isFlag = Schema.is(Schema.Boolean)
const isWhole = Schema.is(Schema.Int)

// To the vendor

/** `1024x768` in the vendor's spelling; tiers such as `2K` stay as they are. */
const sizeOf = (size: string): string => size.replace(/^(\d+)x(\d+)$/i, "$1*$2")

/** Fields of the vendor's own that a client may add; of another type they are left out. */
const extras: Readonly<Record<string, (value: unknown) => boolean>> = {
  negative_prompt: isText,
  prompt_extend: isFlag,
  watermark: isFlag,
  seed: isWhole
}

/**
 * The whole body. `n` always goes out: some models make four images of an order without it, and
 * one is what the client pays for.
 */
export const toEnvelope = ({ upstreamModel, body }: ImageOrder) => ({
  model: upstreamModel,
  input: {
    messages: [
      {
        role: "user",
        content: [...referenceImages(body).map((image) => ({ image })), { text: body.prompt }]
      }
    ]
  },
  parameters: {
    ...(typeof body.size === "string" ? { size: sizeOf(body.size) } : {}),
    n: imageCount(body),
    ...Object.fromEntries(
      Object.entries(extras).flatMap(([name, fits]) =>
        fits(body[name]) ? [[name, body[name]]] : []
      )
    )
  }
})

// From the vendor

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

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

/** Images, or why there are none, or the task that is still making them. */
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

/** Null while there is no verdict: a question that fails says nothing about the images. */
const readTask = (account: ChannelAccount, answer: VendorAnswer): Images | null => {
  if (answer.status >= 300 || !isOutput(answer.body)) return null
  const { output } = answer.body
  if (failedWords.has(output.task_status)) return Result.fail(failedJob(account, answer, output))
  if (output.task_status !== "SUCCEEDED") return null
  const urls = imagesIn(answer.body)
  return urls.length > 0 ? Result.succeed(urls) : Result.fail(brokenAnswer(answer))
}

// Calls

/** The same failure, with the job that can be looked for. */
const ofJob = (upstreamId: string, failure: VendorFailure): VendorFailure => {
  switch (failure._tag) {
    case "VendorLost":
      return new VendorLost({ ...failure, message: failure.message, upstreamId })
    case "VendorRefused":
      return new VendorRefused({ ...failure, message: failure.message, upstreamId })
    case "VendorUnreachable":
      return failure
  }
}

const ASK_INTERVAL = "2 seconds"

export interface MessageUrls {
  readonly generate: string
  readonly task: (id: string) => string
}

/**
 * Makes the images and waits for them. A vendor that answers a task instead is asked until it is
 * done; the time limit of an image call holds for all of it.
 */
export const generateByMessages = Effect.fnUntraced(function* (
  wire: VendorWire["Service"],
  limits: VendorLimits,
  account: ChannelAccount,
  urls: MessageUrls,
  order: ImageOrder
): Effect.fn.Return<ImageResult, VendorFailure> {
  const request = post(urls.generate, bearer(account), toEnvelope(order))
  const startedAt = yield* Clock.currentTimeMillis
  const since = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt)
  const said = readAnswer(account, yield* send(wire, request, limits.image))
  const { timeout } = limits.image
  const images =
    "taskId" in said
      ? yield* awaitTask(wire, limits, account, urls.task(said.taskId)).pipe(
          Effect.timeoutOrElse({
            duration: Duration.subtract(timeout, Duration.millis(yield* since)),
            orElse: () => Effect.fail(timedOut(timeout))
          }),
          Effect.flatMap(Effect.fromResult),
          Effect.mapError((failure) => ofJob(said.taskId, failure))
        )
      : yield* Effect.fromResult(said)
  const ordered = imageCount(order.body)
  yield* noteSurplus(account, images.length - ordered)
  return {
    created: Math.floor((yield* Clock.currentTimeMillis) / 1000),
    data: images.slice(0, ordered).map((url) => ({ url }))
  }
})

const awaitTask = (
  wire: VendorWire["Service"],
  limits: VendorLimits,
  account: ChannelAccount,
  url: string
) => {
  const request = get(url, bearer(account))
  return send(wire, request, limits.poll).pipe(
    Effect.updateService(CurrentCallSubjects, (current) =>
      current === null
        ? null
        : {
            ...current,
            subjects: current.subjects.map((subject) => ({ ...subject, purpose: "poll" as const }))
          }
    ),
    Effect.map((answer) => readTask(account, answer)),
    Effect.catch(() => Effect.succeed(null)),
    Effect.delay(ASK_INTERVAL),
    Effect.repeat({ until: (images): images is Images => images !== null })
  )
}
