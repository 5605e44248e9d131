/** Scripts for vendors without a socket: how a vendor responds to its orders. */
import { Effect } from "effect"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import type { SpeechBody } from "../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import {
  knownRefusalOf,
  type VendorFailure,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../domain/VendorOutcome.ts"
import type { VideoUsage } from "../domain/video/VideoCharge.ts"
import type {
  ChannelAccount,
  ImageOrder,
  ImageResult,
  ModelOrder,
  VideoOrder,
  VideoStatus
} from "../services/ProtocolAdapter.ts"

/** A video order as a vendor received it. */
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

interface ReceivedRerank {
  readonly kind: "rerank"
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: ModelOrder<RerankBody>
}

interface ReceivedSpeech {
  readonly kind: "speech"
  readonly protocol: string
  readonly account: ChannelAccount
  readonly order: ModelOrder<SpeechBody>
}

export type ReceivedText = ReceivedChat | ReceivedEmbedding | ReceivedRerank | ReceivedSpeech

/** The course of a job that a vendor has accepted. */
export interface AcceptedVideo {
  readonly _tag: "Accepted"
  /**
   * The number of polls with the status `Processing` before the end; "forever" leaves the end to
   * `finish`.
   */
  readonly polls: number | "forever"
  readonly end: VideoStatus | "succeeded"
  readonly usage: VideoUsage
}

export interface FailureScript {
  readonly _tag: "Failing"
  readonly failure: VendorFailure
}

export type VideoScript = AcceptedVideo | FailureScript

export type ImageScript =
  | {
      readonly _tag: "Made"
      readonly result: ImageResult | null
      readonly after: Effect.Effect<unknown>
    }
  | FailureScript

/**
 * The script of a text response: its text, and the token counts that the vendor reports (null where
 * it reports none). For embeddings, only the input tokens are used.
 */
export interface TextOutput {
  readonly _tag: "Written"
  readonly content: string
  readonly usage: TokenCounts | null
}

export type TextScript = TextOutput | FailureScript

/** One script for every order, or a function of the received order. */
export type ScriptOf<Request, Script> = Script | ((request: Request) => Script)

const noUsage: VideoUsage = { completionTokens: null, outputSeconds: null }

const failureScript = (failure: VendorFailure): FailureScript => ({ _tag: "Failing", failure })

/** The scripts to choose from. */
export const vendor = {
  /**
   * Accepts the job, reports `Processing` for some polls (one by default), and then succeeds with
   * the reported `usage`.
   */
  succeeds: (
    options: { readonly polls?: number; readonly usage?: Partial<VideoUsage> } = {}
  ): VideoScript => ({
    _tag: "Accepted",
    polls: options.polls ?? 1,
    end: "succeeded",
    usage: { ...noUsage, ...options.usage }
  }),
  /** Accepts the job and finally reports that it failed, so that nothing may be charged. */
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
  /** Accepts the job, but does not know it when it is polled. */
  forgets: (): VideoScript => ({
    _tag: "Accepted",
    polls: 0,
    end: { _tag: "Unknown" },
    usage: noUsage
  }),
  /** Accepts the job and reports `Processing` until `ScriptedVendors.finish` is called. */
  waits: (options: { readonly usage?: Partial<VideoUsage> } = {}): VideoScript => ({
    _tag: "Accepted",
    polls: "forever",
    end: "succeeded",
    usage: { ...noUsage, ...options.usage }
  }),
  /**
   * Generates the images, after the effect `after` where there is one. `result` replaces the
   * default response, which has one address per ordered image.
   */
  makes: (
    options: { readonly result?: ImageResult; readonly after?: Effect.Effect<unknown> } = {}
  ): ImageScript => ({
    _tag: "Made",
    result: options.result ?? null,
    after: options.after ?? Effect.void
  }),
  /**
   * Responds to a chat with a text, either whole or streamed word by word, as the client requests.
   * Responds to an embedding order with vectors, to a ranking with results, and to a text that is
   * to be spoken with the bytes of `content`.
   */
  writes: (
    options: { readonly content?: string; readonly usage?: TokenCounts | null } = {}
  ): TextScript => ({
    _tag: "Written",
    content: options.content ?? "A lighthouse stands at dusk.",
    usage: options.usage === undefined ? { inputTokens: 10n, outputTokens: 6n } : options.usage
  }),
  /**
   * Refuses the order. Where the status is that of a known refusal, the refusal proves that no job
   * exists. Where `isKnown` is false or `upstreamId` is set, the refusal proves nothing, and a job
   * may exist.
   */
  refuses: (
    options: {
      readonly status?: number
      readonly message?: string
      /** The field of the request that the vendor names as the cause. */
      readonly param?: string
      readonly body?: unknown
      readonly retryAfterSeconds?: number
      readonly isKnown?: boolean
      readonly upstreamId?: string
    } = {}
  ) => {
    const { status = 400, message = "The vendor refused the order", isKnown = true } = options
    const proof = isKnown && options.upstreamId === undefined ? knownRefusalOf(status) : null
    return failureScript(
      new VendorRefused({
        effectiveStatus: status,
        status,
        body: options.body ?? { error: { message } },
        message,
        retryAfterSeconds: options.retryAfterSeconds ?? null,
        ...(options.param === undefined ? {} : { param: options.param }),
        ...(proof === null ? {} : { proof }),
        ...(options.upstreamId === undefined ? {} : { upstreamId: options.upstreamId })
      })
    )
  },
  /** The response never arrives: a paid job may exist. */
  isLost: (reason: VendorLost["reason"] = "connection_lost") =>
    failureScript(
      new VendorLost({
        reason,
        message: "The connection to the vendor was lost before its answer was complete",
        status: null,
        retryAfterSeconds: null
      })
    ),
  /** The vendor cannot be reached, so that no job exists. */
  isUnreachable: () =>
    failureScript(new VendorUnreachable({ message: "The vendor could not be reached" }))
} as const
