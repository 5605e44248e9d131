/** The rate limits of API keys, and the headers that report them to clients. */
import { Context, Effect, Layer } from "effect"
import { type ErrorCode, errorTable, RateLimited } from "../../../domain/Errors.ts"
import { makeRequestRates, type Rate } from "../../../runtime/RequestRates.ts"
import { Settings } from "../../../runtime/Settings.ts"
import type { Caller } from "../../../services/Access.ts"
import { withHeaders } from "../envelope.ts"

const SECOND = 1000

/**
 * The requests that each limit counts: all requests of a key, and kinds of requests that have an
 * additional limit.
 */
const countedRequests = {
  default: "requests of this key",
  quotes: "quotes of this key",
  models: "lists of models for this key",
  uploads: "files that this key uploads",
  refusals: "refused requests of this key"
}
export type Policy = keyof typeof countedRequests

/** Formats a wait as `12ms`, `1s` or `6m0s`, rounded up. */
export const formatWait = (millis: number): string => {
  if (millis < SECOND) return `${Math.ceil(millis)}ms`
  const seconds = Math.ceil(millis / SECOND)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

/** The rate-limit headers of OpenAI's API and of the IETF draft. */
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

/**
 * Refusals that are not a fault of the request, such as missing money, or an earlier request with
 * the same idempotency key that still runs.
 */
const blamelessCodes: ReadonlySet<ErrorCode> = new Set([
  "insufficient_balance",
  "member_cap_exceeded",
  "budget_exceeded",
  "idempotency_conflict",
  "rate_limited"
])

/**
 * Whether an error is the gateway's own refusal for a fault of the request. Refusals of a vendor are
 * not, as they are 502 in the error table.
 */
export const isFaultOfRequest = (code: ErrorCode): boolean =>
  errorTable[code].status < 500 && !blamelessCodes.has(code)

/** The rate limits of this process; 0 per minute means no limit. */
const makeKeyRates = Effect.map(Settings, (settings) => {
  const rates = makeRequestRates()
  const perMinute: Readonly<Record<Policy, number>> = {
    default: settings.keyRequestsPerMinute,
    quotes: settings.keyQuotesPerMinute,
    models: settings.keyModelsPerMinute,
    uploads: settings.keyUploadsPerMinute,
    refusals: settings.keyRefusalsPerMinute
  }

  /**
   * The rate of the key: `consume` counts a request, `peek` does not; null where there is no limit.
   */
  const rateOf = (
    mode: "consume" | "peek",
    policy: Policy,
    { keyId, requestsPerMinute }: Caller
  ) => {
    const limit = (policy === "default" ? requestsPerMinute : null) ?? perMinute[policy]
    return limit === 0 ? Effect.succeed(null) : rates[mode](`${policy} ${keyId}`, limit)
  }

  return {
    /**
     * Refuses a request above one of the limits, which are checked in turn. The answer to a refused
     * request has the headers of the limit that was exceeded; other answers have those of the
     * `default` limit, which counts all requests. The `refusals` limit is only read here: a refusal
     * is counted when it happens.
     */
    within: Effect.fnUntraced(function* (policies: ReadonlyArray<Policy>, caller: Caller) {
      for (const policy of policies) {
        const rate = yield* rateOf(policy === "refusals" ? "peek" : "consume", policy, caller)
        if (rate === null || (rate.isAllowed && policy !== "default")) continue
        yield* withHeaders(rateHeaders(rate, policy))
        if (!rate.isAllowed) return yield* tooMany(rate, countedRequests[policy])
      }
    }),
    countRefusal: (caller: Caller) => Effect.asVoid(rateOf("consume", "refusals", caller))
  }
})

/** The rate limits that all routes of this process share. */
export class KeyRates extends Context.Service<KeyRates, Effect.Success<typeof makeKeyRates>>()(
  "gateway/http/KeyRates"
) {}

export const layerKeyRates = Layer.effect(KeyRates, makeKeyRates)
