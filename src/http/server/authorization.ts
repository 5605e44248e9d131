/** The live checks of API keys and of the operator's token. */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { InvalidApiKey } from "../../domain/Errors.ts"
import { AdminAuthorization, Authorization, CurrentCaller, HeldOpen } from "../api/middlewares.ts"
import { makeAdmission, type Places } from "./admission.ts"
import { errorResponse } from "./errorResponse.ts"

/** A request that does nothing but wait has a place of its own kind. */
const placesOf = (
  endpoint: HttpApiEndpoint.Top,
  query: Readonly<Record<string, unknown>>
): Places => {
  const held = Context.getOrUndefined(endpoint.annotations, HeldOpen)
  const waits =
    held === "always" || (held === "asked" && query.wait !== undefined && Number(query.wait) !== 0)
  return waits ? "waiting" : "working"
}

export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const admission = yield* makeAdmission

    const admitted = Effect.fnUntraced(function* (
      credential: Redacted.Redacted,
      endpoint: HttpApiEndpoint.Top
    ) {
      const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
      const address = Option.getOrUndefined(remoteAddress)
      const caller = yield* admission.identify(credential, endpoint, address)
      yield* admission.enter(
        caller,
        placesOf(endpoint, yield* HttpServerRequest.ParsedSearchParams)
      )
      return caller
    })

    return Authorization.of({
      bearer: (handler, { credential, endpoint }) =>
        Effect.matchEffect(admitted(credential, endpoint), {
          onFailure: (error) => Effect.succeed(errorResponse(error)),
          onSuccess: (caller) =>
            admission.counted(
              caller,
              endpoint,
              Effect.provideService(handler, CurrentCaller, caller)
            )
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
