/** The HTTP API of sign-in, for browsers: beside `/v1` and `/admin/v1`, and without a key. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { idParams } from "../../http/api/admin/lists.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { RequestRules } from "../../http/api/middlewares.ts"
import {
  flag,
  integer,
  list,
  nullable,
  pageQuery,
  Timestamp,
  text,
  textOrNull,
  time
} from "../../http/api/shared.ts"
import { Role } from "../../services/operators/Operators.ts"

const rights = {
  role: nullable(Role, "The person's role as an operator; null for people without one"),
  organization_id: textOrNull("The organisation that the person is a member of; null for none")
}

export const SessionView = Schema.Struct({
  id: text("The session's id"),
  person_id: text("The account at the identity provider, as the audit trail names it"),
  name: text("The person's name, for people"),
  email: textOrNull("The e-mail address; null where the provider has not verified one"),
  ...rights,
  created_at: Timestamp,
  used_at: time("When it was used last, within half a minute"),
  ends_at: time("When it ends if it is not used again")
}).annotate({ identifier: "Session", description: "The session of a person who signed in" })

const sessionErrors = [
  errors.InvalidApiKey,
  errors.PermissionDenied,
  errors.RateLimited,
  errors.Overloaded
] as const

const redirect = HttpApiSchema.Empty(302)

class SignInGroup extends HttpApiGroup.make("signIn").add(
  HttpApiEndpoint.get("readMethods", "/methods", {
    success: Schema.Struct({
      sso: flag("Whether people sign in with the account of their company, at `/auth/login`")
    })
  }).annotateMerge(operation("Read the ways to sign in", "Tokens and keys are always taken.")),
  HttpApiEndpoint.get("signIn", "/login", {
    query: {
      return_to: Schema.optionalKey(
        text("The path of this gateway to which the browser returns", "/console/orders")
      )
    },
    success: redirect,
    error: [errors.InvalidRequest, errors.NotFound]
  }).annotateMerge(
    operation("Sign in", "Sends the browser to the identity provider, and back afterwards.")
  ),
  HttpApiEndpoint.get("completeSignIn", "/callback", {
    success: redirect,
    error: errors.NotFound
  }).annotateMerge(
    operation(
      "Complete a sign-in",
      "Where the identity provider sends the browser. Answers with the cookie of a new session, or with a page that says why there is none."
    )
  ),
  HttpApiEndpoint.get("readSession", "/session", {
    success: Schema.Struct({
      ...SessionView.fields,
      kind: Schema.Literals(["operator", "member"]).annotate({
        description: "`operator` for people with a role, who may be members too"
      }),
      csrf_token: text("The value for the header `x-csrf-token` of requests that change something")
    }),
    error: sessionErrors
  }).annotateMerge(operation("Read one's session", "Who is signed in, with which rights.")),
  HttpApiEndpoint.post("signOut", "/logout", {
    success: Schema.Struct({
      end_session_url: textOrNull(
        "Where the browser may end the identity provider's own session; null where it has no such address"
      )
    }),
    error: sessionErrors
  }).annotateMerge(operation("Sign out", "Ends the session, on every gateway at once.")),
  HttpApiEndpoint.get("listOwnSessions", "/sessions", {
    query: pageQuery,
    success: list(SessionView),
    error: [...sessionErrors, errors.InvalidRequest]
  }).annotateMerge(operation("List one's sessions", "Those that have not ended.")),
  HttpApiEndpoint.delete("endOwnSessions", "/sessions", {
    success: Schema.Struct({ ended: integer("How many sessions ended, this one included") }),
    error: sessionErrors
  }).annotateMerge(operation("Sign out everywhere", "Ends all sessions of the person.")),
  HttpApiEndpoint.delete("endOwnSession", "/sessions/:id", {
    params: idParams("session"),
    success: Schema.Struct({ id: text("The session's id") }),
    error: [...sessionErrors, errors.NotFound]
  }).annotateMerge(operation("End one of one's sessions", "On every gateway at once.")),
  HttpApiEndpoint.post("endByProvider", "/backchannel-logout", {
    success: HttpApiSchema.Empty(200),
    error: [errors.InvalidRequest, errors.NotFound, errors.Overloaded]
  }).annotateMerge(
    operation(
      "End sessions for the identity provider",
      "Takes a form with a `logout_token` of the provider (OpenID Connect Back-Channel Logout)."
    )
  )
) {}

/** The contract of routes under `/auth`, which authenticate by themselves. */
export const signInApi = HttpApi.make("media-gateway")
  .add(SignInGroup)
  .middleware(RequestRules)
  .prefix("/auth")
