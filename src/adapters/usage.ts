/** Vendor figures that decide money: only what is certainly right is taken. */
import { Schema } from "effect"

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
