/**
 * Who is let in: the key is checked, its request counted, and a place taken, in this order and before
 * anything of the body is read.
 */
import { isIPv6 } from "node:net"
import { Cause, Context, Effect, Exit, identity, Layer, type Redacted } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type ErrorCode, errorTable, type GatewayError, RateLimited } from "../../domain/Errors.ts"
import { makeRequestRates, type Rate } from "../../runtime/RequestRates.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeShares } from "../../runtime/Shares.ts"
import {
  Access,
  type Caller,
  type LookUpGuard,
  lacksScope,
  type Scope
} from "../../services/Access.ts"
import { unsent } from "../../services/databaseErrors.ts"
import { FreeCall, RequiredScope } from "../api/AuthorizationApi.ts"
import { withHeaders } from "../handlers/respond.ts"
import { errorOf } from "./errorResponse.ts"
import { makeKeyLookUps } from "./keyLookUps.ts"
import { type Policy, rateHeaders } from "./rateHeaders.ts"

/** Requests that work, or that do nothing but wait; each kind has places of its own. */
export type Places = "working" | "waiting"

export class Admission extends Context.Service<
  Admission,
  {
    /**
     * The holder of the key, when its rates and its scopes allow the request. `address` is the
     * client's, where it has one.
     */
    identify(
      credential: Redacted.Redacted,
      endpoint: HttpApiEndpoint.Top,
      address: string | undefined
    ): Effect.Effect<Caller, GatewayError>
    /**
     * Goes around the answering of a request that was let in, and counts an order or a quote against
     * its key when it is refused for a fault of its own. So it does when the client leaves: to leave
     * in time would else be a way to be refused for nothing.
     */
    counted<A extends object, E, R>(
      caller: Caller,
      endpoint: HttpApiEndpoint.Top,
      answering: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R>
    /** Takes a place among the organisation's requests; answers why there is none. */
    enter(caller: Caller, places: Places): RateLimited | null
    /** Gives the place back. */
    leave(caller: Caller, places: Places): void
  }
>()("gateway/http/Admission") {}

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

const scopesOf = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<Scope> => {
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

export const layerAdmission = Layer.effect(
  Admission,
  Effect.gen(function* () {
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

    const countRefusal = (
      { keyId }: Caller,
      endpoint: HttpApiEndpoint.Top
    ): Effect.Effect<void> => {
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

    return Admission.of({
      identify: Effect.fnUntraced(function* (credential, endpoint, address) {
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
      counted: (caller, endpoint, answering) =>
        Effect.onExit(answering, (exit) =>
          isCounted(exit) ? countRefusal(caller, endpoint) : Effect.void
        ),
      enter: (caller, places) =>
        taken[places].tryTake(caller.organizationId)
          ? null
          : tooManyAtOnce(bounds[places], kinds[places]),
      leave: (caller, places) => taken[places].giveBack(caller.organizationId)
    })
  })
)
