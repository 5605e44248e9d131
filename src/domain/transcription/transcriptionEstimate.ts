/** Estimates what a transcription is held for: the length of its sound, and the tokens of both. */
import type { SoundFormat } from "../audio/soundLength.ts"
import type { Limits } from "../catalog/ModelLimits.ts"
import type { SoundLengths } from "../money/unitQuotes.ts"
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

/** The share by which a vendor's length may be above the measured one. */
const LENGTH_TOLERANCE = 0.02
/** Nothing that is understood as speech has fewer bytes a second. */
const LEAST_BYTES_PER_SECOND = 500

/** The formats whose every frame is measured, so that a header cannot shorten them. */
const frameFormats: ReadonlySet<SoundFormat> = new Set(["wav", "mp3", "flac"])

/** The lengths of a sound of which nothing but its length is known. */
export const lengthsOf = (milliseconds: number): SoundLengths => ({
  milliseconds,
  mostMilliseconds: Math.ceil(milliseconds * (1 + LENGTH_TOLERANCE))
})

/**
 * The lengths of a sound. The times of other formats are numbers of their writer: where a file says
 * too little, the vendor's count is believed up to what so many bytes can hold.
 */
export const soundLengths = (
  { format, milliseconds }: { readonly format: SoundFormat; readonly milliseconds: number },
  bytes: number
): SoundLengths => {
  const lengths = lengthsOf(milliseconds)
  if (frameFormats.has(format)) return lengths
  const heldMilliseconds = Math.ceil((bytes / LEAST_BYTES_PER_SECOND) * MILLIS)
  const mostMilliseconds = Math.max(lengths.mostMilliseconds, heldMilliseconds)
  return { milliseconds, mostMilliseconds }
}

/** `isLimited` tells whether the catalog states how many output tokens the model can make. */
export const estimateTranscription = (
  { prompt }: Pick<TranscriptionBody, "prompt">,
  sound: SoundLengths,
  { output_tokens }: Limits,
  isLimited: boolean
): ExpectedWork => {
  const seconds = Math.ceil(sound.milliseconds / MILLIS)
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
    sound
  }
}
