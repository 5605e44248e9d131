/** Who is let in: the key is checked, its request counted, and a place taken, in this order. */
import { Context, Effect, Layer, type Redacted } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type GatewayError, RateLimited } from "../domain/Errors.ts"
import { Access, type Caller, lacksScope, type Scope } from "../services/Access.ts"
import { Machine } from "../services/Machine.ts"
import type { Rate } from "../services/RequestRates.ts"
import { Settings } from "../services/Settings.ts"
import { makeShares } from "../services/Shares.ts"
import { unsent } from "../services/storeTrouble.ts"
import { RequiredScope } from "./api/Authorization.ts"
import { withHeaders } from "./handlers/respond.ts"
import { rateHeaders } from "./rateHeaders.ts"

/** Requests that work, or that do nothing but wait; each kind has places of its own. */
export type Places = "working" | "waiting"

export class Admission extends Context.Service<
  Admission,
  {
    /** The holder of the key, when its rate and its scopes allow the request. */
    identify(
      credential: Redacted.Redacted,
      endpoint: HttpApiEndpoint.Top
    ): Effect.Effect<Caller, GatewayError>
    /** Takes a place among the organisation's requests; answers why there is none. */
    enter(caller: Caller, places: Places): RateLimited | null
    /** Gives the place back. */
    leave(caller: Caller, places: Places): void
  }
>()("gateway/http/Admission") {}

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

export const layerAdmission = Layer.effect(
  Admission,
  Effect.gen(function* () {
    const access = yield* Access
    const settings = yield* Settings
    const { organizationInFlight, organizationWaits } = settings
    const rates = (yield* Machine).makeRequestRates()
    const bounds = { working: organizationInFlight, waiting: organizationWaits }
    const taken = {
      working: makeShares({ each: bounds.working }),
      waiting: makeShares({ each: bounds.waiting })
    }
    const kinds = {
      working: "requests at this gateway",
      waiting: "requests that wait at this gateway"
    }

    /** Counts the request against its key, and says so on its answer, whatever that is. */
    const withinRate = Effect.fnUntraced(function* (caller: Caller, perMinute: number) {
      const rate = yield* rates.take(caller.keyId, perMinute)
      yield* withHeaders(rateHeaders(rate))
      return rate.allowed ? null : tooManyRequests(rate)
    })

    return Admission.of({
      identify: Effect.fnUntraced(function* (credential, endpoint) {
        const caller = yield* unsent(access.authenticate(credential))
        const perMinute = caller.requestsPerMinute ?? settings.keyRequestsPerMinute
        const limited = perMinute === 0 ? null : yield* withinRate(caller, perMinute)
        if (limited !== null) return yield* limited
        const oneOf = scopesOf(endpoint)
        if (!oneOf.some((scope) => caller.scopes.has(scope))) {
          return yield* lacksScope(caller, oneOf)
        }
        return caller
      }),
      enter: (caller, places) =>
        taken[places].tryTake(caller.organizationId)
          ? null
          : tooManyAtOnce(bounds[places], kinds[places]),
      leave: (caller, places) => taken[places].giveBack(caller.organizationId)
    })
  })
)
