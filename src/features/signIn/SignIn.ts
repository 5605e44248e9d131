/**
 * People sign in with the account of their company: the sign-in itself, the sessions that it opens,
 * and the rights that a session has at each use.
 */
import { createHash } from "node:crypto"
import { Clock, Context, Effect, identity, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { Access } from "../../services/Access.ts"
import { isWellFormedToken, type LookUpGuard } from "../../services/bearerTokens.ts"
import type { Operator, Role } from "../../services/operators/Operators.ts"
import { type Person, refusedSession, Sessions, type SignedIn } from "../../services/Sessions.ts"
import { Vault } from "../../services/Vault.ts"
import {
  makeIdentityProvider,
  newSignInSecrets,
  type ProviderUnavailable
} from "./IdentityProvider.ts"
import { makeMemberKeys } from "./memberKeys.ts"
import { makeSessionStore } from "./SessionStore.ts"
import { cookieNameOf, SignInConfig } from "./SignInConfig.ts"
import { rightsOf } from "./signInRules.ts"

/** A person may take this long at the provider. */
export const SIGN_IN_SECONDS = 600

/** What the browser keeps between the start and the end of a sign-in, encrypted. */
const Attempt = Schema.fromJsonString(
  Schema.Struct({
    state: Schema.String,
    nonce: Schema.String,
    codeVerifier: Schema.String,
    returnTo: Schema.String,
    startedAtMillis: Schema.Number
  })
)

/**
 * Why a sign-in is refused: it was not begun in this browser or too long ago, the provider's answer
 * is not accepted, no rule is about the person, or an operator has taken the access away.
 */
const Refusal = Schema.Literals(["not_begun_here", "not_proven", "no_right", "access_ended"])
export type Refusal = typeof Refusal.Type

/**
 * No session was opened. `reason` is for the log, and has no secret.
 * @public
 */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  refusal: Refusal,
  reason: Schema.String
}) {}

const ID_DIGITS = 32

/** The id under which the audit trail and lists name a person. */
export const personIdOf = ({ issuer, subject }: Person): string =>
  `sso_${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, ID_DIGITS)}`

const personName = ({ email, name }: Person): string => email ?? name

const operatorOf = (person: Person, role: Role | null): Operator | null =>
  role === null ? null : { id: personIdOf(person), name: personName(person), role }

const make = Effect.fnUntraced(function* (config: SignInConfigured) {
  const access = yield* Access
  const vault = yield* Vault
  const store = yield* makeSessionStore
  const memberKeys = yield* makeMemberKeys
  const provider = makeIdentityProvider(config)
  const random = yield* SecureRandom.SecureRandom

  const seal = Effect.fnUntraced(function* (attempt: typeof Attempt.Type) {
    const text = Redacted.make(yield* Effect.orDie(Schema.encodeEffect(Attempt)(attempt)))
    const { keyId, bytes } = yield* vault.seal(text, "sign-in", config.publicUrl)
    return `${keyId}.${Base64Url.encode(bytes)}`
  })

  /** The attempt in a cookie; fails for a cookie that the gateway did not make, or long ago. */
  const open = Effect.fnUntraced(
    function* (cookie: string) {
      const [keyId = "", text = ""] = cookie.split(".", 2)
      const bytes = yield* Effect.fromResult(Base64Url.decode(text))
      const json = yield* vault.open({ keyId, bytes }, "sign-in", config.publicUrl)
      const attempt = yield* Schema.decodeEffect(Attempt)(Redacted.value(json))
      const ageMillis = (yield* Clock.currentTimeMillis) - attempt.startedAtMillis
      return ageMillis <= SIGN_IN_SECONDS * 1000 ? attempt : null
    },
    Effect.catch(() => Effect.succeed(null))
  )

  const memberOf = Effect.fnUntraced(function* (person: Person, organizationId: string | null) {
    if (organizationId === null) return null
    const key = yield* memberKeys.find(organizationId, person)
    return key === null ? null : { organizationId, keyId: key.keyId }
  })

  const refuse = (refusal: Refusal, reason: string) => new SignInRefused({ refusal, reason })

  /** Makes the member where a rule names an organisation; refuses who has no right at all. */
  const admit = Effect.fnUntraced(function* (person: Person) {
    const { role, organizationId } = rightsOf(config, person)
    if (role === null && organizationId === null) {
      return yield* refuse("no_right", "no rule is about the person")
    }
    if (organizationId === null) return
    const key = yield* memberKeys.findOrCreate(organizationId, person)
    if (role !== null) return
    if (key === null) {
      return yield* refuse("no_right", `there is no organisation ${organizationId}`)
    }
    const { disabledOwner = null } = yield* Effect.mapError(
      access.callerOf(organizationId, key.keyId),
      () => refuse("access_ended", `the key ${key.keyId} is revoked or expired`)
    )
    if (disabledOwner !== null) {
      return yield* refuse("access_ended", `the ${disabledOwner} is disabled`)
    }
  })

  const authenticate = <E = never>(
    token: Redacted.Redacted,
    guard: LookUpGuard<E> = identity
  ): Effect.Effect<SignedIn, typeof refusedSession | E> =>
    Effect.gen(function* () {
      if (!isWellFormedToken("mgs_", token)) return yield* refusedSession
      const liveSession = yield* guard(
        Effect.flatMap(store.find(token), (session) =>
          session === null ? Effect.fail(refusedSession) : Effect.succeed(session)
        )
      )
      const { person } = liveSession.session
      const { role, organizationId } = rightsOf(config, person)
      return {
        ...liveSession,
        operator: operatorOf(person, role),
        member: yield* memberOf(person, organizationId)
      }
    })

  return {
    config,
    store,
    authenticate,
    rightsOf: (person: Person) => rightsOf(config, person),

    /** Begins a sign-in: the provider's address, and the cookie for the browser. */
    begin: Effect.fn("SignIn.begin")(function* (returnTo: string) {
      const secrets = yield* newSignInSecrets(random)
      const url = yield* provider.authorizationUrl(secrets)
      const startedAtMillis = yield* Clock.currentTimeMillis
      return { url, cookie: yield* seal({ ...secrets, returnTo, startedAtMillis }) }
    }),

    /** Ends a sign-in by the query of the provider's redirect: a new session, and where to go. */
    complete: Effect.fn("SignIn.complete")(function* (
      cookie: string | null,
      query: string
    ): Effect.fn.Return<
      { readonly token: Redacted.Redacted; readonly returnTo: string },
      SignInRefused | ProviderUnavailable
    > {
      const attempt = cookie === null ? null : yield* open(cookie)
      if (attempt === null) return yield* refuse("not_begun_here", "no cookie of a sign-in")
      const proven = yield* Effect.catchTag(
        provider.identify(query, attempt),
        "ProofRefused",
        ({ message }) => refuse("not_proven", message)
      )
      yield* admit(proven.person)
      const token = yield* store.create(proven, attempt.state)
      if (token === null) return yield* refuse("not_proven", "the sign-in was used before")
      yield* Effect.logInfo("sign-in: a session was opened").pipe(
        Effect.annotateLogs({ person_id: personIdOf(proven.person) })
      )
      return { token, returnTo: attempt.returnTo }
    }),

    /** Ends the sessions that a logout token of the provider names. */
    endByProvider: Effect.fn("SignIn.endByProvider")(function* (logoutToken: string) {
      const notice = yield* provider.verifyLogoutToken(logoutToken)
      return yield* store.endByNotice(config.issuer, notice)
    }),

    /** Where the provider ends its own session; null where it cannot, or does not answer. */
    endSessionUrl: Effect.catchTag(provider.endSessionUrl, "ProviderUnavailable", () =>
      Effect.succeed(null)
    )
  }
})

type SignInConfigured = NonNullable<typeof SignInConfig.Service>

/** Null where sign-in is not configured. */
export const SignIn = Context.Reference<Effect.Success<ReturnType<typeof make>> | null>(
  "gateway/features/signIn/SignIn",
  { defaultValue: () => null }
)

const layerSignIn = Layer.effect(
  SignIn,
  Effect.flatMap(SignInConfig, (config) => (config === null ? Effect.succeed(null) : make(config)))
)

const layerSessions = Layer.effect(
  Sessions,
  Effect.map(SignIn, (signIn) =>
    signIn === null
      ? null
      : {
          cookieName: cookieNameOf(signIn.config, "session"),
          origin: new URL(signIn.config.publicUrl).origin,
          authenticate: signIn.authenticate
        }
  )
)

export const layer = Layer.provideMerge(layerSessions, layerSignIn)
