/**
 * The live checks of API keys. A key is looked up, its request counted, and
 * a place taken, in this order and before anything of the body is read.
 */
import { Cause, Context, Effect, Exit, Layer, Option, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type ErrorCode, errorTable, InvalidApiKey, RateLimited } from "../../../domain/Errors.ts"
import { unsent } from "../../../runtime/databaseErrors.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { makeShares } from "../../../runtime/Shares.ts"
import {
  Access,
  type Caller,
  disabledCaller,
  lacksScope,
  type Scope
} from "../../../services/Access.ts"
import { ContentLinks } from "../../../services/results/ContentLinks.ts"
import {
  Authorization,
  CurrentCaller,
  FreeCall,
  HeldOpen,
  RequiredScope,
  TakesLinks
} from "../../api/middlewares.ts"
import { admitAnswer } from "../countedAnswers.ts"
import { errorOf, errorResponse } from "../errorResponse.ts"
import { makeKeyLookUps } from "./keyLookUps.ts"
import { makeKeyRates } from "./keyRates.ts"
import { ReadLanes } from "./readLanes.ts"

/** Takes one of an organisation's places, which is kept until the answer has left. */
const makeRequestPlaces = (bound: number, kind: string) => {
  const taken = makeShares({ each: bound })
  const refused = new RateLimited({
    message: `This organisation may have ${bound} ${kind} at a time; send this one again when another is answered`,
    retryAfterSeconds: 1
  })
  return ({ organizationId }: Caller) =>
    Effect.flatMap(taken.take(organizationId), (isRoom) =>
      isRoom ? Effect.void : Effect.fail(refused)
    )
}

/** Whether the request does nothing but wait. */
const isWaiting = (
  { annotations }: HttpApiEndpoint.Top,
  { wait }: Readonly<Record<string, unknown>>
): boolean => {
  const held = Context.getOrUndefined(annotations, HeldOpen)
  return held === "always" || (held === "asked" && wait !== undefined && Number(wait) !== 0)
}

/** Orders and quotes; what a customer has paid for is never kept from them by their refusals. */
const hasBody = (endpoint: HttpApiEndpoint.Top): boolean => endpoint.payload.size > 0

/** Refusals that are no fault of the request: money that is spent, or a first request that runs still. */
const faultless: ReadonlySet<ErrorCode> = new Set([
  "insufficient_balance",
  "member_cap_exceeded",
  "budget_exceeded",
  "idempotency_conflict",
  "rate_limited"
])

/**
 * Whether a request was refused for good by the gateway itself, for a fault of its own; what a vendor
 * refuses stands as 502 in the table. So counts one whose client leaves: to leave in time would else
 * be a way to be refused for nothing.
 */
const isOwnFault = (exit: Exit.Exit<object, unknown>): boolean => {
  if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause)
  const code = errorOf(exit.value)?._tag
  return code !== undefined && errorTable[code].status < 500 && !faultless.has(code)
}

const refusedLink = new InvalidApiKey({
  message: "The link is closed, has expired or is not whole: read the task again for a fresh one"
})

export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const access = yield* Access
    const links = yield* ContentLinks
    const { organizationInFlight, organizationWaits } = yield* Settings
    const reads = yield* ReadLanes
    const rates = yield* makeKeyRates
    const guardOf = yield* makeKeyLookUps
    const takeWorking = makeRequestPlaces(organizationInFlight, "requests at this gateway")
    const takeWaiting = makeRequestPlaces(organizationWaits, "requests that wait at this gateway")

    /** The holder of the key, when its rates and its scopes allow the request and there is a place. */
    const admitted = Effect.fnUntraced(function* (
      credential: Redacted.Redacted,
      endpoint: HttpApiEndpoint.Top
    ) {
      const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
      const guard = guardOf(Option.getOrUndefined(remoteAddress), credential)
      const caller = yield* unsent(access.authenticate(credential, guard))
      const { disabled = null } = caller
      if (disabled !== null) return yield* disabledCaller(disabled)
      const within = (policy: Parameters<typeof rates.within>[0]) =>
        Effect.tapError(rates.within(policy, caller), () =>
          reads.beforeRefusal(caller.organizationId)
        )
      yield* within("default")
      if (hasBody(endpoint)) yield* within("refusals")
      const free = Context.getOrUndefined(endpoint.annotations, FreeCall)
      if (free !== undefined) yield* within(free)
      const oneOf = [Context.getOrUndefined(endpoint.annotations, RequiredScope) ?? []].flat()
      if (!oneOf.some((scope) => caller.scopes.has(scope))) {
        if (hasBody(endpoint)) yield* rates.countRefusal(caller)
        return yield* lacksScope(caller, oneOf)
      }
      yield* admitAnswer(caller.organizationId)
      const query = yield* HttpServerRequest.ParsedSearchParams
      yield* isWaiting(endpoint, query) ? takeWaiting(caller) : takeWorking(caller)
      return caller
    })

    /** Who a link stands for: nobody but the organisation of its file, and nothing but that file. */
    const linked = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
      if (Context.getOrUndefined(endpoint.annotations, TakesLinks) === undefined) return null
      const { token } = yield* HttpServerRequest.ParsedSearchParams
      if (typeof token !== "string") return null
      const { task_id: id = "", n = "0" } = yield* HttpRouter.params
      const owners = yield* links.verify(token, { id, n: Number(n) })
      if (owners === null) return yield* refusedLink
      const { organizationId, members } = owners
      const standings = yield* unsent(
        Effect.forEach(members, (memberId) => access.standing(organizationId, memberId))
      )
      // Whoever holds the link is told no more than of any other that opens nothing.
      if (standings.some((disabled) => disabled != null)) return yield* refusedLink
      const caller = {
        organizationId,
        memberId: "",
        keyId: "",
        scopes: new Set<Scope>(),
        models: null
      }
      yield* admitAnswer(organizationId)
      yield* takeWorking(caller)
      return caller
    })

    const entered = (credential: Redacted.Redacted, endpoint: HttpApiEndpoint.Top) =>
      Effect.flatMap(linked(endpoint), (caller) =>
        caller === null ? admitted(credential, endpoint) : Effect.succeed(caller)
      )

    return Authorization.of({
      bearer: (handler, { credential, endpoint }) =>
        Effect.matchEffect(entered(credential, endpoint), {
          onFailure: (error) => Effect.succeed(errorResponse(error)),
          onSuccess: (caller) => {
            const answering = Effect.provideService(handler, CurrentCaller, caller)
            return hasBody(endpoint)
              ? Effect.onExit(answering, (exit) =>
                  isOwnFault(exit) ? rates.countRefusal(caller) : Effect.void
                )
              : reads.inTurn(endpoint, caller.organizationId, answering)
          }
        })
    })
  })
)
