/** How many requests a key may send in a minute, and what its clients are told of that. */
import { Effect } from "effect"
import { RateLimited } from "../../../domain/Errors.ts"
import { makeRequestRates, type Rate } from "../../../runtime/RequestRates.ts"
import { Settings } from "../../../runtime/Settings.ts"
import type { Caller } from "../../../services/Access.ts"
import { withHeaders } from "../envelope.ts"

const SECOND = 1000

/** What is counted: all requests of a key, and those that have a rate of their own beside it. */
const kinds = {
  default: "requests of this key",
  quotes: "quotes of this key",
  models: "lists of models for this key",
  uploads: "files that this key uploads",
  refusals: "refused requests of this key"
}
type Policy = keyof typeof kinds

/** `12ms`, `1s`, `6m0s`: never shorter than it is. */
export const formatWait = (millis: number): string => {
  if (millis < SECOND) return `${Math.ceil(millis)}ms`
  const seconds = Math.ceil(millis / SECOND)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

/** In the headers clients know: OpenAI's, and those of the IETF draft. */
export const rateHeaders = (
  rate: Rate,
  policy: Policy = "default"
): Readonly<Record<string, string>> => ({
  "x-ratelimit-limit-requests": `${rate.limit}`,
  "x-ratelimit-remaining-requests": `${rate.remaining}`,
  "x-ratelimit-reset-requests": formatWait(rate.resetMillis),
  "ratelimit-policy": `"${policy}";q=${rate.limit};w=60`,
  ratelimit: `"${policy}";r=${rate.remaining};t=${Math.ceil(rate.resetMillis / SECOND)}`
})

export const tooMany = (rate: Rate, kind: string): RateLimited => {
  const retryAfterSeconds = Math.ceil(rate.retryMillis / SECOND)
  return new RateLimited({
    message: `The ${kind} are limited to ${rate.limit} a minute; the next may come in ${retryAfterSeconds} s`,
    retryAfterSeconds,
    retryAfterMillis: Math.ceil(rate.retryMillis)
  })
}

/** The rates of this process. A rate of 0 a minute bounds nothing. */
export const makeKeyRates = Effect.map(Settings, (settings) => {
  const rates = makeRequestRates()
  const perMinute: Readonly<Record<Policy, number>> = {
    default: settings.keyRequestsPerMinute,
    quotes: settings.keyQuotesPerMinute,
    models: settings.keyModelsPerMinute,
    uploads: settings.keyUploadsPerMinute,
    refusals: settings.keyRefusalsPerMinute
  }

  /** `take` counts a request, `look` does not; null where there is no bound. */
  const rateOf = (how: "take" | "look", policy: Policy, { keyId, requestsPerMinute }: Caller) => {
    const limit = (policy === "default" ? requestsPerMinute : null) ?? perMinute[policy]
    return limit === 0 ? Effect.succeed(null) : rates[how](`${policy} ${keyId}`, limit)
  }

  return {
    /**
     * Refuses a request that is over the rate, and says so on its answer. Of the rate of all requests
     * every answer tells. Refusals are counted elsewhere, when they happen.
     */
    within: (policy: Policy, caller: Caller): Effect.Effect<void, RateLimited> =>
      Effect.flatMap(rateOf(policy === "refusals" ? "look" : "take", policy, caller), (rate) => {
        if (rate === null || (rate.allowed && policy !== "default")) return Effect.void
        const told = withHeaders(rateHeaders(rate, policy))
        return rate.allowed ? told : Effect.andThen(told, Effect.fail(tooMany(rate, kinds[policy])))
      }),
    countRefusal: (caller: Caller) => Effect.asVoid(rateOf("take", "refusals", caller))
  }
})
