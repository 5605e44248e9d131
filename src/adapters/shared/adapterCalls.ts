/** The calls of every adapter, made from what its protocol writes and reads. */
import { Clock, Duration, Effect, Metric, type Result } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { type VendorFailure, VendorLost, VendorRefused } from "../../domain/VendorOutcome.ts"
import type { VideoExtras } from "../../domain/video/VideoRequest.ts"
import { CurrentCallSubjects } from "../../services/CallLog.ts"
import { surplusImages } from "../../services/metrics.ts"
import type {
  ChannelAccount,
  ImageAdapter,
  ImageOrder,
  ImageResult,
  VideoAdapter,
  VideoOrder,
  VideoPollTogether,
  VideoStatus,
  VideoTaskRef
} from "../../services/ProtocolAdapter.ts"
import { VendorLimits } from "../wire/limits.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import type { SendOptions, VendorAnswer } from "../wire/vendorAnswer.ts"
import { timedOut } from "../wire/vendorFailures.ts"
import { send, sendOutlined } from "../wire/vendorHttp.ts"
import type { VendorRequest } from "../wire/vendorRequest.ts"

type Written = Result.Result<VendorRequest, VendorFailure>
type Read<A> = Result.Result<A, VendorFailure>

/** What a task is known to be; with its own failure where its part of an answer cannot be read. */
export type VideoStatuses = ReadonlyMap<string, Read<VideoStatus>>

/** How a vendor of videos is asked, and what its answers mean. */
export interface VideoDialect {
  /** Fails where the vendor has no field for what is ordered: nothing is sent then. */
  readonly submitRequest: (account: ChannelAccount, order: VideoOrder) => Written
  /** The vendor's task id, with what else a poll needs to find it. */
  readonly readSubmitted: (
    account: ChannelAccount,
    answer: VendorAnswer,
    order: VideoOrder
  ) => Read<string>
  readonly pollRequest: (account: ChannelAccount, task: VideoTaskRef) => Written
  readonly readPolled: (
    account: ChannelAccount,
    answer: VendorAnswer,
    task: VideoTaskRef
  ) => Read<VideoStatus>
  /** Which extras it has a field for, for a model listed under this protocol. */
  readonly extras: (listedProtocol: string) => ReadonlyArray<keyof VideoExtras>
  /** Where the vendor answers for many tasks of an account in one request. */
  readonly together?: Pick<VideoPollTogether, "most" | "mayShare"> & {
    readonly pollRequest: (account: ChannelAccount, tasks: ReadonlyArray<VideoTaskRef>) => Written
    readonly readPolled: (
      account: ChannelAccount,
      answer: VendorAnswer,
      tasks: ReadonlyArray<VideoTaskRef>
    ) => Read<VideoStatuses>
  }
}

export const videoCalls = (protocol: string, dialect: VideoDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const limits = yield* VendorLimits

    const call = Effect.fnUntraced(function* <A>(
      written: Written,
      options: SendOptions,
      read: (answer: VendorAnswer) => Read<A>
    ) {
      const answer = yield* send(wire, yield* Effect.fromResult(written), options)
      return yield* Effect.fromResult(read(answer))
    })

    const submit: VideoAdapter["submit"] = Effect.fn(`${protocol}.submit`)((account, order) =>
      call(dialect.submitRequest(account, order), limits.submit, (answer) =>
        dialect.readSubmitted(account, answer, order)
      )
    )
    const poll: VideoAdapter["poll"] = (account, task) =>
      call(dialect.pollRequest(account, task), limits.poll, (answer) =>
        dialect.readPolled(account, answer, task)
      )
    const { extras, together } = dialect
    if (together === undefined) return { submit, poll, extras } satisfies VideoAdapter

    const { most, mayShare, pollRequest, readPolled } = together
    const pollTogether: VideoPollTogether["poll"] = (account, tasks) =>
      call(pollRequest(account, tasks), limits.poll, (answer) => readPolled(account, answer, tasks))
    return {
      submit,
      poll,
      extras,
      together: { most, mayShare, poll: pollTogether }
    } satisfies VideoAdapter
  })

/** Images that are there. */
export interface Drawn {
  /** In the standard form; the time is filled in where the vendor tells none. */
  readonly result: ImageResult
  /** Images that came beyond those ordered, and are left out. */
  readonly surplus: number
}

/** A task that a vendor of images answers where it has not made them yet. */
export interface Drawing {
  readonly taskId: string
  readonly pollRequest: VendorRequest
  /** Null while there is no verdict: a question that fails says nothing about the images. */
  readonly readPolled: (answer: VendorAnswer) => Read<Drawn> | null
}

/** How a vendor of images is asked, and what its answers mean. */
export interface ImageDialect {
  readonly generateRequest: (account: ChannelAccount, order: ImageOrder) => VendorRequest
  readonly readGenerated: (
    account: ChannelAccount,
    answer: VendorAnswer,
    order: ImageOrder
  ) => Read<Drawn | Drawing>
}

export const imageCalls = (protocol: string, dialect: ImageDialect) =>
  Effect.gen(function* () {
    const wire = yield* VendorWire
    const limits = yield* VendorLimits
    const { timeout } = limits.image

    /** A task is asked for until it is done; the time limit of an image call holds for all of it. */
    const generate: ImageAdapter["generate"] = Effect.fn(`${protocol}.generate`)(
      function* (account, order) {
        const startedAt = yield* Clock.currentTimeMillis
        const answer = yield* sendOutlined(
          wire,
          dialect.generateRequest(account, order),
          limits.image
        )
        const said = yield* Effect.fromResult(dialect.readGenerated(account, answer, order))
        const drawn =
          "taskId" in said
            ? yield* awaitDrawn(wire, said, limits.poll).pipe(
                Effect.timeoutOrElse({
                  duration: Duration.subtract(
                    timeout,
                    Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
                  ),
                  orElse: () => Effect.fail(timedOut(timeout))
                }),
                Effect.flatMap(Effect.fromResult),
                Effect.mapError((failure) => ofTask(said.taskId, failure))
              )
            : said
        yield* noteSurplus(account, drawn.surplus)
        const { result } = drawn
        return result instanceof RawAnswer || isDated(result)
          ? result
          : { ...result, created: Math.floor((yield* Clock.currentTimeMillis) / 1000) }
      }
    )

    return { generate } satisfies ImageAdapter
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
    Effect.repeat({ until: (drawn): drawn is Read<Drawn> => drawn !== null })
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

/** Tells the operator of images that a vendor made and nobody ordered. */
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
