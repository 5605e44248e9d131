/** Authenticates operators by token or session, and authorises their requests by role. */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { PermissionDenied } from "../../../domain/Errors.ts"
import { failAsOverloaded } from "../../../runtime/databaseErrors.ts"
import { Operators, rootOperator } from "../../../services/operators/Operators.ts"
import {
  AdminAuthorization,
  AdminRoles,
  AllowedRoles,
  CurrentOperator
} from "../../api/middlewares.ts"
import { admitAnswer } from "../countedAnswers.ts"
import { errorResponse } from "../errorResponse.ts"
import { makeKeyLookUps } from "./keyLookUps.ts"
import { ReadLanes } from "./readLanes.ts"
import { isSameSecret } from "./secretTexts.ts"
import { makeSessionOf } from "./sessionCookies.ts"

/** The owner to which the reads and answers of all operators are counted. */
const OPERATORS = "operators"

const noRole = new PermissionDenied({ message: "The account of this session has no role here" })

/** Where the cookies of sessions are read: other routes, such as `/metrics`, take tokens alone. */
const takesSessions = ({ path }: HttpApiEndpoint.Top): boolean => path.startsWith("/admin/v1/")

/**
 * Authenticates operators. A null token means that none is configured, so that operators can use
 * only their personal tokens.
 */
export const layerAdminAuthorization = (token: Redacted.Redacted | null) =>
  Layer.effect(
    AdminAuthorization,
    Effect.gen(function* () {
      const operators = yield* Operators
      const reads = yield* ReadLanes
      const guardOf = yield* makeKeyLookUps

      const sessionOf = yield* makeSessionOf

      const byToken = Effect.fnUntraced(function* (
        request: HttpServerRequest.HttpServerRequest,
        credential: Redacted.Redacted
      ) {
        if (token !== null && isSameSecret(Redacted.value(credential), Redacted.value(token))) {
          return rootOperator
        }
        const guard = guardOf(Option.getOrUndefined(request.remoteAddress), credential)
        return yield* failAsOverloaded(operators.authenticate(credential, guard))
      })

      const authenticate = Effect.fnUntraced(function* (
        credential: Redacted.Redacted,
        endpoint: HttpApiEndpoint.Top
      ) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const address = Option.getOrUndefined(request.remoteAddress)
        const signedIn = takesSessions(endpoint)
          ? yield* sessionOf(request, (sessionToken) => guardOf(address, sessionToken))
          : null
        if (signedIn === null) return yield* byToken(request, credential)
        return signedIn.operator ?? (yield* noRole)
      })

      return AdminAuthorization.of({
        admin: (handler, { credential, endpoint }) =>
          Effect.matchEffect(authenticate(credential, endpoint), {
            onFailure: (error) => Effect.succeed(errorResponse(error)),
            onSuccess: (operator) => {
              const authorizedHandler = Effect.provideService(handler, CurrentOperator, operator)
              return Effect.matchEffect(admitAnswer(OPERATORS), {
                onFailure: (error) => Effect.succeed(errorResponse(error)),
                onSuccess: () => reads.inTurn(endpoint, OPERATORS, authorizedHandler)
              })
            }
          })
      })
    })
  )

export const layerAdminRoles = Layer.succeed(
  AdminRoles,
  AdminRoles.of((handler, { endpoint }) =>
    Effect.gen(function* () {
      const { role } = yield* CurrentOperator
      if (role === "owner" || endpoint.method === "GET") return yield* handler
      const allowedRoles = Context.getOrUndefined(endpoint.annotations, AllowedRoles) ?? []
      if (allowedRoles.includes(role)) return yield* handler
      return errorResponse(
        new PermissionDenied({
          message: `This needs the role ${["owner", ...allowedRoles].join(" or ")}; you have the role ${role}`
        })
      )
    })
  )
)
