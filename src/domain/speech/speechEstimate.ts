/** Estimates what a spoken text is held for: its characters, and the tokens of text and sound. */
import type { Limits } from "../catalog/ModelLimits.ts"
import type { ExpectedWork } from "../money/workQuotes.ts"
import { mostInputOf, VENDOR_TOKENS } from "../text/textEstimate.ts"
import { bytesOf, fieldBytes } from "../text/textSize.ts"
import { leastTokensOf, tokensOfBytes } from "../text/tokenSize.ts"
import { countCharacters, type SpeechBody, USUAL_SPEED } from "./SpeechRequest.ts"

/** Fields that are settings and no text for the model. */
const settingFields: ReadonlySet<string> = new Set([
  "model",
  "input",
  "voice",
  "response_format",
  "speed",
  "stream_format"
])

/**
 * The output tokens of a character of text at the usual speed, and those of the pauses around the
 * text. A second of sound has about 20 tokens; a Han character takes about a quarter of a second, a
 * Latin letter less.
 */
const TOKENS_PER_CHARACTER = 6
const TOKENS_OF_PAUSES = 60
/** The factor by which a vendor may count more than is held. */
const PLAUSIBLE_TIMES = 4n

/** The output tokens of the sound of a text, at most those that the model can make. */
const outputTokensOf = (
  codePoints: number,
  speed: number,
  { output_tokens }: Limits,
  isLimited: boolean
): bigint => {
  const tokens = Math.ceil((codePoints * TOKENS_PER_CHARACTER) / Math.min(1, speed))
  const expected = tokens + TOKENS_OF_PAUSES
  return BigInt(isLimited ? Math.min(expected, output_tokens) : expected)
}

/** `isLimited` tells whether the catalog states how many output tokens the model can make. */
export const estimateSpeech = (
  body: SpeechBody,
  limits: Limits,
  isLimited: boolean
): ExpectedWork => {
  const characters = countCharacters(body.input)
  const inputBytes = bytesOf(body.input)
  const otherBytes = fieldBytes(body, (name, value) => value === null || settingFields.has(name))
  const inputTokens = tokensOfBytes(inputBytes) + tokensOfBytes(otherBytes)
  const outputTokens = outputTokensOf(
    characters.codePoints,
    body.speed ?? USUAL_SPEED,
    limits,
    isLimited
  )
  return {
    inputTokens,
    leastInput: leastTokensOf(inputBytes),
    mostInput: mostInputOf(
      BigInt(VENDOR_TOKENS + inputBytes + otherBytes),
      inputTokens,
      BigInt(limits.input_tokens)
    ),
    outputTokens,
    mostOutput: outputTokens * PLAUSIBLE_TIMES,
    characters
  }
}
