/** Estimates what a transcription is held for: the length of its sound, and the tokens of both. */
import type { Limits } from "../catalog/ModelLimits.ts"
import type { ExpectedWork } from "../money/workQuotes.ts"
import { VENDOR_TOKENS } from "../text/textEstimate.ts"
import { bytesOf } from "../text/textSize.ts"
import { tokensOfBytes } from "../text/tokenSize.ts"
import type { TranscriptionBody } from "./TranscriptionRequest.ts"

/** The input tokens of a second of sound, and the output tokens of a second of fast speech. */
const INPUT_TOKENS_PER_SECOND = 25
const OUTPUT_TOKENS_PER_SECOND = 10
const OUTPUT_TOKENS_OF_FRAME = 64
/** The factor by which a vendor may count more than is held. */
const PLAUSIBLE_TIMES = 4n
const MILLIS = 1000

/** `isLimited` tells whether the catalog states how many output tokens the model can make. */
export const estimateTranscription = (
  { prompt }: Pick<TranscriptionBody, "prompt">,
  milliseconds: number,
  { output_tokens }: Limits,
  isLimited: boolean
): ExpectedWork => {
  const seconds = Math.ceil(milliseconds / MILLIS)
  const promptBytes = bytesOf(prompt ?? "")
  const inputTokens = BigInt(seconds * INPUT_TOKENS_PER_SECOND) + tokensOfBytes(promptBytes)
  const expectedOutput = seconds * OUTPUT_TOKENS_PER_SECOND + OUTPUT_TOKENS_OF_FRAME
  const outputTokens = BigInt(isLimited ? Math.min(expectedOutput, output_tokens) : expectedOutput)
  return {
    inputTokens,
    leastInput: 0n,
    mostInput: inputTokens * PLAUSIBLE_TIMES + BigInt(VENDOR_TOKENS),
    outputTokens,
    mostOutput: outputTokens * PLAUSIBLE_TIMES,
    audio: { hasAudioInput: true, hasAudioOutput: false },
    milliseconds
  }
}
