/** The live checks of API keys and of the operator's token. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { InvalidApiKey, PermissionDenied } from "../domain/Errors.ts"
import { Access } from "../services/Access.ts"
import { unsent } from "../services/storeTrouble.ts"
import {
  AdminAuthorization,
  Authorization,
  CurrentCaller,
  RequiredScope
} from "./api/Authorization.ts"
import { errorResponse } from "./errorResponse.ts"

export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const access = yield* Access
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (handler, { credential, endpoint }) {
        const checked = yield* Effect.result(unsent(access.authenticate(credential)))
        if (checked._tag === "Failure") return errorResponse(checked.failure)
        const caller = checked.success
        const asked = Context.getOrUndefined(endpoint.annotations, RequiredScope) ?? []
        const oneOf = typeof asked === "string" ? [asked] : asked
        if (!oneOf.some((scope) => caller.scopes.has(scope))) {
          return errorResponse(
            new PermissionDenied({
              message: `This key does not have the scope ${oneOf.join(" or ") || "of this route"}`
            })
          )
        }
        return yield* Effect.provideService(handler, CurrentCaller, caller)
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
