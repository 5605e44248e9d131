/**
 * The port to vendors, independent of their protocols. Adapters are stateless: the account is an
 * argument of each call, so one adapter serves every channel of its protocol.
 */
import { Clock, Context, Effect, type Redacted, type Result } from "effect"
import { builtInProtocols, type ProtocolTables } from "../domain/catalog/ProtocolTables.ts"
import type { VendorValues } from "../domain/catalog/vendorParameters.ts"
import type { ImageBody, ImageEdit } from "../domain/image/ImageRequest.ts"
import type { RawAnswer } from "../domain/RawAnswer.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type { Resolution } from "../domain/video/tiers.ts"
import type { VideoBlock } from "../domain/video/VideoInput.ts"
import type { VideoUsage } from "../domain/video/VideoQuote.ts"

export interface ChannelAccount {
  readonly channelId: string
  /** As the operator wrote it; adapters normalize it for their paths. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  /** Application id, for the protocols that need one. */
  readonly appId: string | null
}

export interface VideoOrder {
  /** Our task id, handed over as the client token where the protocol has one. */
  readonly taskId: string
  readonly upstreamModel: string
  /** The protocol the catalog lists the model under; it may be called by another. */
  readonly listedProtocol: string
  readonly blocks: ReadonlyArray<VideoBlock>
  readonly seconds: number | "smart"
  /** Null where the protocol takes none. */
  readonly resolution: Resolution | null
  readonly ratio: string | null
  readonly generateAudio: boolean | null
  /** Those of the protocol's row that were ordered, checked. */
  readonly parameters: VendorValues
}

/** Identifies a task at the vendor, and the vendor's model that runs it. */
export interface VideoTaskRef {
  /** As `submit` answered it. */
  readonly upstreamId: string
  readonly upstreamModel: string
  /** As it was when the task was ordered. */
  readonly listedProtocol: string
  /** Whether a file that is marked as made by AI was ordered; false when left out. */
  readonly isMarked?: boolean
}

export type VideoStatus =
  /** `strangeWord` is set to a status name of the vendor that no table has. */
  | { readonly _tag: "Processing"; readonly strangeWord?: string }
  | { readonly _tag: "Succeeded"; readonly videoUrl: string; readonly usage: VideoUsage }
  | { readonly _tag: "Failed"; readonly code: string; readonly message: string }
  /** The vendor does not know the task (any more): no verdict yet. */
  | { readonly _tag: "Unknown" }

/**
 * Sends a request that creates nothing. Succeeds where the answer shows that the vendor accepts the
 * account.
 */
export type VendorCheck = (account: ChannelAccount) => Effect.Effect<void, VendorFailure>

interface Checkable {
  /** Absent where the protocol has no such request. */
  readonly check?: VendorCheck
}

export interface VideoAdapter extends Checkable {
  /** Fails like `submit` where the vendor's interface has no field for the order, without sending anything. */
  readonly place?: (order: VideoOrder) => Result.Result<void, VendorFailure>
  /**
   * Starts a paid job and returns the vendor's task id, with any prefix that a poll needs to find it.
   * Never repeated on failure.
   */
  submit(account: ChannelAccount, order: VideoOrder): Effect.Effect<string, VendorFailure>
  /** Polls the job once. A failure says nothing about the job. */
  poll(account: ChannelAccount, task: VideoTaskRef): Effect.Effect<VideoStatus, VendorFailure>
  /** Set where one request can poll many jobs of an account. */
  readonly together?: VideoPollTogether
}

export interface VideoPollTogether {
  /** The most jobs in one request. */
  readonly most: number
  /** False for a job whose id cannot safely be part of a list. */
  mayShare(task: VideoTaskRef): boolean
  /**
   * Answers by upstream id. An id without an answer is unknown to the vendor; one whose answer could
   * not be read has its own failure, which says nothing about the others. A failure of the whole
   * says nothing about any.
   */
  poll(
    account: ChannelAccount,
    tasks: ReadonlyArray<VideoTaskRef>
  ): Effect.Effect<ReadonlyMap<string, Result.Result<VideoStatus, VendorFailure>>, VendorFailure>
}

/** `{created, data: [{url} | {b64_json}]}` in the standard form; further fields may follow. */
export type ImageResult = Readonly<Record<string, unknown>> | RawAnswer

export interface ImageAdapter extends Checkable {
  /**
   * Generates the images and waits for them. Never repeated on failure. Where the vendor answers with a
   * job, `onJob` is called before the wait, and the order fails if `onJob` fails.
   */
  generate(
    account: ChannelAccount,
    order: ImageOrder,
    onJob?: (upstreamId: string) => Effect.Effect<void, VendorFailure>
  ): Effect.Effect<ImageResult, VendorFailure>
  /**
   * Generates the images and passes every event to `take` as it arrives, until `take` answers false. Fails
   * also when the stream breaks, contains an error or ends without a final image, even after events were
   * taken. The time of `take` does not count as the vendor's. Absent where no vendor of the protocol streams.
   */
  readonly stream?: (
    account: ChannelAccount,
    order: ImageOrder,
    take: (piece: ImagePiece) => Effect.Effect<boolean>
  ) => Effect.Effect<void, VendorFailure>
}

/** A server-sent event of images that are being generated. */
export interface ImagePiece {
  /** The event as the client gets it, with the blank line that ends it. */
  readonly event: Uint8Array
  /** True where the event may contain an image, partial or final. */
  readonly hasImage: boolean
}

/** A client's body, and the vendor's name of the model. */
export interface ModelOrder<Body> {
  readonly upstreamModel: string
  readonly body: Body
}

export interface ImageOrder extends ModelOrder<ImageBody> {
  /** The pictures to change; absent for new images. */
  readonly edit?: ImageEdit | null
}

/** The vendor's answer in the standard form, with the counts that the charge depends on. */
export interface TextAnswer {
  readonly result: Readonly<Record<string, unknown>>
  /** The undecoded large answer, of which `result` is an outline. */
  readonly raw?: RawAnswer
  /** Null where the vendor gave no counts, or not in whole numbers. */
  readonly usage: TokenCounts | null
  /** UTF-8 bytes of the generated text. */
  readonly outputBytes: number
}

/** A server-sent event of a streamed answer. */
export interface TextPiece {
  /** The event with the blank line that ends it; null when it is not for the client. */
  readonly event: Uint8Array | null
  /** Counts of the whole answer so far; null also for counts that the vendor sends in mid-stream. */
  readonly usage: TokenCounts | null
  readonly outputBytes: number
}

export interface TextAdapter extends Checkable {
  /** Waits for the complete answer. Never repeated on failure. */
  complete(
    account: ChannelAccount,
    order: ModelOrder<ChatBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
  /**
   * Passes every event to `take` as it arrives, and reads the next one when `take` has ended. The event
   * that ends the stream is left out. Fails also when the stream breaks or contains an error after
   * events were taken. The time of `take` does not count as the vendor's.
   */
  stream(
    account: ChannelAccount,
    order: ModelOrder<ChatBody>,
    take: (piece: TextPiece) => Effect.Effect<void>
  ): Effect.Effect<void, VendorFailure>
  embed(
    account: ChannelAccount,
    order: ModelOrder<EmbeddingBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
}

/** All adapters by the name of their protocol. */
export interface Adapters {
  readonly video: ReadonlyMap<string, VideoAdapter>
  readonly image: ReadonlyMap<string, ImageAdapter>
  readonly text: ReadonlyMap<string, TextAdapter>
}

export class ProtocolAdapter extends Context.Service<ProtocolAdapter, Adapters>()(
  "gateway/services/ProtocolAdapter"
) {}

/**
 * The protocols of this gateway: the built-in ones, unless a layer replaces them. A row that is added
 * here needs an adapter of the same name in `ProtocolAdapter`.
 */
export const Protocols = Context.Reference<ProtocolTables>("gateway/services/Protocols", {
  defaultValue: () => builtInProtocols
})

/**
 * How many nanoseconds a request has waited for vendors so far, and whether it waits at the moment;
 * null where it is not measured. The remaining time of the request is the gateway's overhead.
 */
export const VendorTime = Context.Reference<{ nanos: bigint; isWaiting: boolean } | null>(
  "gateway/services/VendorTime",
  { defaultValue: () => null }
)

/** Counts the effect as time of the vendor; nested calls do not count twice. */
export const asVendorTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const total = fiber.getRef(VendorTime)
    if (total === null || total.isWaiting) return effect
    const clock = fiber.getRef(Clock.Clock)
    const started = clock.currentTimeNanosUnsafe()
    total.isWaiting = true
    return Effect.onExitPrimitive(effect, () => {
      total.nanos += clock.currentTimeNanosUnsafe() - started
      total.isWaiting = false
      return undefined
    })
  })
