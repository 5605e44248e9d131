/** What an answer about a video task means, in the words all protocols share. */
import { Result } from "effect"
import type { VendorLost } from "../../domain/VendorOutcome.ts"
import type { VideoUsage } from "../../domain/video/VideoQuote.ts"
import { scrubText } from "../../redaction/credentialsFromClients.ts"
import type { ChannelAccount, VideoStatus } from "../../services/ProtocolAdapter.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer } from "../wire/vendorFailures.ts"

type Status = Result.Result<VideoStatus, VendorLost>

/** The vendor does not know the task (any more). */
export const unknownTask: Status = Result.succeed({ _tag: "Unknown" })

/** Why there will be no video, where the vendor does not say it. */
const failures = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

const meanings = ["open", "finished", "unknown", "failed", "cancelled", "expired"] as const

/** The vendor's words for the state of a task, by what they mean. */
export type TaskWords = {
  readonly [Meaning in (typeof meanings)[number]]?: ReadonlyArray<string>
}

/** What a vendor says of a task; what the word does not ask for is not looked at. */
interface SaidOfTask {
  readonly word: string
  readonly videoUrl: string | undefined
  readonly usage?: VideoUsage
  /** The word itself when null or left out. */
  readonly code?: string | null
  readonly message: string | null
}

const uncounted: VideoUsage = { completionTokens: null, outputSeconds: null }

/**
 * What has become of a task. A word that no table lists is never taken for an end; it is handed on,
 * so that somebody hears of a vendor that has learnt a new one.
 */
export const taskStatus = (
  account: ChannelAccount,
  answer: VendorAnswer,
  words: TaskWords,
  { word, videoUrl, usage = uncounted, code, message }: SaidOfTask
): Status => {
  const meaning = meanings.find((one) => words[one]?.includes(word))
  switch (meaning) {
    case undefined:
      return Result.succeed({ _tag: "Processing", strangeWord: word })
    case "open":
      return Result.succeed({ _tag: "Processing" })
    case "unknown":
      return unknownTask
    case "finished":
      // An answer that says so and shows no video cannot be read.
      return videoUrl === undefined
        ? Result.fail(brokenAnswer(answer))
        : Result.succeed({ _tag: "Succeeded", videoUrl, usage })
    default:
      return Result.succeed({
        _tag: "Failed",
        code: scrubText(account, code ?? word),
        message: scrubText(account, message ?? failures[meaning])
      })
  }
}
