/** Authenticates operators by their tokens, and authorises their requests by role. */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { HttpServerRequest } from "effect/http"
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

const utf8 = (text: string) => new TextEncoder().encode(text)

/** The owner to which the reads and answers of all operators are counted. */
const OPERATORS = "operators"

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

      const authenticate = Effect.fnUntraced(function* (credential: Redacted.Redacted) {
        if (
          token !== null &&
          Mac.timingSafeEqual(utf8(Redacted.value(credential)), utf8(Redacted.value(token)))
        ) {
          return rootOperator
        }
        const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        const guard = guardOf(Option.getOrUndefined(remoteAddress), credential)
        return yield* failAsOverloaded(operators.authenticate(credential, guard))
      })

      return AdminAuthorization.of({
        admin: (handler, { credential, endpoint }) =>
          Effect.matchEffect(authenticate(credential), {
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
          message: `This needs the role ${["owner", ...allowedRoles].join(" or ")}; this token has the role ${role}`
        })
      )
    })
  )
)
