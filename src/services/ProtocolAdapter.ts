/**
 * What the gateway asks of a vendor, whatever its protocol. Adapters are stateless: the account
 * comes with each call, so one adapter serves every channel that speaks its protocol.
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
  /** As the operator wrote it; adapters bring it to the form their paths need. */
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

/** Which task to ask for, and on which of the vendor's models it runs. */
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
  /** `strangeWord` is set when the vendor used a status word that no table has. */
  | { readonly _tag: "Processing"; readonly strangeWord?: string }
  | { readonly _tag: "Succeeded"; readonly videoUrl: string; readonly usage: VideoUsage }
  | { readonly _tag: "Failed"; readonly code: string; readonly message: string }
  /** The vendor does not know the task (any more): no verdict yet. */
  | { readonly _tag: "Unknown" }

/**
 * Asks something that creates nothing. Succeeds where the vendor answered as one that accepts the
 * account.
 */
export type VendorCheck = (account: ChannelAccount) => Effect.Effect<void, VendorFailure>

interface Checked {
  /** Absent where the protocol has no such question. */
  readonly check?: VendorCheck
}

export interface VideoAdapter extends Checked {
  /** Fails as `submit` does where the vendor's interface has no place for the order; asks nobody. */
  readonly place?: (order: VideoOrder) => Result.Result<void, VendorFailure>
  /**
   * Starts a paid job and answers the vendor's task id, with what else a poll needs to find it.
   * Never repeated on failure.
   */
  submit(account: ChannelAccount, order: VideoOrder): Effect.Effect<string, VendorFailure>
  /** Asks for the job once. A failure says nothing about the job. */
  poll(account: ChannelAccount, task: VideoTaskRef): Effect.Effect<VideoStatus, VendorFailure>
  /** Where the vendor answers for many jobs of an account in one request. */
  readonly together?: VideoPollTogether
}

export interface VideoPollTogether {
  /** Jobs in one request. */
  readonly most: number
  /** False for a job whose id has no safe place in a list. */
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

export interface ImageAdapter extends Checked {
  /**
   * Makes the images and waits for them. Never repeated on failure. Where the vendor answers with a job
   * that has to be waited for, `onJob` hears of it before, and the order fails as that does.
   */
  generate(
    account: ChannelAccount,
    order: ImageOrder,
    onJob?: (upstreamId: string) => Effect.Effect<void, VendorFailure>
  ): Effect.Effect<ImageResult, VendorFailure>
  /**
   * Has them made and hands every event to `take` as it comes, until that answers false. Fails also
   * when the stream breaks off, tells an error or ends without a finished image, whatever was taken.
   * The time `take` takes does not count as the vendor's. Absent where no vendor of it streams.
   */
  readonly stream?: (
    account: ChannelAccount,
    order: ImageOrder,
    take: (piece: ImagePiece) => Effect.Effect<boolean>
  ) => Effect.Effect<void, VendorFailure>
}

/** A server-sent event of images that are being made. */
export interface ImagePiece {
  /** The event as the client gets it, with the blank line that ends it. */
  readonly event: Uint8Array
  /** Whether there may be an image in it, finished or not. */
  readonly hasImage: boolean
}

/** What is passed to a model as the client sent it, under the name the vendor has for the model. */
export interface ModelOrder<Body> {
  readonly upstreamModel: string
  readonly body: Body
}

export interface ImageOrder extends ModelOrder<ImageBody> {
  /** What is changed, where the images are no new ones. */
  readonly edit?: ImageEdit | null
}

/** The vendor's answer in the standard form, and what is charged by. */
export interface TextAnswer {
  readonly result: Readonly<Record<string, unknown>>
  /** The whole of a large answer as it came, of which `result` is an outline. */
  readonly raw?: RawAnswer
  /** Null where the vendor did not count, or not in whole numbers. */
  readonly usage: TokenCounts | null
  /** UTF-8 bytes of the text that was written. */
  readonly outputBytes: number
}

/** A server-sent event of an answer that is being written. */
export interface TextPiece {
  /** The event as it came, with the blank line that ends it; null when it is not for the client. */
  readonly event: Uint8Array | null
  /** Counts of the whole answer up to here; null also where the vendor counts while it still writes. */
  readonly usage: TokenCounts | null
  readonly outputBytes: number
}

export interface TextAdapter extends Checked {
  /** Waits for a whole answer. Never repeated on failure. */
  complete(
    account: ChannelAccount,
    order: ModelOrder<ChatBody>
  ): Effect.Effect<TextAnswer, VendorFailure>
  /**
   * Hands every event to `take` as it comes, and reads the next one when it was taken. The event
   * that ends the stream is left out. Fails also when the stream breaks off or tells an error after
   * events were taken. The time `take` takes does not count as the vendor's.
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

/** Every adapter there is, by the name of its protocol. */
export interface Adapters {
  readonly video: ReadonlyMap<string, VideoAdapter>
  readonly image: ReadonlyMap<string, ImageAdapter>
  readonly text: ReadonlyMap<string, TextAdapter>
}

export class ProtocolAdapter extends Context.Service<ProtocolAdapter, Adapters>()(
  "gateway/services/ProtocolAdapter"
) {}

/**
 * The protocols this gateway knows: the built-in ones, unless a layer says otherwise. A row that is
 * added here needs an adapter of the same name in `ProtocolAdapter`.
 */
export const Protocols = Context.Reference<ProtocolTables>("gateway/services/Protocols", {
  defaultValue: () => builtInProtocols
})

/**
 * How long a request has waited for vendors so far, in nanoseconds, so that the rest can be called our
 * overhead, and whether it waits at the moment; null where it is not measured.
 */
export const VendorTime = Context.Reference<{ nanos: bigint; isWaiting: boolean } | null>(
  "gateway/services/VendorTime",
  { defaultValue: () => null }
)

/** Counts the whole effect as waiting for a vendor, once, however many such effects are inside. */
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
