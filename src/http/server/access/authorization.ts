/**
 * Authenticates API keys, and the sessions of people, which stand for a key. The steps come in this
 * order, before any part of the body is read: the key is looked up, the request is counted against
 * the rate limits of the key, its scope is checked, and a permit of its organisation is taken.
 */
import { Cause, Context, Effect, Exit, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { InvalidApiKey, PermissionDenied, RateLimited } from "../../../domain/Errors.ts"
import { failAsOverloaded } from "../../../runtime/databaseErrors.ts"
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
  TakesKeyHeader,
  TakesLinks
} from "../../api/middlewares.ts"
import { admitAnswer } from "../countedAnswers.ts"
import { errorOf, errorResponse } from "../errorResponse.ts"
import { makeKeyLookUps } from "./keyLookUps.ts"
import { isFaultOfRequest, KeyRates, type Policy } from "./keyRates.ts"
import { byEndpoint, ReadLanes } from "./readLanes.ts"
import { makeSessionOf } from "./sessionCookies.ts"

/**
 * Makes an effect that takes one of an organisation's permits. The permit is released when the
 * answer has been sent.
 */
const makeRequestPermits = (limit: number, kind: string) => {
  const permits = makeShares({ perOwner: limit })
  const rateLimited = new RateLimited({
    message: `This organisation may have ${limit} ${kind} at a time; send this one again when another is answered`,
    retryAfterSeconds: 1
  })
  return ({ organizationId }: Caller) =>
    Effect.flatMap(permits.reserve(organizationId), (isReserved) =>
      isReserved ? Effect.void : Effect.fail(rateLimited)
    )
}

/** The conditions under which an endpoint admits the holder of a key. */
const conditionsOf = byEndpoint((endpoint) => {
  const { annotations } = endpoint
  // Orders and quotes take a body. Only such endpoints are subject to the limit of refusals, so
  // that paid results stay readable.
  const hasBody = endpoint.payload.size > 0
  const freeCall = Context.getOrUndefined(annotations, FreeCall)
  const policies: ReadonlyArray<Policy> = [
    "default",
    ...(hasBody ? (["refusals"] as const) : []),
    ...(freeCall === undefined ? [] : [freeCall])
  ]
  return {
    hasBody,
    policies,
    scopes: [Context.getOrUndefined(annotations, RequiredScope) ?? []].flat(),
    heldOpen: Context.getOrUndefined(annotations, HeldOpen),
    // Other routes with this middleware take keys alone.
    takesSessions: endpoint.path.startsWith("/v1/"),
    takesKeyHeader: Context.getOrUndefined(annotations, TakesKeyHeader) ?? false,
    takesLinks: Context.getOrUndefined(annotations, TakesLinks) !== undefined
  }
})
type Conditions = ReturnType<typeof conditionsOf>

/** Whether the request is held open without doing any work. */
const isWaiting = ({ heldOpen }: Conditions) =>
  heldOpen === "with-wait"
    ? Effect.map(
        HttpServerRequest.ParsedSearchParams,
        ({ wait }) => wait !== undefined && Number(wait) !== 0
      )
    : Effect.succeed(heldOpen === "always")

/**
 * Whether the gateway itself refused a request for a fault of the request. A request whose client
 * disconnects counts too, as otherwise a client could avoid the count by disconnecting in time.
 */
const isClientFault = (exit: Exit.Exit<object, unknown>): boolean => {
  if (Exit.isFailure(exit)) return Cause.hasInterruptsOnly(exit.cause)
  const code = errorOf(exit.value)?._tag
  return code !== undefined && isFaultOfRequest(code)
}

const missingKey = new InvalidApiKey({
  message: "The API key is missing. Send it as: Authorization: Bearer <API_KEY>"
})

const missingScheme = new InvalidApiKey({
  message: "The Authorization header is not of the scheme Bearer. Send it as: Bearer <API_KEY>"
})

/**
 * The refusal of a request without a bearer token. It depends on the header alone, so that it does
 * not show which keys exist.
 */
const withoutToken = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers: { authorization = "" } }) =>
    /^(bearer *)?$/i.test(authorization) ? missingKey : missingScheme
)

const noMember = new PermissionDenied({
  message: "The account of this session is in no organisation here; after a change, sign in again"
})

/** The key of a request: its bearer token, or where the route takes one and has none, its header. */
const keyOf = (credential: Redacted.Redacted, { takesKeyHeader }: Conditions) =>
  takesKeyHeader && Redacted.value(credential) === ""
    ? Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Redacted.make(headers["x-api-key"] ?? "")
      )
    : Effect.succeed(credential)

const invalidLink = new InvalidApiKey({
  message: "The link is closed, has expired or is not whole: read the task again for a fresh one"
})

export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const access = yield* Access
    const links = yield* ContentLinks
    const { organizationInFlight, organizationWaits } = yield* Settings
    const reads = yield* ReadLanes
    const rates = yield* KeyRates
    const guardOf = yield* makeKeyLookUps
    const sessionOf = yield* makeSessionOf
    const takeWorkPermit = makeRequestPermits(organizationInFlight, "requests at this gateway")
    const takeWaitPermit = makeRequestPermits(
      organizationWaits,
      "requests that wait at this gateway"
    )

    /** The holder of the key in the header; without a key, of the one that the session stands for. */
    const authenticate = Effect.fnUntraced(function* (
      bearer: Redacted.Redacted,
      conditions: Conditions
    ) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const address = Option.getOrUndefined(request.remoteAddress)
      const credential = yield* keyOf(bearer, conditions)
      if (Redacted.value(credential) !== "") {
        const guard = guardOf(address, credential)
        return yield* failAsOverloaded(access.authenticate(credential, guard))
      }
      const signedIn = conditions.takesSessions
        ? yield* sessionOf(request, (token) => guardOf(address, token))
        : null
      if (signedIn === null) return yield* yield* withoutToken
      const { organizationId, keyId } = signedIn.member ?? (yield* noMember)
      return yield* failAsOverloaded(access.callerOf(organizationId, keyId))
    })

    /**
     * The holder of the key. Fails when the rate limits or the scopes of the key refuse the
     * request, or when no permit is free.
     */
    const admitByKey = Effect.fnUntraced(function* (
      bearer: Redacted.Redacted,
      conditions: Conditions
    ) {
      const { hasBody, policies, scopes } = conditions
      const caller = yield* authenticate(bearer, conditions)
      const { disabledOwner = null } = caller
      if (disabledOwner !== null) return yield* disabledCaller(disabledOwner)
      yield* Effect.tapError(rates.within(policies, caller), () =>
        reads.beforeRefusal(caller.organizationId)
      )
      if (!scopes.some((scope) => caller.scopes.has(scope))) {
        if (hasBody) yield* rates.countRefusal(caller)
        return yield* lacksScope(caller, scopes)
      }
      yield* admitAnswer(caller.organizationId)
      yield* (yield* isWaiting(conditions)) ? takeWaitPermit(caller) : takeWorkPermit(caller)
      return caller
    })

    /**
     * The caller of a content link, which has a `token`: the organisation of the link, with access
     * only to the file of the link; null for a request without a link.
     */
    const admitByLink = Effect.gen(function* () {
      const { token } = yield* HttpServerRequest.ParsedSearchParams
      if (typeof token !== "string") return null
      const { task_id: id = "", n = "0" } = yield* HttpRouter.params
      const owners = yield* links.verify(token, { id, n: Number(n) })
      if (owners === null) return yield* invalidLink
      const { organizationId, members } = owners
      const ownerStates = yield* failAsOverloaded(
        Effect.forEach(members, (memberId) => access.ownerState(organizationId, memberId))
      )
      // The answer does not distinguish a disabled owner from an invalid link.
      if (ownerStates.some((disabled) => disabled != null)) return yield* invalidLink
      const caller = {
        organizationId,
        memberId: "",
        keyId: "",
        scopes: new Set<Scope>(),
        models: null
      }
      yield* admitAnswer(organizationId)
      yield* takeWorkPermit(caller)
      return caller
    })

    const admit = (credential: Redacted.Redacted, conditions: Conditions) => {
      const byKey = admitByKey(credential, conditions)
      return conditions.takesLinks
        ? Effect.flatMap(admitByLink, (caller) =>
            caller === null ? byKey : Effect.succeed(caller)
          )
        : byKey
    }

    return Authorization.of({
      bearer: (handler, { credential, endpoint }) => {
        const conditions = conditionsOf(endpoint)
        return Effect.matchEffect(admit(credential, conditions), {
          onFailure: (error) => Effect.succeed(errorResponse(error)),
          onSuccess: (caller) => {
            const authorizedHandler = Effect.provideService(handler, CurrentCaller, caller)
            return conditions.hasBody
              ? Effect.onExit(authorizedHandler, (exit) =>
                  isClientFault(exit) ? rates.countRefusal(caller) : Effect.void
                )
              : reads.inTurn(endpoint, caller.organizationId, authorizedHandler)
          }
        })
      }
    })
  })
)
