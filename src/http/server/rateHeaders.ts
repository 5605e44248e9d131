/** The rate of a key in the headers clients know: OpenAI's, and those of the IETF draft. */
import type { Rate } from "../../runtime/RequestRates.ts"

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Of all requests of a key, and of those that have a rate of their own beside it. */
export type Policy = "default" | "quotes" | "models" | "refusals"

/** `12ms`, `1s`, `6m0s`: never shorter than it is. */
export const formatWait = (millis: number): string => {
  if (millis < SECOND) return `${Math.ceil(millis)}ms`
  const seconds = Math.ceil(millis / SECOND)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

export const rateHeaders = (
  rate: Rate,
  policy: Policy = "default"
): Readonly<Record<string, string>> => ({
  "x-ratelimit-limit-requests": `${rate.limit}`,
  "x-ratelimit-remaining-requests": `${rate.remaining}`,
  "x-ratelimit-reset-requests": formatWait(rate.resetMillis),
  "ratelimit-policy": `"${policy}";q=${rate.limit};w=${MINUTE / SECOND}`,
  ratelimit: `"${policy}";r=${rate.remaining};t=${Math.ceil(rate.resetMillis / SECOND)}`
})
