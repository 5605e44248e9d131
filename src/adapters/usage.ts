/** Vendor figures that decide money: only what is certainly right is taken. */
import { Schema } from "effect"
import type { TokenCounts } from "../domain/text/TextQuote.ts"

const Usage = Schema.Struct({
  completion_tokens: Schema.Int.check(Schema.isGreaterThan(0))
})
const isUsage = Schema.is(Usage)

/** The reported completion tokens when they are a positive whole number, else null. */
export const completionTokens = (usage: unknown): bigint | null =>
  isUsage(usage) ? BigInt(usage.completion_tokens) : null

/** A length in whole seconds of a plausible video, else null. */
export const wholeSeconds = (duration: unknown): number | null =>
  typeof duration === "number" && Number.isInteger(duration) && duration > 0 && duration <= 3600
    ? duration
    : null

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const isChatUsage = Schema.is(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count }))
const isTotal = Schema.is(Schema.Struct({ total_tokens: Count }))
const isPrompt = Schema.is(Schema.Struct({ prompt_tokens: Count }))

/** What a chat vendor counted, when both counts are whole numbers. */
export const chatUsage = (usage: unknown): TokenCounts | null =>
  isChatUsage(usage)
    ? { inputTokens: BigInt(usage.prompt_tokens), outputTokens: BigInt(usage.completion_tokens) }
    : null

/** What an embeddings vendor counted: the total, or the prompt where no total is told. */
export const embeddingUsage = (usage: unknown): TokenCounts | null => {
  if (isTotal(usage)) return { inputTokens: BigInt(usage.total_tokens), outputTokens: 0n }
  return isPrompt(usage) ? { inputTokens: BigInt(usage.prompt_tokens), outputTokens: 0n } : null
}
