/**
 * Authenticates requests by the cookie of a session. A browser sends cookies by itself, also where a
 * page of somebody else makes it send a request. So a request that may change something needs the
 * session's CSRF token in a header, and must come from a page of the console.
 */
import { Effect, Redacted } from "effect"
import { Cookies, type HttpServerRequest } from "effect/http"
import { type InvalidApiKey, type Overloaded, PermissionDenied } from "../../../domain/Errors.ts"
import { failAsOverloaded } from "../../../runtime/databaseErrors.ts"
import type { LookUpGuard } from "../../../services/bearerTokens.ts"
import { Sessions, type SignedIn } from "../../../services/Sessions.ts"
import { withHeaders } from "../envelope.ts"
import { isSameSecret } from "./secretTexts.ts"

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"])

const wrongToken = new PermissionDenied({
  message: "A request with a session that changes something needs the header x-csrf-token"
})
const wrongOrigin = new PermissionDenied({
  message: "A session is taken from pages of the gateway itself alone"
})

/**
 * Whether the browser says that a page of this origin sent the request. Where it says so twice, both
 * must be right. A request that changes something must say so; one that reads may say nothing, or
 * that its user typed the address.
 */
const isSameOrigin = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  expected: string
): boolean => {
  const { origin, "sec-fetch-site": site } = headers
  if (origin !== undefined && origin !== expected) return false
  if (SAFE_METHODS.has(method)) return site === undefined || /^(?:same-origin|none)$/.test(site)
  return site === undefined ? origin !== undefined : site === "same-origin"
}

/** The attributes of a session's cookie. It ends with the browser's own session. */
export const sessionCookieOptions = (cookieName: string) =>
  ({
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: cookieName.startsWith("__Host-")
  }) as const

/** The text of a `Set-Cookie` header for a session's token. */
const setCookieText = (cookieName: string, token: Redacted.Redacted): string =>
  Cookies.serializeCookie(
    Cookies.makeCookieUnsafe(cookieName, Redacted.value(token), sessionCookieOptions(cookieName))
  )

/** The token in the cookie of a session; null where the request has none. */
export const sessionTokenOf = (
  { cookies }: HttpServerRequest.HttpServerRequest,
  cookieName: string
): Redacted.Redacted | null => {
  const token = cookies[cookieName]
  return token === undefined || token === "" ? null : Redacted.make(token)
}

/**
 * Makes the effect that finds the session of a request; null where sign-in is off, where the request
 * has no cookie of a session, and where it has an `Authorization` header, which always decides alone.
 */
export const makeSessionOf = Effect.map(
  Sessions,
  (sessions) =>
    <E>(
      request: HttpServerRequest.HttpServerRequest,
      guardOf: (token: Redacted.Redacted) => LookUpGuard<E>
    ): Effect.Effect<SignedIn | null, InvalidApiKey | PermissionDenied | Overloaded | E> => {
      if (sessions === null || request.headers.authorization !== undefined) {
        return Effect.succeed(null)
      }
      const token = sessionTokenOf(request, sessions.cookieName)
      if (token === null) return Effect.succeed(null)
      return Effect.gen(function* () {
        const signedIn = yield* failAsOverloaded(sessions.authenticate(token, guardOf(token)))
        if (!isSameOrigin(request, sessions.origin)) return yield* wrongOrigin
        if (!SAFE_METHODS.has(request.method)) {
          const csrfToken = request.headers["x-csrf-token"] ?? ""
          if (!isSameSecret(csrfToken, signedIn.csrfToken)) return yield* wrongToken
        }
        const successor = yield* failAsOverloaded(signedIn.renew)
        if (successor !== null) {
          yield* withHeaders({ "set-cookie": setCookieText(sessions.cookieName, successor) })
        }
        return signedIn
      })
    }
)
