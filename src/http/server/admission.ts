/**
 * Who is let in: the key is checked, its request counted, and a place taken, in this order and before
 * anything of the body is read.
 */
import { isIPv6 } from "node:net"
import { Cause, Context, Effect, Exit, identity, type Redacted, type Scope } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type ErrorCode, errorTable, type GatewayError, RateLimited } from "../../domain/Errors.ts"
import { unsent } from "../../runtime/databaseErrors.ts"
import { makeRequestRates, type Rate } from "../../runtime/RequestRates.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeShares } from "../../runtime/Shares.ts"
import {
  Access,
  type Caller,
  type Scope as KeyScope,
  type LookUpGuard,
  lacksScope
} from "../../services/Access.ts"
import { FreeCall, RequiredScope } from "../api/middlewares.ts"
import { withHeaders } from "./envelope.ts"
import { errorOf } from "./errorResponse.ts"
import { makeKeyLookUps } from "./keyLookUps.ts"

/** Requests that work, or that do nothing but wait; each kind has places of its own. */
export type Places = "working" | "waiting"

// The rate of a key in the headers clients know: OpenAI's, and those of the IETF draft

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Of all requests of a key, and of those that have a rate of their own beside it. */
type Policy = "default" | "quotes" | "models" | "refusals"

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

const kindOf: Readonly<Record<Policy, string>> = {
  default: "requests of this key",
  quotes: "quotes of this key",
  models: "lists of models for this key",
  refusals: "refused requests of this key"
}

const tooMany = (rate: Rate, kind: string): RateLimited => {
  const retryAfterSeconds = Math.ceil(rate.retryMillis / 1000)
  return new RateLimited({
    message: `The ${kind} are limited to ${rate.limit} a minute; the next may come in ${retryAfterSeconds} s`,
    retryAfterSeconds,
    retryAfterMillis: Math.ceil(rate.retryMillis)
  })
}

const tooManyAtOnce = (bound: number, kind: string): RateLimited =>
  new RateLimited({
    message: `This organisation may have ${bound} ${kind} at a time; send this one again when another is answered`,
    retryAfterSeconds: 1
  })

const scopesOf = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<KeyScope> => {
  const asked = Context.getOrUndefined(endpoint.annotations, RequiredScope) ?? []
  return typeof asked === "string" ? [asked] : asked
}

/**
 * Whose unknown keys count together: a client of IPv4 has one address, and one of IPv6 all that
 * begin with the same 64 bits.
 */
export const clientOf = (address: string | undefined): string => {
  if (address === undefined) return "none"
  const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (embedded !== undefined || !isIPv6(address)) return embedded ?? address
  const [head = "", tail] = address.split("%", 1).join("").split("::")
  const first = head === "" ? [] : head.split(":")
  const last = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0")
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":").toLowerCase()}::/64`
}

/** Refusals that are no fault of the request: money that is spent, or a first request that runs still. */
const faultless: ReadonlySet<ErrorCode> = new Set([
  "insufficient_balance",
  "member_cap_exceeded",
  "idempotency_conflict",
  "rate_limited"
])

/** True of what the gateway itself refuses for good; what a vendor refuses stands as 502 in the table. */
const isOwnFault = ({ _tag }: GatewayError): boolean =>
  errorTable[_tag].status < 500 && !faultless.has(_tag)

/** Orders and quotes; what a customer has paid for is never kept from them by their refusals. */
const hasBody = (endpoint: HttpApiEndpoint.Top): boolean => endpoint.payload.size > 0

/** The rates and places of one process. */
export const makeAdmission = Effect.gen(function* () {
  const access = yield* Access
  const settings = yield* Settings
  const { organizationInFlight, organizationWaits } = settings
  const rates = makeRequestRates()
  const refusals = makeRequestRates()
  const bounds = { working: organizationInFlight, waiting: organizationWaits }
  const taken = {
    working: makeShares({ each: bounds.working }),
    waiting: makeShares({ each: bounds.waiting })
  }
  const kinds = {
    working: "requests at this gateway",
    waiting: "requests that wait at this gateway"
  }

  const guardLookUps = yield* makeKeyLookUps(settings.addressUnknownKeysPerMinute, (rate) =>
    tooMany(rate, "unknown API keys from this address")
  )
  const guardOf = (
    address: string | undefined,
    credential: Redacted.Redacted
  ): LookUpGuard<RateLimited> =>
    settings.addressUnknownKeysPerMinute === 0
      ? identity
      : guardLookUps(clientOf(address), credential)

  /** Refuses what is over a rate, and says on the answer which one that is. */
  const refuseOver = (rate: Rate, policy: Policy): Effect.Effect<void, RateLimited> =>
    rate.allowed
      ? Effect.void
      : Effect.andThen(
          withHeaders(rateHeaders(rate, policy)),
          Effect.fail(tooMany(rate, kindOf[policy]))
        )

  /** Counts the request against its key, and says so on its answer, whatever that is. */
  const withinRate = Effect.fnUntraced(function* ({ keyId, requestsPerMinute }: Caller) {
    const perMinute = requestsPerMinute ?? settings.keyRequestsPerMinute
    if (perMinute === 0) return
    const rate = yield* rates.take(keyId, perMinute)
    yield* withHeaders(rateHeaders(rate))
    yield* refuseOver(rate, "default")
  })

  const withinRefusals = Effect.fnUntraced(function* (
    { keyId }: Caller,
    endpoint: HttpApiEndpoint.Top
  ) {
    const perMinute = settings.keyRefusalsPerMinute
    if (perMinute === 0 || !hasBody(endpoint)) return
    yield* refuseOver(yield* refusals.look(keyId, perMinute), "refusals")
  })

  const free = { quotes: settings.keyQuotesPerMinute, models: settings.keyModelsPerMinute }

  const withinFreeCalls = Effect.fnUntraced(function* (
    { keyId }: Caller,
    endpoint: HttpApiEndpoint.Top
  ) {
    const policy = Context.getOrUndefined(endpoint.annotations, FreeCall)
    if (policy === undefined || free[policy] === 0) return
    yield* refuseOver(yield* rates.take(`${policy} ${keyId}`, free[policy]), policy)
  })

  const countRefusal = ({ keyId }: Caller, endpoint: HttpApiEndpoint.Top): Effect.Effect<void> => {
    const perMinute = settings.keyRefusalsPerMinute
    return perMinute === 0 || !hasBody(endpoint)
      ? Effect.void
      : Effect.asVoid(refusals.take(keyId, perMinute))
  }

  const isCounted = (exit: Exit.Exit<object, unknown>): boolean => {
    if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause)
    const error = errorOf(exit.value)
    return error !== undefined && isOwnFault(error)
  }

  return {
    /**
     * The holder of the key, when its rates and its scopes allow the request. `address` is the
     * client's, where it has one.
     */
    identify: Effect.fnUntraced(function* (
      credential: Redacted.Redacted,
      endpoint: HttpApiEndpoint.Top,
      address: string | undefined
    ) {
      const caller = yield* unsent(access.authenticate(credential, guardOf(address, credential)))
      yield* withinRate(caller)
      yield* withinRefusals(caller, endpoint)
      yield* withinFreeCalls(caller, endpoint)
      const oneOf = scopesOf(endpoint)
      if (!oneOf.some((scope) => caller.scopes.has(scope))) {
        yield* countRefusal(caller, endpoint)
        return yield* lacksScope(caller, oneOf)
      }
      return caller
    }),
    /**
     * Goes around the answering of a request that was let in, and counts an order or a quote
     * against its key when it is refused for a fault of its own. So it does when the client leaves:
     * to leave in time would else be a way to be refused for nothing.
     */
    counted: <A extends object, E, R>(
      caller: Caller,
      endpoint: HttpApiEndpoint.Top,
      answering: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R> =>
      Effect.onExit(answering, (exit) =>
        isCounted(exit) ? countRefusal(caller, endpoint) : Effect.void
      ),
    /** Takes a place among the organisation's requests, which is kept until the answer has left. */
    enter: (caller: Caller, places: Places): Effect.Effect<void, RateLimited, Scope.Scope> =>
      Effect.flatMap(taken[places].take(caller.organizationId), (isRoom) =>
        isRoom ? Effect.void : Effect.fail(tooManyAtOnce(bounds[places], kinds[places]))
      )
  }
})
