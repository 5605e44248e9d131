/** What a vendor without a socket does with the orders it gets. */
import { Effect } from "effect"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import {
  knownRefusalOf,
  type VendorFailure,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../domain/VendorOutcome.ts"
import type { VideoUsage } from "../domain/video/VideoQuote.ts"
import type {
  ChannelAccount,
  ImageOrder,
  ImageResult,
  ModelOrder,
  VideoOrder,
  VideoStatus
} from "../services/ProtocolAdapter.ts"

/** An order as a vendor received it. */
export interface ReceivedVideo {
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: VideoOrder
}

export interface ReceivedImages {
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: ImageOrder
}

interface ReceivedChat {
  readonly kind: "chat"
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: ModelOrder<ChatBody>
}

interface ReceivedEmbedding {
  readonly kind: "embedding"
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: ModelOrder<EmbeddingBody>
}

export type ReceivedText = ReceivedChat | ReceivedEmbedding

/** How a job goes on that a vendor has taken. */
export interface AcceptedVideo {
  readonly _tag: "Accepted"
  /** Polls answered with processing before the end; "forever" leaves the end to `finish`. */
  readonly polls: number | "forever"
  readonly end: VideoStatus | "succeeded"
  readonly usage: VideoUsage
}

export interface Failing {
  readonly _tag: "Failing"
  readonly failure: VendorFailure
}

export type VideoScript = AcceptedVideo | Failing

export type ImageScript =
  | {
      readonly _tag: "Made"
      readonly result: ImageResult | null
      readonly after: Effect.Effect<unknown>
    }
  | Failing

/** What a vendor writes, and the tokens it counts; null counts none. Embeddings have no output. */
export interface Written {
  readonly _tag: "Written"
  readonly content: string
  readonly usage: TokenCounts | null
}

export type TextScript = Written | Failing

/** For every order alike, or by what the order says. */
export type Scripted<Received, Script> = Script | ((received: Received) => Script)

const noUsage: VideoUsage = { completionTokens: null, outputSeconds: null }

const failing = (failure: VendorFailure): Failing => ({ _tag: "Failing", failure })

/** What a vendor may do with an order. */
export const vendor = {
  /** Takes the job, is busy for some polls (one by default), and delivers; `usage` is what it reports. */
  succeeds: (
    options: { readonly polls?: number; readonly usage?: Partial<VideoUsage> } = {}
  ): VideoScript => ({
    _tag: "Accepted",
    polls: options.polls ?? 1,
    end: "succeeded",
    usage: { ...noUsage, ...options.usage }
  }),
  /** Takes the job and fails it in the end: nothing may be charged. */
  fails: (
    options: { readonly polls?: number; readonly code?: string; readonly message?: string } = {}
  ): VideoScript => ({
    _tag: "Accepted",
    polls: options.polls ?? 1,
    end: {
      _tag: "Failed",
      code: options.code ?? "render_failed",
      message: options.message ?? "The vendor could not render the video"
    },
    usage: noUsage
  }),
  /** Takes the job and knows nothing of it when it is asked. */
  forgets: (): VideoScript => ({
    _tag: "Accepted",
    polls: 0,
    end: { _tag: "Unknown" },
    usage: noUsage
  }),
  /** Takes the job and is busy until `ScriptedVendors.finish`. */
  waits: (options: { readonly usage?: Partial<VideoUsage> } = {}): VideoScript => ({
    _tag: "Accepted",
    polls: "forever",
    end: "succeeded",
    usage: { ...noUsage, ...options.usage }
  }),
  /**
   * Makes the images, once `after` ends where it is given. `result` stands in for the addresses of as
   * many as were ordered.
   */
  makes: (
    options: { readonly result?: ImageResult; readonly after?: Effect.Effect<unknown> } = {}
  ): ImageScript => ({
    _tag: "Made",
    result: options.result ?? null,
    after: options.after ?? Effect.void
  }),
  /** Writes a text, whole or word by word as the client wants it; of embeddings, some numbers. */
  writes: (
    options: { readonly content?: string; readonly usage?: TokenCounts | null } = {}
  ): TextScript => ({
    _tag: "Written",
    content: options.content ?? "A lighthouse stands at dusk.",
    usage: options.usage === undefined ? { inputTokens: 10n, outputTokens: 6n } : options.usage
  }),
  /**
   * Refuses, in a way that its adapter knows where its status can be one: no job exists then. Where
   * `isKnown` is false, or an id of a job is told, one may.
   */
  refuses: (
    options: {
      readonly status?: number
      readonly message?: string
      readonly body?: unknown
      readonly retryAfterSeconds?: number
      readonly isKnown?: boolean
      readonly upstreamId?: string
    } = {}
  ) => {
    const { status = 400, message = "The vendor refused the order", isKnown = true } = options
    const proof = isKnown && options.upstreamId === undefined ? knownRefusalOf(status) : null
    return failing(
      new VendorRefused({
        effectiveStatus: status,
        status,
        body: options.body ?? { error: { message } },
        message,
        retryAfterSeconds: options.retryAfterSeconds ?? null,
        ...(proof === null ? {} : { proof }),
        ...(options.upstreamId === undefined ? {} : { upstreamId: options.upstreamId })
      })
    )
  },
  /** The answer never came: a paid job may exist. */
  isLost: (reason: VendorLost["reason"] = "connection_lost") =>
    failing(
      new VendorLost({
        reason,
        message: "The connection to the vendor was lost before its answer was complete",
        status: null,
        retryAfterSeconds: null
      })
    ),
  /** Nothing reached the vendor. */
  isUnreachable: () =>
    failing(new VendorUnreachable({ message: "The vendor could not be reached" }))
} as const
