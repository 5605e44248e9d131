/** What an answer about a video task means, in the words all protocols share. */
import { Result, Schema } from "effect"
import type { VendorLost } from "../../domain/VendorOutcome.ts"
import type { VideoUsage } from "../../domain/video/VideoQuote.ts"
import { scrubText } from "../../hiding/credentialsFromClients.ts"
import type { ChannelAccount, VideoStatus } from "../../services/ProtocolAdapter.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer } from "../wire/vendorFailures.ts"

type Status = Result.Result<VideoStatus, VendorLost>

/** The vendor does not know the task (any more). */
export const unknownTask: Status = Result.succeed({ _tag: "Unknown" })

/**
 * The task is in the works. A word that no table lists is never taken for an end; it is handed on,
 * so that somebody hears of a vendor that has learnt a new one.
 */
export const openTask = (documented: ReadonlySet<string>, word: string): Status =>
  Result.succeed(
    documented.has(word) ? { _tag: "Processing" } : { _tag: "Processing", strangeWord: word }
  )

const uncounted: VideoUsage = { completionTokens: null, outputSeconds: null }

/** The video is there; an answer that says so and shows none cannot be read. */
export const finishedTask = (
  answer: VendorAnswer,
  videoUrl: string | undefined,
  usage = uncounted
): Status =>
  videoUrl === undefined
    ? Result.fail(brokenAnswer(answer))
    : Result.succeed({ _tag: "Succeeded", videoUrl, usage })

/** The vendor says that there will be no video. */
export const failedTask = (
  account: ChannelAccount,
  code: string,
  message: string | null,
  fallback = "The vendor failed to make the video"
): Status =>
  Result.succeed({
    _tag: "Failed",
    code: scrubText(account, code),
    message: scrubText(account, message ?? fallback)
  })

const isUsage = Schema.is(
  Schema.Struct({ completion_tokens: Schema.Int.check(Schema.isGreaterThan(0)) })
)

/** The reported completion tokens when they are a positive whole number, else null. */
export const completionTokens = (usage: unknown): bigint | null =>
  isUsage(usage) ? BigInt(usage.completion_tokens) : null

/** A length in whole seconds of a plausible video, else null. */
export const wholeSeconds = (duration: unknown): number | null =>
  typeof duration === "number" && Number.isInteger(duration) && duration > 0 && duration <= 3600
    ? duration
    : null
