/** The calls of every adapter, made from what its protocol writes and reads. */
import { Clock, Duration, Effect, Metric, Redacted, Result } from "effect"
import { imageCount } from "../../domain/image/ImageRequest.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { type VendorFailure, VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { withSpan } from "../../runtime/spans.ts"
import { CurrentCallSubjects } from "../../services/CallLog.ts"
import { surplusImages } from "../../services/metrics.ts"
import type {
  ChannelAccount,
  ImageAdapter,
  ImageOrder,
  ImagePiece,
  VideoAdapter,
  VideoOrder,
  VideoPollTogether,
  VideoStatus,
  VideoTaskRef
} from "../../services/ProtocolAdapter.ts"
import { VendorLimits } from "../wire/limits.ts"
import { judged, type RefusalTable, refusalTable } from "../wire/refusalTable.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import type { SendOptions, VendorAnswer } from "../wire/vendorAnswer.ts"
import { timedOut } from "../wire/vendorFailures.ts"
import { send } from "../wire/vendorHttp.ts"
import type { VendorRequest } from "../wire/vendorRequest.ts"
import { type StreamOptions, sendForEvents } from "../wire/vendorStream.ts"
import { absentTask, type CheckDialect, NO_TASK, readCheck } from "./accountCheck.ts"
import type { ImageStream } from "./imageStream.ts"
import { drawOneByOne } from "./oneByOne.ts"
import type { Drawn } from "./standardImages.ts"

type Outcome<A> = Result.Result<A, VendorFailure>

/** Fails where the vendor has no field for what is asked: nothing is sent then. */
type Write<Asked> = (account: ChannelAccount, asked: Asked) => Outcome<VendorRequest>

/** What an answer means, or why it is of no use. */
export type Read<Asked, A> = (
  account: ChannelAccount,
  answer: VendorAnswer,
  asked: Asked
) => Outcome<A>

/** The table of the vendor's refusals; without one none is known, and each leaves a doubt. */
type RefusalsOf<Asked> = (asked: Asked) => RefusalTable

/** Reads the same, and knows a refusal that proves that nothing was made. */
export const judging =
  <Asked, A>(refusalsOf: RefusalsOf<Asked>, read: Read<Asked, A>): Read<Asked, A> =>
  (account, answer, asked) =>
    Result.mapError(read(account, answer, asked), (failure) =>
      judged(refusalsOf(asked), answer, failure)
    )

type Tasks = ReadonlyArray<VideoTaskRef>

/** How a vendor of videos is asked, and what its answers mean. */
export interface VideoDialect {
  readonly submitRequest: Write<VideoOrder>
  /** The vendor's task id, with what else a poll needs to find it. */
  readonly readSubmitted: Read<VideoOrder, string>
  readonly pollRequest: Write<VideoTaskRef>
  readonly readPolled: Read<VideoTaskRef, VideoStatus>
  /** How the vendor refuses, where its models are listed under the protocol. */
  readonly refusals?: RefusalsOf<string>
  /** The task that a check asks for, where it is not `NO_TASK` of the protocol itself. */
  readonly noTask?: Partial<VideoTaskRef>
  /** Where the vendor answers for many tasks of an account in one request. */
  readonly together?: Pick<VideoPollTogether, "most" | "mayShare"> & {
    readonly pollRequest: Write<Tasks>
    readonly readPolled: Read<Tasks, ReadonlyMap<string, Outcome<VideoStatus>>>
  }
}

const noRefusals = refusalTable([], {})

/** One question to a vendor and what its answer means, for orders of one kind. */
export const callsOver =
  (wire: VendorWire["Service"]) =>
  <Asked, A>(write: Write<Asked>, read: Read<Asked, A>, options: SendOptions) =>
    Effect.fnUntraced(function* (account: ChannelAccount, asked: Asked) {
      const request = yield* Effect.fromResult(write(account, asked))
      const answer = yield* send(wire, request, options)
      return yield* Effect.fromResult(read(account, answer, asked))
    })

/** Asks an account's vendor what creates nothing. */
export const checkOver = (
  wire: VendorWire["Service"],
  dialect: CheckDialect,
  limits: VendorLimits
) => {
  const ask = callsOver(wire)(dialect.checkRequest, readCheck(dialect), limits.poll)
  return (account: ChannelAccount): Effect.Effect<void, VendorFailure> => ask(account, undefined)
}

/** Where an order goes does not depend on who orders. */
const nobody: ChannelAccount = {
  channelId: "",
  baseUrl: "https://vendor.invalid",
  apiKey: Redacted.make(""),
  appId: null
}

export const videoCalls = (protocol: string, dialect: VideoDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const call = callsOver(wire)
    const limits = yield* VendorLimits
    const { submitRequest, pollRequest, refusals = () => noRefusals, together } = dialect
    const refusalsOf = ({ listedProtocol }: Pick<VideoTaskRef, "listedProtocol">) =>
      refusals(listedProtocol)
    const readPolled = judging(refusalsOf, dialect.readPolled)
    const submit = call(submitRequest, judging(refusalsOf, dialect.readSubmitted), limits.submit)
    const inSpan = withSpan(`${protocol}.submit`)
    const noTask: VideoTaskRef = {
      upstreamId: NO_TASK,
      upstreamModel: "",
      listedProtocol: protocol,
      ...dialect.noTask
    }
    const checks: CheckDialect = {
      checkRequest: (account) => pollRequest(account, noTask),
      readChecked: (account, answer) => readPolled(account, answer, noTask),
      refusals: refusalsOf(noTask),
      absentStatuses: absentTask
    }
    return {
      place: (order) => Result.map(submitRequest(nobody, order), () => undefined),
      submit: (account, order) => inSpan(submit(account, order)),
      poll: call(pollRequest, readPolled, limits.poll),
      check: checkOver(wire, checks, limits),
      ...(together === undefined
        ? {}
        : {
            together: {
              ...together,
              poll: call(
                together.pollRequest,
                judging((tasks) => refusalsOf(tasks[0] ?? noTask), together.readPolled),
                limits.poll
              )
            }
          })
    } satisfies VideoAdapter
  })

/** A task that a vendor of images answers where it has not made them yet. */
export interface Drawing {
  readonly taskId: string
  readonly pollRequest: VendorRequest
  /** Null while there is no verdict: a question that fails says nothing about the images. */
  readonly readPolled: (answer: VendorAnswer) => Outcome<Drawn> | null
}

/** How a vendor of images is asked, and what its answers mean. */
export interface ImageDialect {
  readonly generateRequest: Write<ImageOrder>
  readonly readGenerated: Read<ImageOrder, Drawn | Drawing>
  /** Whether a call makes one image of the order, so that several are as many calls. */
  readonly isOneByOne?: (order: ImageOrder) => boolean
  readonly refusals?: RefusalsOf<ImageOrder>
  /** How images are read that come while they are made, where the vendor has that. */
  readonly readStream?: (
    account: ChannelAccount,
    order: ImageOrder,
    options: SendOptions
  ) => ImageStream
  /** Where the vendor has a question that creates nothing. */
  readonly check?: CheckDialect
}

type OnJob = NonNullable<Parameters<ImageAdapter["generate"]>[2]>

/** Shorter texts of an answer are no images. */
const LONG_IMAGE_BYTES = 1024

export const imageCalls = (protocol: string, dialect: ImageDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const limits = yield* VendorLimits
    const { timeout } = limits.image
    const { generateRequest, refusals = () => noRefusals, readStream, check } = dialect
    const { isOneByOne = () => false } = dialect
    const readGenerated = judging(refusals, dialect.readGenerated)
    const drawWith = (options: SendOptions) => {
      const ask = callsOver(wire)(generateRequest, readGenerated, options)
      /** A task is asked for until it is done; the time limit of an image call holds for all of it. */
      return Effect.fnUntraced(function* (
        account: ChannelAccount,
        order: ImageOrder,
        onJob: OnJob
      ) {
        const startedAt = yield* monotonicMillis
        const said = yield* ask(account, order)
        if (!("taskId" in said)) return said
        yield* onJob(said.taskId)
        return yield* awaitDrawn(wire, said, limits.poll).pipe(
          Effect.timeoutOrElse({
            duration: Duration.subtract(
              timeout,
              Duration.millis((yield* monotonicMillis) - startedAt)
            ),
            orElse: () => Effect.fail(timedOut(timeout))
          }),
          Effect.flatMap(Effect.fromResult),
          Effect.mapError((failure) => ofTask(said.taskId, failure))
        )
      })
    }
    const draw = drawWith({ ...limits.image, longTextBytes: LONG_IMAGE_BYTES })
    /** Answers that are joined are decoded whole. */
    const drawDecoded = drawWith(limits.image)

    const inSpan = withSpan(`${protocol}.generate`)
    const generate: ImageAdapter["generate"] = Effect.fnUntraced(function* (
      account,
      order,
      onJob = () => Effect.void
    ) {
      const images = imageCount(order.body)
      const one = { ...order, body: { ...order.body, n: 1 } }
      const drawn = yield* images > 1 && isOneByOne(order)
        ? drawOneByOne(drawDecoded(account, one, onJob), images, timeout)
        : draw(account, order, onJob)
      yield* noteSurplus(account, drawn.surplus)
      const { result } = drawn
      return result instanceof RawAnswer || isDated(result)
        ? result
        : { ...result, created: Math.floor((yield* Clock.currentTimeMillis) / 1000) }
    }, inSpan)

    return {
      generate,
      ...(readStream === undefined
        ? {}
        : {
            stream: streamedImages(wire, limits.imageStream, {
              generateRequest,
              refusals,
              readStream
            })
          }),
      ...(check === undefined ? {} : { check: checkOver(wire, check, limits) })
    } satisfies ImageAdapter
  })

const streamedImages = (
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
    const takePiece = (piece: ImagePiece) =>
      Effect.map(take(piece), (goesOn) => {
        isWanted = goesOn
      })
    const takeEvent = (event: Uint8Array): Effect.Effect<boolean> => {
      const { piece, isLast } = images.read(event)
      return Effect.map(piece === null ? Effect.void : takePiece(piece), () => isLast || !isWanted)
    }
    const request = yield* Effect.fromResult(generateRequest(account, order))
    const answer = yield* sendForEvents(wire, request, limits, takeEvent).pipe(
      Effect.catchTag("VendorLost", (lost) =>
        images.isComplete() ? Effect.succeed(null) : Effect.fail(lost)
      )
    )
    if (answer !== null && !answer.streamed) {
      const pieces = images.whole(answer)
      if ("_tag" in pieces) return yield* judged(refusals(order), answer, pieces)
      for (const piece of pieces) if (isWanted) yield* takePiece(piece)
    }
    yield* noteSurplus(account, images.surplus())
    const failure = answer === null || !isWanted ? null : images.failure(answer)
    if (failure !== null) return yield* failure
  })

/** True for a result that tells when it was made. */
export const isDated = ({ created }: Readonly<Record<string, unknown>>): boolean =>
  Number.isSafeInteger(created)

const ASK_INTERVAL = "2 seconds"

const awaitDrawn = (
  wire: VendorWire["Service"],
  { pollRequest, readPolled }: Drawing,
  options: SendOptions
) =>
  send(wire, pollRequest, options).pipe(
    Effect.updateService(CurrentCallSubjects, (current) =>
      current === null
        ? null
        : {
            ...current,
            subjects: current.subjects.map((subject) => ({ ...subject, purpose: "poll" as const }))
          }
    ),
    Effect.map(readPolled),
    Effect.catch(() => Effect.succeed(null)),
    Effect.delay(ASK_INTERVAL),
    Effect.repeat({ until: (drawn): drawn is Outcome<Drawn> => drawn !== null })
  )

/** The same failure, with the task that can be looked for. */
const ofTask = (upstreamId: string, failure: VendorFailure): VendorFailure => {
  switch (failure._tag) {
    case "VendorLost":
      return new VendorLost({ ...failure, message: failure.message, upstreamId })
    case "VendorRefused":
      return new VendorRefused({ ...failure, message: failure.message, upstreamId })
    case "VendorUnreachable":
      return failure
  }
}

/** Tells the operator of images that a vendor made beyond the order. */
const noteSurplus = (account: ChannelAccount, images: number): Effect.Effect<void> =>
  images <= 0
    ? Effect.void
    : Metric.update(
        Metric.withAttributes(surplusImages, { channel: account.channelId }),
        images
      ).pipe(
        Effect.andThen(Effect.logWarning("a vendor made more images than were ordered")),
        Effect.annotateLogs({ channel: account.channelId, images })
      )
