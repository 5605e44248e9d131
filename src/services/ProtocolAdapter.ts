/**
 * The port to vendors, independent of their protocols. Adapters are stateless: the account is an
 * argument of each call, so one adapter serves every channel of its protocol.
 */
import { Clock, Context, Effect, type Redacted, type Result } from "effect"
import { builtInProtocols, type ProtocolTables } from "../domain/catalog/ProtocolTables.ts"
import type { VendorValues } from "../domain/catalog/vendorParameters.ts"
import type { ImageBody, ImageEdit } from "../domain/image/ImageRequest.ts"
import type { DeliveredImages } from "../domain/image/ImageTokenQuote.ts"
import type { RawAnswer } from "../domain/RawAnswer.ts"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import type { ResponsesBody } from "../domain/responses/ResponsesRequest.ts"
import type { SpeechBody } from "../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { TranscriptionBody } from "../domain/transcription/TranscriptionRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { Resolution } from "../domain/video/tiers.ts"
import type { VideoUsage } from "../domain/video/VideoCharge.ts"
import type { VideoBlock } from "../domain/video/VideoInput.ts"
import type { VideoStills } from "../domain/video/videoStills.ts"

export interface ChannelAccount {
  readonly channelId: string
  /** The base address as the operator wrote it; adapters normalize it for their paths. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  /** Application id, for the protocols that need one. */
  readonly appId: string | null
}

export interface VideoOrder {
  /** The gateway's task id, sent as the client token where the protocol has one. */
  readonly taskId: string
  readonly upstreamModel: string
  /**
   * The protocol under which the catalog lists the model; the order may be sent by another
   * protocol.
   */
  readonly listedProtocol: string
  readonly blocks: ReadonlyArray<VideoBlock>
  readonly seconds: number | "smart"
  /** The ordered resolution; null where the protocol has no such field. */
  readonly resolution: Resolution | null
  readonly ratio: string | null
  readonly generateAudio: boolean | null
  /** The ordered vendor parameters of the protocol, already validated. */
  readonly parameters: VendorValues
}

/** Identifies a job at the vendor, and the vendor's model that runs it. */
export interface JobRef {
  /** The vendor's id of the job, as the answer to its order had it. */
  readonly upstreamId: string
  readonly upstreamModel: string
}

/** Identifies the job of a video. */
export interface VideoTaskRef extends JobRef {
  /** The protocol under which the catalog listed the model when the task was ordered. */
  readonly listedProtocol: string
  /** Whether the order asked for a file with the watermark "made by AI"; false when left out. */
  readonly isMarked?: boolean
}

export type VideoStatus =
  /**
   * `unknownStatus` is the status as the vendor names it. It is set only where the adapter does not
   * know this status. `isQueued` is set where the vendor reports that it has not begun the job.
   */
  | { readonly _tag: "Processing"; readonly unknownStatus?: string; readonly isQueued?: true }
  | {
      readonly _tag: "Succeeded"
      readonly videoUrl: string
      readonly usage: VideoUsage
      /** The pictures that the vendor has beside the video; missing where it has none. */
      readonly stills?: VideoStills
    }
  | { readonly _tag: "Failed"; readonly code: string; readonly message: string }
  /**
   * The vendor does not know the task, or has deleted it. Whether the job succeeded stays unknown.
   */
  | { readonly _tag: "Unknown" }

/** The vendor's answer to a request to cancel a job. */
export type CancelAnswer =
  /** The job has ended without a product, and the vendor does not bill it. */
  | { readonly _tag: "Cancelled" }
  /** The vendor took the request; a poll shows how the job ends. */
  | { readonly _tag: "Requested" }
  /** The vendor does not cancel the job in its present state, so the job goes on. */
  | { readonly _tag: "Refused"; readonly message: string }

export interface JobCancel<Job extends JobRef> {
  /**
   * Which jobs may be cancelled: those that the vendor has not begun, or all that have not ended.
   * For `queued` the job is polled first, because such vendors delete ended jobs by the same
   * request.
   */
  readonly jobs: "queued" | "unfinished"
  /** Asks the vendor once. A failure says nothing about the state of the job. */
  send(account: ChannelAccount, job: Job): Effect.Effect<CancelAnswer, VendorFailure>
}

/** How the job of images is, as far as a cancel needs to know. */
export type ImageJobStatus = "queued" | "cancelled" | "other"

export interface ImageCancel extends JobCancel<JobRef> {
  /**
   * Whether the vendor answers every order with a job. Where it may answer with the images instead,
   * an order that is not answered yet cannot be cancelled.
   */
  readonly isQueue: boolean
  /** Polls the job once. A failure of the poll says nothing about the state of the job. */
  poll(account: ChannelAccount, job: JobRef): Effect.Effect<ImageJobStatus, VendorFailure>
}

/**
 * Sends a request without side effects at the vendor. Succeeds where the response shows that the
 * vendor accepts the account.
 */
export type VendorCheck = (account: ChannelAccount) => Effect.Effect<void, VendorFailure>

/** Reads the ids of the models that the vendor offers to the account. */
export type VendorModelList = (
  account: ChannelAccount
) => Effect.Effect<ReadonlyArray<string>, VendorFailure>

interface Checkable {
  /** The check of an account; absent where the protocol has no request without side effects. */
  readonly check?: VendorCheck
  /** Absent where the protocol has no list of models. */
  readonly listModels?: VendorModelList
}

interface MediaInputs {
  /**
   * Set where the vendor loads no media from addresses, so that an order needs the bytes of its
   * files.
   */
  readonly takesBytes?: true
}

export interface VideoAdapter extends Checkable, MediaInputs {
  /**
   * Checks, without sending a request, whether the order can be expressed in the vendor's API.
   * Fails with the same error as `submit` where it cannot.
   */
  readonly checkOrder?: (order: VideoOrder) => Result.Result<void, VendorFailure>
  /**
   * Starts a paid job and returns the vendor's task id, with any prefix that a poll needs to find
   * the job. Never retried on failure.
   */
  submit(account: ChannelAccount, order: VideoOrder): Effect.Effect<string, VendorFailure>
  /** Polls the job once. A failure of the poll says nothing about the state of the job. */
  poll(account: ChannelAccount, task: VideoTaskRef): Effect.Effect<VideoStatus, VendorFailure>
  /**
   * Polling of many jobs of an account in one request; absent where the protocol has no such
   * request.
   */
  readonly batchPoll?: VideoBatchPoll
  /** Absent where the protocol cannot cancel a job. */
  readonly cancel?: JobCancel<VideoTaskRef>
  /**
   * The headers with which the files of jobs are loaded from the origin of the account's address.
   * Absent where everybody can load them by their addresses.
   */
  readonly fileHeaders?: (account: ChannelAccount) => Readonly<Record<string, string>>
  /**
   * Set where the vendor extends only videos that it made itself, which it gets by its own addresses
   * of their files. Absent where it loads the video from any address.
   */
  readonly ownVideos?: OwnVideos
}

/** The videos of a vendor that it can extend. */
export interface OwnVideos {
  /** The resolutions that can be extended. */
  readonly resolutions: ReadonlyArray<Resolution>
  /** The time after its end for which a video can be extended. */
  readonly keptSeconds: number
}

export interface VideoBatchPoll {
  /** Maximum number of jobs in one request. */
  readonly maxJobs: number
  /** False for a job whose id cannot safely be part of a list. */
  canShare(task: VideoTaskRef): boolean
  /**
   * Returns the status of each job by upstream id. An id that is missing from the result is unknown
   * to the vendor. A job whose part of the response could not be read has its own failure, which
   * says nothing about the other jobs. A failure of the whole request says nothing about any job.
   */
  poll(
    account: ChannelAccount,
    tasks: ReadonlyArray<VideoTaskRef>
  ): Effect.Effect<ReadonlyMap<string, Result.Result<VideoStatus, VendorFailure>>, VendorFailure>
}

/** `{created, data: [{url} | {b64_json}]}` as in OpenAI's API; further fields may follow. */
export type ImageResult = Readonly<Record<string, unknown>> | RawAnswer

export interface ImageAdapter extends Checkable, MediaInputs {
  /**
   * Checks, without sending a request, whether the order can be expressed in the vendor's API.
   * Fails with the same error as `generate` where it cannot.
   */
  readonly checkOrder?: (order: ImageOrder) => Result.Result<void, VendorFailure>
  /**
   * Generates the images and waits for them. Never retried on failure. Where the vendor responds
   * with a job, `onJob` is called before the wait, and the order fails if `onJob` fails.
   * `onDelivered` is called with the ordered images that came and the tokens that the vendor counted
   * for them.
   */
  generate(
    account: ChannelAccount,
    order: ImageOrder,
    onJob?: (upstreamId: string) => Effect.Effect<void, VendorFailure>,
    onDelivered?: (delivered: DeliveredImages) => void
  ): Effect.Effect<ImageResult, VendorFailure>
  /** Absent where the vendor makes images in one call, or cannot cancel a job of images. */
  readonly cancel?: ImageCancel
  /**
   * Generates the images and passes every event to `take` as it arrives, until `take` returns
   * false. Fails also when the stream breaks, contains an error or ends without a final image, even
   * after `take` has received events. The time that `take` needs does not count as vendor time.
   * Absent where no vendor of the protocol streams.
   */
  readonly stream?: (
    account: ChannelAccount,
    order: ImageOrder,
    take: (piece: ImagePiece) => Effect.Effect<boolean>
  ) => Effect.Effect<void, VendorFailure>
}

/** A server-sent event of a streamed image response. */
export interface ImagePiece {
  /** The bytes of the event as the client gets it, including the blank line that ends it. */
  readonly event: Uint8Array
  /** True where the event may contain an image, which may be partial or final. */
  readonly hasImage: boolean
  /** The finished images of the event; absent where it has none that was not counted before. */
  readonly delivered?: DeliveredImages
}

/** A client's request body, with the vendor's name of the model. */
export interface ModelOrder<Body> {
  readonly upstreamModel: string
  readonly body: Body
}

export interface ImageOrder extends ModelOrder<ImageBody> {
  /** The images to edit; null or absent for new images. */
  readonly edit?: ImageEdit | null
  /**
   * Whether the client reads the images later, so that the vendor need not wait for them; false if
   * missing.
   */
  readonly isReadLater?: boolean
}

/**
 * The vendor's response in the form of OpenAI's API, with the token counts that the charge depends
 * on.
 */
export interface TextAnswer {
  readonly result: Readonly<Record<string, unknown>>
  /**
   * The bytes of a response that is too large to decode; `result` then has only some of its fields.
   * Absent where `result` is the whole response.
   */
  readonly raw?: RawAnswer
  /** Token counts; null where the vendor sent none, or sent values that are not whole numbers. */
  readonly usage: TokenCounts | null
  /** The length of the ordered sound as the vendor reports it; absent where it reports none. */
  readonly seconds?: number
  /** UTF-8 bytes of the generated text. */
  readonly outputBytes: number
}

/** A server-sent event of a streamed text response. */
export interface TextPiece {
  /** The event with the blank line that ends it; null when it is not for the client. */
  readonly event: Uint8Array | null
  /**
   * Token counts of the whole response; null where the event has none. Counts that the vendor sends
   * while it still generates text are left out, because they may cover only a part of the response.
   */
  readonly usage: TokenCounts | null
  readonly outputBytes: number
}

/** The vendor's own Responses API. */
export interface ResponsesAdapter {
  /** Waits for the complete response, which is the `result`. Never retried on failure. */
  complete(
    account: ChannelAccount,
    order: ModelOrder<ResponsesBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
  /**
   * Passes the events of the response to `take` as they arrive, the last one too. Fails also when
   * the stream breaks, or ends with a failed response, after `take` has received events.
   */
  stream(
    account: ChannelAccount,
    order: ModelOrder<ResponsesBody>,
    take: (pieces: ReadonlyArray<TextPiece>) => Effect.Effect<void>
  ): Effect.Effect<void, VendorFailure>
}

export interface TextAdapter extends Checkable {
  /** Absent where the vendor has chats alone. */
  readonly responses?: ResponsesAdapter
  /** Waits for the complete response. Never retried on failure. */
  complete(
    account: ChannelAccount,
    order: ModelOrder<ChatBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
  /**
   * Passes the events to `take` as they arrive, those that arrived together in one call, and reads
   * the next events when `take` has ended. The event that marks the end of the stream is left out.
   * Fails also when the stream breaks or contains an error after `take` has received events. The
   * time that `take` needs does not count as vendor time.
   */
  stream(
    account: ChannelAccount,
    order: ModelOrder<ChatBody>,
    take: (pieces: ReadonlyArray<TextPiece>) => Effect.Effect<void>
  ): Effect.Effect<void, VendorFailure>
  embed(
    account: ChannelAccount,
    order: ModelOrder<EmbeddingBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
}

export interface RerankAdapter extends Checkable {
  /**
   * Compares the documents with the query and waits for the results. Never retried on failure. The
   * answer has no generated text.
   */
  rerank(
    account: ChannelAccount,
    order: ModelOrder<RerankBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
}

/** A part of an answer that is passed on as it arrives: some of its bytes, or an event. */
export interface WorkPiece {
  /** The bytes for the client; null where the piece has only the usage. */
  readonly bytes: Uint8Array | null
  /** Whether the piece has a part of the product: of a sound, or of a text. */
  readonly hasProduct: boolean
  /** Token counts of the whole order; null where the piece has none. */
  readonly usage: TokenCounts | null
  /** The length of the ordered sound as the vendor reports it; absent where the piece has none. */
  readonly seconds?: number
  /** UTF-8 bytes of generated text. */
  readonly outputBytes: number
}

/** The vendor's side of spoken texts. */
export interface SpeechAdapter {
  /**
   * Passes the sound to `take` as it arrives. Fails also when the sound breaks off after `take` has
   * received a part of it, and when it ends before any part. The time that `take` needs does not
   * count as vendor time.
   */
  speak(
    account: ChannelAccount,
    order: ModelOrder<SpeechBody>,
    take: (pieces: ReadonlyArray<WorkPiece>) => Effect.Effect<void>
  ): Effect.Effect<void, VendorFailure>
}

export interface TranscriptionOrder extends ModelOrder<TranscriptionBody> {
  /** The sound as a data URL in base64. */
  readonly sound: string
  /** Whether the text is translated into English. */
  readonly isTranslation: boolean
}

/** The vendor's side of transcriptions. */
export interface TranscriptionAdapter {
  /** Waits for the complete text. Never retried on failure. */
  transcribe(
    account: ChannelAccount,
    order: TranscriptionOrder
  ): Effect.Effect<TextAnswer, VendorFailure>
  /**
   * Passes the events of the text to `take` as they arrive. Fails also when the stream breaks off,
   * or contains an error, after `take` has received events.
   */
  stream(
    account: ChannelAccount,
    order: TranscriptionOrder,
    take: (pieces: ReadonlyArray<WorkPiece>) => Effect.Effect<void>
  ): Effect.Effect<void, VendorFailure>
}

export interface AudioAdapter extends Checkable {
  /** Absent where the protocol speaks no texts. */
  readonly speech?: SpeechAdapter
  /** Absent where the protocol transcribes no sounds. */
  readonly transcription?: TranscriptionAdapter
}

/** All adapters by the name of their protocol. */
export interface Adapters {
  readonly video: ReadonlyMap<string, VideoAdapter>
  readonly image: ReadonlyMap<string, ImageAdapter>
  readonly text: ReadonlyMap<string, TextAdapter>
  /** Absent, as `audio`, where a program that replaces the adapters has none. */
  readonly rerank?: ReadonlyMap<string, RerankAdapter>
  readonly audio?: ReadonlyMap<string, AudioAdapter>
}

export class ProtocolAdapter extends Context.Service<ProtocolAdapter, Adapters>()(
  "gateway/services/ProtocolAdapter"
) {}

/**
 * The protocols of this gateway: the built-in ones, unless a layer replaces them. Every additional
 * protocol needs an adapter of the same name in `ProtocolAdapter`.
 */
export const Protocols = Context.Reference<ProtocolTables>("gateway/services/Protocols", {
  defaultValue: () => builtInProtocols
})

/**
 * The vendor time of a request: the nanoseconds for which the request has waited for vendors so
 * far, and whether it is waiting at the moment. The rest of the request's duration is the gateway's
 * overhead. Null where vendor time is not measured.
 */
export const VendorTime = Context.Reference<{ nanos: bigint; isWaiting: boolean } | null>(
  "gateway/services/VendorTime",
  { defaultValue: () => null }
)

/** Counts the duration of the effect as vendor time; nested calls do not count twice. */
export const asVendorTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const total = fiber.getRef(VendorTime)
    if (total === null || total.isWaiting) return effect
    const clock = fiber.getRef(Clock.Clock)
    const startedAtNanos = clock.currentTimeNanosUnsafe()
    total.isWaiting = true
    return Effect.onExitPrimitive(effect, () => {
      total.nanos += clock.currentTimeNanosUnsafe() - startedAtNanos
      total.isWaiting = false
      return undefined
    })
  })
