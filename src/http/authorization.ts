/** The live checks of API keys and of the operator's token. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { InvalidApiKey, RateLimited } from "../domain/Errors.ts"
import { Access, type Caller, lacksScope, type Scope } from "../services/Access.ts"
import { Machine } from "../services/Machine.ts"
import type { Rate } from "../services/RequestRates.ts"
import { Settings } from "../services/Settings.ts"
import { makeShares } from "../services/Shares.ts"
import { unsent } from "../services/storeTrouble.ts"
import {
  AdminAuthorization,
  Authorization,
  CurrentCaller,
  HeldOpen,
  RequiredScope
} from "./api/Authorization.ts"
import { errorResponse } from "./errorResponse.ts"
import { withHeaders } from "./handlers/respond.ts"
import { rateHeaders } from "./rateHeaders.ts"

const tooManyRequests = (rate: Rate): RateLimited => {
  const retryAfterSeconds = Math.ceil(rate.retryMillis / 1000)
  return new RateLimited({
    message: `The requests of this key are limited to ${rate.limit} a minute; the next may come in ${retryAfterSeconds} s`,
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

/** A request that does nothing but wait. */
const isHeldOpen = (endpoint: HttpApiEndpoint.Top, query: Readonly<Record<string, unknown>>) => {
  const held = Context.getOrUndefined(endpoint.annotations, HeldOpen)
  return (
    held === "always" || (held === "asked" && query.wait !== undefined && Number(query.wait) !== 0)
  )
}

export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const access = yield* Access
    const settings = yield* Settings
    const { organizationInFlight, organizationWaits } = settings
    const rates = (yield* Machine).makeRequestRates()
    const requests = makeShares({ each: organizationInFlight })
    const waits = makeShares({ each: organizationWaits })

    /** Counts the request against its key, and says so on its answer, whatever that is. */
    const withinRate = Effect.fnUntraced(function* (caller: Caller) {
      const perMinute = caller.requestsPerMinute ?? settings.keyRequestsPerMinute
      if (perMinute === 0) return null
      const rate = yield* rates.take(caller.keyId, perMinute)
      yield* withHeaders(rateHeaders(rate))
      return rate.allowed ? null : tooManyRequests(rate)
    })

    const scoped = (caller: Caller, endpoint: HttpApiEndpoint.Top) => {
      const oneOf = scopesOf(endpoint)
      return oneOf.some((scope) => caller.scopes.has(scope)) ? null : lacksScope(caller, oneOf)
    }

    /** The place among its organisation's requests is kept until the answer has left. */
    const admitted = Effect.fnUntraced(function* (caller: Caller, endpoint: HttpApiEndpoint.Top) {
      const waiting = isHeldOpen(endpoint, yield* HttpServerRequest.ParsedSearchParams)
      if (yield* (waiting ? waits : requests).take(caller.organizationId)) return null
      return waiting
        ? tooManyAtOnce(organizationWaits, "requests that wait at this gateway")
        : tooManyAtOnce(organizationInFlight, "requests at this gateway")
    })

    return Authorization.of({
      bearer: (handler, { credential, endpoint }) =>
        Effect.matchEffect(unsent(access.authenticate(credential)), {
          onFailure: (error) => Effect.succeed(errorResponse(error)),
          onSuccess: Effect.fnUntraced(function* (caller) {
            const refused =
              (yield* withinRate(caller)) ??
              scoped(caller, endpoint) ??
              (yield* admitted(caller, endpoint))
            return refused === null
              ? yield* Effect.provideService(handler, CurrentCaller, caller)
              : errorResponse(refused)
          })
        })
    })
  })
)

const refused = errorResponse(new InvalidApiKey({ message: "The admin token is missing or wrong" }))

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Null: no token is configured, and nobody is let in. */
export const layerAdminAuthorization = (token: Redacted.Redacted | null) =>
  Layer.succeed(
    AdminAuthorization,
    AdminAuthorization.of({
      admin: (handler, { credential }) =>
        token !== null &&
        Mac.timingSafeEqual(utf8(Redacted.value(credential)), utf8(Redacted.value(token)))
          ? handler
          : Effect.succeed(refused)
    })
  )
