/** The handlers of sign-in. Without a configuration, only the ways to sign in are answered. */
import { ByteSize, Effect, Option, Redacted } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse, UrlParams } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest, NotFound, Overloaded } from "../../domain/Errors.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { makeKeyLookUps } from "../../http/server/access/keyLookUps.ts"
import {
  makeSessionOf,
  sessionCookieOptions,
  sessionTokenOf
} from "../../http/server/access/sessionCookies.ts"
import { failAsOverloaded } from "../../runtime/databaseErrors.ts"
import { refusedSession, type Session } from "../../services/Sessions.ts"
import { ProviderUnavailable } from "./IdentityProvider.ts"
import { personIdOf, SIGN_IN_SECONDS, SignIn } from "./SignIn.ts"
import { signInApi } from "./SignInApi.ts"
import { CONSOLE_PATH, cookieNameOf } from "./SignInConfig.ts"
import { refusalPage } from "./signInPages.ts"
import type { Rights } from "./signInRules.ts"

const notConfigured = new NotFound({
  message: "Nobody signs in with an account here: GATEWAY_OIDC_ISSUER is not set"
})

const MAX_FORM_BYTES = 64 * 1024
const MAX_RETURN_LENGTH = 2000
const RETRY_SECONDS = 5

/**
 * The path of this origin that a text names; null for every other text, such as the address of
 * another site in one of the spellings that browsers read as one.
 */
const localPath = (text: string, origin: string): string | null => {
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text) || text.length > MAX_RETURN_LENGTH) return null
  const url = URL.parse(text, origin)
  return url?.origin === origin && !url.pathname.startsWith("//")
    ? `${url.pathname}${url.search}${url.hash}`
    : null
}

const wrongPath = new InvalidRequest({
  message: "return_to: Expected a path of this gateway, such as /console/orders",
  param: "return_to"
})

export const sessionView = (session: Session, { role, organizationId }: Rights) => ({
  id: session.id,
  person_id: personIdOf(session.person),
  name: session.person.name,
  email: session.person.email,
  role,
  organization_id: organizationId,
  created_at: session.createdAt.toISOString(),
  used_at: session.usedAt.toISOString(),
  ends_at: session.endsAt.toISOString()
})

/** No answer about a session may be stored on the way. */
const noStore = HttpServerResponse.setHeader("cache-control", "no-store")

const json = (body: object) => noStore(HttpServerResponse.jsonUnsafe(body))

export const layerSignInHandlers = HttpApiBuilder.group(
  signInApi,
  "signIn",
  Effect.fn(function* (handlers) {
    const signIn = yield* SignIn
    const sessionOf = yield* makeSessionOf
    const guardOf = yield* makeKeyLookUps

    const requireSignIn = signIn === null ? Effect.fail(notConfigured) : Effect.succeed(signIn)

    /** The session of the request; fails where there is none. */
    const current = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const address = Option.getOrUndefined(request.remoteAddress)
      const signedIn = yield* sessionOf(request, (token) => guardOf(address, token))
      if (signIn === null || signedIn === null) return yield* refusedSession
      return { signIn, signedIn }
    })

    return handlers.handleAll({
      readMethods: () =>
        Effect.succeed(
          HttpServerResponse.jsonUnsafe(
            { sso: signIn !== null },
            { headers: { "cache-control": "public, max-age=300" } }
          )
        ),

      signIn: Effect.fn("signIn.signIn")(function* ({ query }) {
        const { config, begin } = yield* requireSignIn
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const origin = new URL(config.publicUrl).origin
        const returnTo = localPath(query.return_to ?? CONSOLE_PATH, origin)
        if (returnTo === null) return yield* wrongPath
        // A page of another site signs nobody in: the person begins it on the console's own page.
        const site = headers["sec-fetch-site"]
        if (site === "cross-site" || site === "same-site") {
          return HttpServerResponse.redirect(CONSOLE_PATH)
        }
        return yield* begin(returnTo).pipe(
          Effect.map(({ url, cookie }) =>
            HttpServerResponse.redirect(url).pipe(
              HttpServerResponse.setCookieUnsafe(cookieNameOf(config, "sign_in"), cookie, {
                ...sessionCookieOptions(cookieNameOf(config, "sign_in")),
                maxAge: `${SIGN_IN_SECONDS} seconds`
              }),
              noStore
            )
          ),
          Effect.catchTag("ProviderUnavailable", ({ message }) =>
            Effect.as(
              Effect.logWarning("sign-in: the identity provider failed").pipe(
                Effect.annotateLogs({ cause: message })
              ),
              refusalPage("unavailable", headers["accept-language"])
            )
          )
        )
      }),

      completeSignIn: Effect.fn("signIn.completeSignIn")(function* () {
        const { complete, config, store } = yield* requireSignIn
        const request = yield* HttpServerRequest.HttpServerRequest
        const cookieName = cookieNameOf(config, "session")
        const attemptName = cookieNameOf(config, "sign_in")
        const [, search = ""] = /\?(.*)$/s.exec(request.url) ?? []
        const answer = yield* complete(request.cookies[attemptName] ?? null, search).pipe(
          Effect.tap(() => {
            // The session that this browser had before ends: nobody goes on with its token.
            const earlier = sessionTokenOf(request, cookieName)
            return earlier === null ? Effect.void : store.endByToken(earlier)
          }),
          Effect.map(({ token, returnTo }) =>
            HttpServerResponse.redirect(returnTo, { status: 303 }).pipe(
              HttpServerResponse.setCookieUnsafe(
                cookieName,
                Redacted.value(token),
                sessionCookieOptions(cookieName)
              )
            )
          ),
          Effect.catch((error) => {
            const refusal = error instanceof ProviderUnavailable ? "unavailable" : error.refusal
            const cause = error instanceof ProviderUnavailable ? error.message : error.reason
            return Effect.as(
              Effect.logWarning("sign-in: refused").pipe(Effect.annotateLogs({ refusal, cause })),
              refusalPage(refusal, request.headers["accept-language"])
            )
          })
        )
        return answer.pipe(
          HttpServerResponse.expireCookieUnsafe(attemptName, sessionCookieOptions(attemptName)),
          HttpServerResponse.setHeader("referrer-policy", "no-referrer"),
          noStore
        )
      }),

      readSession: Effect.fn("signIn.readSession")(function* () {
        const { signIn: configured, signedIn } = yield* current
        const { csrfToken, session } = signedIn
        const rights = configured.rightsOf(session.person)
        return json({
          ...sessionView(session, rights),
          kind: rights.role === null ? "member" : "operator",
          csrf_token: csrfToken
        })
      }),

      signOut: Effect.fn("signIn.signOut")(function* () {
        const { signIn: configured, signedIn } = yield* current
        yield* Effect.ignore(configured.store.end(signedIn.session.id, null))
        const cookieName = cookieNameOf(configured.config, "session")
        return json({ end_session_url: yield* configured.endSessionUrl }).pipe(
          HttpServerResponse.expireCookieUnsafe(cookieName, sessionCookieOptions(cookieName))
        )
      }),

      listOwnSessions: Effect.fn("signIn.listOwnSessions")(function* ({ query }) {
        const { signIn: configured, signedIn } = yield* current
        const page = yield* configured.store.list(signedIn.session.person, pageOf(query))
        return json(
          listView(page, (session) => sessionView(session, configured.rightsOf(session.person)))
        )
      }),

      endOwnSessions: Effect.fn("signIn.endOwnSessions")(function* () {
        const { signIn: configured, signedIn } = yield* current
        const sessionCount = yield* configured.store.endAll(signedIn.session.person)
        const cookieName = cookieNameOf(configured.config, "session")
        return json({ ended: sessionCount }).pipe(
          HttpServerResponse.expireCookieUnsafe(cookieName, sessionCookieOptions(cookieName))
        )
      }),

      endOwnSession: Effect.fn("signIn.endOwnSession")(function* ({ params }) {
        const { signIn: configured, signedIn } = yield* current
        yield* configured.store.end(params.id, signedIn.session.person)
        return { id: params.id }
      }),

      endByProvider: Effect.fn("signIn.endByProvider")(function* () {
        const { endByProvider } = yield* requireSignIn
        const request = yield* HttpServerRequest.HttpServerRequest
        const form = yield* request.urlParamsBody.pipe(
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_FORM_BYTES)),
          Effect.mapError(
            () => new InvalidRequest({ message: "Expected a form with a logout_token" })
          )
        )
        const token = Option.getOrElse(UrlParams.getFirst(form, "logout_token"), () => "")
        const sessionCount = yield* failAsOverloaded(endByProvider(token)).pipe(
          Effect.catchTag("ProofRefused", ({ message }) =>
            Effect.andThen(
              Effect.logWarning("sign-in: a logout token was refused").pipe(
                Effect.annotateLogs({ cause: message })
              ),
              new InvalidRequest({
                message: "The logout_token is not valid",
                param: "logout_token"
              })
            )
          ),
          Effect.catchTag("ProviderUnavailable", ({ message }) =>
            Effect.fail(new Overloaded({ message, retryAfterSeconds: RETRY_SECONDS }))
          )
        )
        yield* Effect.logInfo("sign-in: the identity provider ended sessions").pipe(
          Effect.annotateLogs({ sessions: sessionCount })
        )
        return noStore(HttpServerResponse.empty({ status: 200 }))
      })
    })
  })
)
