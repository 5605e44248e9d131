/** Builds the calls of every adapter from its dialect: request writers and answer readers. */
import { Clock, Duration, Effect, Metric, Redacted, Result } from "effect"
import { imageCount } from "../../domain/image/ImageRequest.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { type VendorFailure, VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import { monotonicMillis, monotonicMillisOf } from "../../runtime/monotonic.ts"
import { withSpan } from "../../runtime/spans.ts"
import { CurrentCallSubjects } from "../../services/CallLog.ts"
import { surplusImages } from "../../services/metrics.ts"
import type {
  CancelAnswer,
  ChannelAccount,
  ImageAdapter,
  ImageCancel,
  ImageJobStatus,
  ImageOrder,
  ImagePiece,
  ImageResult,
  JobCancel,
  JobRef,
  VendorModelList,
  VideoAdapter,
  VideoBatchPoll,
  VideoOrder,
  VideoStatus,
  VideoTaskRef
} from "../../services/ProtocolAdapter.ts"
import { VendorLimits } from "../wire/limits.ts"
import { judgeFailure, type RefusalTable, refusalTable } from "../wire/refusalTable.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import type { SendOptions, VendorAnswer } from "../wire/vendorAnswer.ts"
import { timeoutFailure } from "../wire/vendorFailures.ts"
import { send } from "../wire/vendorHttp.ts"
import type { VendorRequest } from "../wire/vendorRequest.ts"
import { type StreamOptions, sendForEvents } from "../wire/vendorStream.ts"
import {
  absentTaskStatuses,
  type CheckDialect,
  type ModelListDialect,
  NO_TASK,
  readCheck,
  readModels,
  standardModels
} from "./accountCheck.ts"
import type { ImageStream } from "./imageStream.ts"
import { generateOneByOne } from "./oneByOne.ts"
import type { GeneratedImages } from "./standardImages.ts"

type Outcome<A> = Result.Result<A, VendorFailure>

/** Writes a request; fails before anything is sent if the vendor has no field for the input. */
type Write<Input> = (account: ChannelAccount, input: Input) => Outcome<VendorRequest>

/** Reads an answer, or fails with the reason why it cannot be used. */
export type Read<Input, A> = (
  account: ChannelAccount,
  answer: VendorAnswer,
  input: Input
) => Outcome<A>

/**
 * The table of the vendor's refusals. Without a table, no refusal proves that the vendor produced
 * nothing.
 */
type RefusalsOf<Input> = (input: Input) => RefusalTable

/**
 * Reads an answer; if it is a refusal, records whether it proves that the vendor produced nothing.
 */
export const withJudgement =
  <Input, A>(refusalsOf: RefusalsOf<Input>, read: Read<Input, A>): Read<Input, A> =>
  (account, answer, input) =>
    Result.mapError(read(account, answer, input), (failure) =>
      judgeFailure(refusalsOf(input), answer, failure)
    )

type Tasks = ReadonlyArray<VideoTaskRef>

/** The requests and answers of a video protocol. */
export interface VideoDialect {
  readonly submitRequest: Write<VideoOrder>
  /** The vendor's task id, with any prefix that a poll needs to find the task. */
  readonly readSubmitted: Read<VideoOrder, string>
  readonly pollRequest: Write<VideoTaskRef>
  readonly readPolled: Read<VideoTaskRef, VideoStatus>
  /** The request for the result of an ended job; set if the answer to a poll does not have it. */
  readonly result?: {
    /** Whether the answer to a poll says that the result can be read. */
    readonly isReady: (answer: VendorAnswer) => boolean
    readonly resultRequest: Write<VideoTaskRef>
    readonly readResult: Read<VideoTaskRef, VideoStatus>
  }
  /** The vendor's refusals, for models that are listed under the given protocol. */
  readonly refusals?: RefusalsOf<string>
  /**
   * The fields of the task that an account check polls, if they differ from those of `NO_TASK`
   * under this protocol.
   */
  readonly noTask?: Partial<VideoTaskRef>
  readonly isVendorError?: CheckDialect["isVendorError"]
  /** The combined poll; set if one request can poll many tasks of an account. */
  readonly batchPoll?: Pick<VideoBatchPoll, "maxJobs" | "canShare"> & {
    readonly pollRequest: Write<Tasks>
    readonly readPolled: Read<Tasks, ReadonlyMap<string, Outcome<VideoStatus>>>
  }
  /** The list of the vendor's models; set if it has one. */
  readonly models?: ModelListDialect
  readonly takesBytes?: VideoAdapter["takesBytes"]
  readonly fileHeaders?: VideoAdapter["fileHeaders"]
  readonly ownVideos?: VideoAdapter["ownVideos"]
  /** The cancelling of a job; set if the vendor can do it. */
  readonly cancel?: CancelDialect
}

/** The request to cancel a job, and its answer. */
export interface CancelDialect<Job extends JobRef = VideoTaskRef>
  extends Pick<JobCancel<Job>, "jobs"> {
  readonly cancelRequest: Write<Job>
  readonly readCancelled: Read<Job, CancelAnswer>
}

/** The requests to cancel and to poll a job of images, and their answers. */
export interface ImageCancelDialect extends CancelDialect<JobRef>, Pick<ImageCancel, "isQueue"> {
  readonly statusRequest: Write<JobRef>
  readonly readStatus: Read<JobRef, ImageJobStatus>
}

const noRefusals = refusalTable([], {})

/** Builds a call that writes a request, sends it and reads its answer. */
export const makeCall =
  (wire: VendorWire["Service"]) =>
  <Input, A>(write: Write<Input>, read: Read<Input, A>, options: SendOptions) =>
  (account: ChannelAccount, input: Input): Effect.Effect<A, VendorFailure> =>
    Effect.suspend(() => {
      const request = write(account, input)
      return Result.isFailure(request)
        ? Effect.fail(request.failure)
        : Effect.flatMap(send(wire, request.success, options), (answer) =>
            Effect.fromResult(read(account, answer, input))
          )
    })

/** Builds the check of an account, which creates nothing at the vendor. */
export const makeCheck = (
  wire: VendorWire["Service"],
  dialect: CheckDialect,
  limits: VendorLimits
) => {
  const call = makeCall(wire)(dialect.checkRequest, readCheck(dialect), limits.poll)
  return (account: ChannelAccount): Effect.Effect<void, VendorFailure> => call(account, undefined)
}

/** Builds the request for the list of models. */
export const makeModelList = (
  wire: VendorWire["Service"],
  limits: VendorLimits,
  dialect: ModelListDialect = standardModels
): VendorModelList => {
  const call = makeCall(wire)(dialect.listRequest, readModels(dialect), limits.poll)
  return (account) => call(account, undefined)
}

/**
 * A placeholder account for the check whether an order can be written, because the result does not
 * depend on the account.
 */
const placeholderAccount: ChannelAccount = {
  channelId: "",
  baseUrl: "https://vendor.invalid",
  apiKey: Redacted.make(""),
  appId: null
}

/** How the vendor takes and gives files. */
const fileRulesOf = ({
  takesBytes,
  fileHeaders,
  ownVideos
}: VideoDialect): Pick<VideoAdapter, "takesBytes" | "fileHeaders" | "ownVideos"> => ({
  ...(takesBytes === undefined ? {} : { takesBytes }),
  ...(fileHeaders === undefined ? {} : { fileHeaders }),
  ...(ownVideos === undefined ? {} : { ownVideos })
})

export const videoCalls = (protocol: string, dialect: VideoDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const call = makeCall(wire)
    const limits = yield* VendorLimits
    const { submitRequest, pollRequest, refusals = () => noRefusals, batchPoll, cancel } = dialect
    const { models } = dialect
    const refusalsOf = ({ listedProtocol }: Pick<VideoTaskRef, "listedProtocol">) =>
      refusals(listedProtocol)
    const readPolled = withJudgement(refusalsOf, dialect.readPolled)
    const submit = call(
      submitRequest,
      withJudgement(refusalsOf, dialect.readSubmitted),
      limits.submit
    )
    const inSpan = withSpan(`${protocol}.submit`)
    const noTask: VideoTaskRef = {
      upstreamId: NO_TASK,
      upstreamModel: "",
      listedProtocol: protocol,
      ...dialect.noTask
    }
    const checkDialect: CheckDialect = {
      checkRequest: (account) => pollRequest(account, noTask),
      readChecked: (account, answer) => readPolled(account, answer, noTask),
      refusals: refusalsOf(noTask),
      absentStatuses: absentTaskStatuses,
      ...(dialect.isVendorError === undefined ? {} : { isVendorError: dialect.isVendorError })
    }
    const { result } = dialect
    return {
      checkOrder: (order) => Result.map(submitRequest(placeholderAccount, order), () => undefined),
      submit: (account, order) => inSpan(submit(account, order)),
      poll:
        result === undefined
          ? call(pollRequest, readPolled, limits.poll)
          : makeResultPoll(call, { ...result, pollRequest, readPolled }, refusalsOf, limits.poll),
      check: makeCheck(wire, checkDialect, limits),
      ...(models === undefined ? {} : { listModels: makeModelList(wire, limits, models) }),
      ...fileRulesOf(dialect),
      ...(batchPoll === undefined
        ? {}
        : {
            batchPoll: {
              ...batchPoll,
              poll: call(
                batchPoll.pollRequest,
                withJudgement((tasks) => refusalsOf(tasks[0] ?? noTask), batchPoll.readPolled),
                limits.poll
              )
            }
          }),
      ...(cancel === undefined
        ? {}
        : {
            cancel: {
              jobs: cancel.jobs,
              send: call(
                cancel.cancelRequest,
                withJudgement(refusalsOf, cancel.readCancelled),
                limits.poll
              )
            }
          })
    } satisfies VideoAdapter
  })

/** Builds a poll that also reads the result of an ended job, within the time of one poll. */
const makeResultPoll = (
  call: ReturnType<typeof makeCall>,
  dialect: Pick<VideoDialect, "pollRequest" | "readPolled"> & NonNullable<VideoDialect["result"]>,
  refusalsOf: RefusalsOf<VideoTaskRef>,
  options: SendOptions
): VideoAdapter["poll"] => {
  const { isReady, pollRequest, readPolled, resultRequest, readResult } = dialect
  const readStatus: Read<VideoTaskRef, VideoStatus | null> = (account, answer, task) =>
    isReady(answer) ? Result.succeed(null) : readPolled(account, answer, task)
  const pollStatus = call(pollRequest, readStatus, options)
  const pollResult = call(resultRequest, withJudgement(refusalsOf, readResult), options)
  return Effect.fnUntraced(function* (account, task) {
    const startedAt = yield* monotonicMillis
    const status = yield* pollStatus(account, task)
    if (status !== null) return status
    return yield* withinRest(pollResult(account, task), startedAt, options.timeout)
  })
}

/** Limits a later call of several to what is left of the time for all of them. */
const withinRest = <A>(
  call: Effect.Effect<A, VendorFailure>,
  startedAt: number,
  timeout: Duration.Duration
): Effect.Effect<A, VendorFailure> =>
  Effect.flatMap(monotonicMillis, (now) =>
    Effect.timeoutOrElse(call, {
      duration: Duration.subtract(timeout, Duration.millis(now - startedAt)),
      orElse: () => Effect.fail(timeoutFailure(timeout))
    })
  )

/** The request for the result of an ended job, where the answer to a poll does not have it. */
interface ImageResultCall {
  readonly resultRequest: VendorRequest
  /** Reads the result; null if the answer says nothing about the images. */
  readonly readResult: (answer: VendorAnswer) => Outcome<GeneratedImages> | null
}

/** The task that an image vendor returns while the images are still being generated. */
export interface ImageTask {
  readonly taskId: string
  readonly pollRequest: VendorRequest
  /**
   * Reads a poll; null while the task is not finished. A failed poll also counts as not finished,
   * because it says nothing about the images.
   */
  readonly readPolled: (answer: VendorAnswer) => Outcome<GeneratedImages> | ImageResultCall | null
}

/** The requests and answers of an image protocol. */
export interface ImageDialect {
  readonly generateRequest: Write<ImageOrder>
  readonly readGenerated: Read<ImageOrder, GeneratedImages | ImageTask>
  /** Whether a call generates only one image, so that several images need one call for each. */
  readonly isOneByOne?: (order: ImageOrder) => boolean
  readonly refusals?: RefusalsOf<ImageOrder>
  /** Reads the events of a stream, if the vendor streams images. */
  readonly readStream?: (
    account: ChannelAccount,
    order: ImageOrder,
    options: SendOptions
  ) => ImageStream
  /** The account check; set if the vendor has a request that creates nothing. */
  readonly check?: CheckDialect
  /** Whether the vendor has a list of models in the common standard form. */
  readonly listsModels?: boolean
  /** The list of the vendor's models, if it has another form. */
  readonly models?: ModelListDialect
  readonly takesBytes?: ImageAdapter["takesBytes"]
  /** Whether an order may have no place in the vendor's API, which is checked before its hold. */
  readonly checksOrders?: boolean
  /** The cancelling of a job; set if the vendor answers orders with jobs and can cancel them. */
  readonly cancel?: ImageCancelDialect
}

type OnJob = NonNullable<Parameters<ImageAdapter["generate"]>[2]>

/** The minimum number of bytes of a text that can be an image. */
const LONG_IMAGE_BYTES = 1024

export const imageCalls = (protocol: string, dialect: ImageDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const limits = yield* VendorLimits
    const { timeout } = limits.image
    const { generateRequest, refusals = () => noRefusals, readStream, check } = dialect
    const { isOneByOne = () => false, listsModels = false, checksOrders = false } = dialect
    const { takesBytes, models = listsModels ? standardModels : undefined, cancel } = dialect
    const readGenerated = withJudgement(refusals, dialect.readGenerated)
    const makeGenerate = (options: SendOptions) => {
      const sendGenerate = makeCall(wire)(generateRequest, readGenerated, options)
      /** Polls the task until it ends, within the time-out of the image call. */
      const awaitTask = Effect.fnUntraced(function* (
        task: ImageTask,
        startedAt: number,
        onJob: OnJob
      ) {
        yield* onJob(task.taskId)
        const polls = pollImageTask(wire, task, limits)
        return yield* withinRest(polls, startedAt, timeout).pipe(
          Effect.flatMap(Effect.fromResult),
          Effect.mapError((failure) => withTaskId(task.taskId, failure))
        )
      })
      return (account: ChannelAccount, order: ImageOrder, onJob: OnJob) =>
        Effect.clockWith((clock) => {
          const startedAt = monotonicMillisOf(clock)
          return Effect.flatMap(sendGenerate(account, order), (response) =>
            "taskId" in response ? awaitTask(response, startedAt, onJob) : Effect.succeed(response)
          )
        })
    }
    const generateOnce = makeGenerate({ ...limits.image, longTextBytes: LONG_IMAGE_BYTES })
    /** The call for answers that are merged, which have to be decoded fully. */
    const generateDecoded = makeGenerate(limits.image)

    const inSpan = withSpan(`${protocol}.generate`)
    const generateAll = (account: ChannelAccount, order: ImageOrder, onJob: OnJob) => {
      const count = imageCount(order.body)
      if (count === 1 || !isOneByOne(order)) return generateOnce(account, order, onJob)
      const singleOrder = { ...order, body: { ...order.body, n: 1 } }
      return generateOneByOne(generateDecoded(account, singleOrder, onJob), count, timeout)
    }
    const generate: ImageAdapter["generate"] = (
      account,
      order,
      onJob = () => Effect.void,
      onDelivered = () => {}
    ) =>
      generateAll(account, order, onJob).pipe(
        Effect.flatMap(({ result, surplus, delivered }) => {
          if (delivered !== undefined) onDelivered(delivered)
          const withTime = withCreationTime(result)
          return Effect.andThen(reportSurplus(account, surplus), withTime)
        }),
        inSpan
      )

    return {
      generate,
      ...(readStream === undefined
        ? {}
        : {
            stream: makeImageStreaming(wire, limits.imageStream, {
              generateRequest,
              refusals,
              readStream
            })
          }),
      ...(check === undefined ? {} : { check: makeCheck(wire, check, limits) }),
      ...(models === undefined ? {} : { listModels: makeModelList(wire, limits, models) }),
      ...(takesBytes === undefined ? {} : { takesBytes }),
      ...(cancel === undefined
        ? {}
        : {
            cancel: {
              jobs: cancel.jobs,
              isQueue: cancel.isQueue,
              send: makeCall(wire)(cancel.cancelRequest, cancel.readCancelled, limits.poll),
              poll: makeCall(wire)(cancel.statusRequest, cancel.readStatus, limits.poll)
            }
          }),
      ...(checksOrders
        ? {
            checkOrder: (order: ImageOrder) =>
              Result.map(generateRequest(placeholderAccount, order), () => undefined)
          }
        : {})
    } satisfies ImageAdapter
  })

const makeImageStreaming = (
  wire: VendorWire["Service"],
  limits: StreamOptions,
  {
    generateRequest,
    refusals,
    readStream
  }: Required<Pick<ImageDialect, "generateRequest" | "refusals" | "readStream">>
): NonNullable<ImageAdapter["stream"]> =>
  Effect.fnUntraced(function* (account, order, take) {
    const images = readStream(account, order, limits)
    let isWanted = true
    const takePiece = (piece: ImagePiece | null) =>
      piece === null || !isWanted
        ? Effect.void
        : Effect.map(take(piece), (canContinue) => {
            isWanted = canContinue
          })
    const takeEvents = Effect.fnUntraced(function* (events: ReadonlyArray<Buffer>) {
      for (const event of events) {
        const { piece, isLast } = images.read(event)
        yield* takePiece(piece)
        if (isLast || !isWanted) return true
      }
      return false
    })
    const request = yield* Effect.fromResult(generateRequest(account, order))
    const answer = yield* sendForEvents(wire, request, limits, takeEvents).pipe(
      Effect.catchTag("VendorLost", (failure) =>
        images.isComplete() ? Effect.succeed(null) : Effect.fail(failure)
      )
    )
    if (answer !== null && !answer.isStream) {
      const pieces = images.readWhole(answer)
      if ("_tag" in pieces) return yield* judgeFailure(refusals(order), answer, pieces)
      yield* Effect.forEach(pieces, takePiece, { discard: true })
    }
    yield* reportSurplus(account, images.surplus())
    const failure = answer === null || !isWanted ? null : images.failure(answer)
    if (failure !== null) return yield* failure
  })

/** Whether a result has a valid `created`. */
export const hasCreationTime = ({ created }: Readonly<Record<string, unknown>>): boolean =>
  Number.isSafeInteger(created)

/** The result with the current time as `created`, if it has no valid one. */
const withCreationTime = (result: ImageResult): Effect.Effect<ImageResult> =>
  result instanceof RawAnswer || hasCreationTime(result)
    ? Effect.succeed(result)
    : Effect.map(Clock.currentTimeMillis, (millis) => ({
        ...result,
        created: Math.floor(millis / 1000)
      }))

const pollImageTask = (
  wire: VendorWire["Service"],
  { pollRequest, readPolled }: ImageTask,
  { poll, pollInterval }: VendorLimits
) =>
  Effect.flatMap(send(wire, pollRequest, poll), (answer) => {
    const outcome = readPolled(answer)
    return outcome === null || !("resultRequest" in outcome)
      ? Effect.succeed(outcome)
      : Effect.map(send(wire, outcome.resultRequest, poll), outcome.readResult)
  }).pipe(
    Effect.updateService(CurrentCallSubjects, (current) =>
      current === null
        ? null
        : {
            ...current,
            subjects: current.subjects.map((subject) => ({ ...subject, purpose: "poll" as const }))
          }
    ),
    Effect.catch(() => Effect.succeed(null)),
    Effect.delay(pollInterval),
    Effect.repeat({ until: (outcome): outcome is Outcome<GeneratedImages> => outcome !== null })
  )

/** Adds the task id to a failure, so that an operator can look for the task. */
const withTaskId = (upstreamId: string, failure: VendorFailure): VendorFailure => {
  switch (failure._tag) {
    case "VendorLost":
      return new VendorLost({ ...failure, message: failure.message, upstreamId })
    case "VendorRefused":
      return new VendorRefused({ ...failure, message: failure.message, upstreamId })
    case "VendorUnreachable":
      return failure
  }
}

/** Reports images beyond the ordered number, which the vendor may bill. */
const reportSurplus = (account: ChannelAccount, surplus: number): Effect.Effect<void> => {
  if (surplus <= 0) return Effect.void
  const counter = Metric.withAttributes(surplusImages, { channel: account.channelId })
  return Metric.update(counter, surplus).pipe(
    Effect.andThen(Effect.logWarning("image order: vendor returned more images than ordered")),
    Effect.annotateLogs({ channel: account.channelId, surplus })
  )
}
