/**
 * The identity provider, spoken to by OpenID Connect: authorization code with PKCE, `state` and
 * `nonce`. Whatever the provider sends is checked here, and leaves this file as a `Person`.
 */
import { Clock, Effect, Redacted, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose"
import * as oidc from "openid-client"
import type { Person } from "../../services/Sessions.ts"
import { CALLBACK_PATH, CONSOLE_PATH, type SignInConfig } from "./SignInConfig.ts"

/** The provider does not answer, or not as it should. The message has no secret. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()(
  "ProviderUnavailable",
  { message: Schema.String }
) {}

/**
 * An answer or a token that is not accepted. The message has no secret.
 * @public
 */
export class ProofRefused extends Schema.TaggedError<ProofRefused>()("ProofRefused", {
  message: Schema.String
}) {}

/** The secrets of one sign-in, which only the browser has in which it began. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export interface Identity {
  readonly person: Person
  /** The provider's own session; null where the provider does not name it. */
  readonly providerSession: string | null
}

/** The sessions that a logout token ends: those of a subject or of one session of the provider. */
export interface LogoutNotice {
  readonly subject: string | null
  readonly providerSession: string | null
  readonly issuedAt: Date
}

const TIMEOUT_SECONDS = 10
/** As RFC 7636, section 4.1, recommends for the code verifier. */
const SECRET_BYTES = 32
const DISCOVERY_MILLIS = 3600 * 1000
/** Permitted difference between the clocks of the provider and of the gateway. */
const CLOCK_TOLERANCE_SECONDS = 30
const LOGOUT_TOKEN_MAX_AGE_SECONDS = 300

/** Signatures by a public key. Neither `none` nor HMAC, whose key could be the public one. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519"
]

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"

const ID_LENGTH = 255
const MAX_GROUPS = 2000

const Identifier = Schema.NonEmptyString.check(Schema.isMaxLength(ID_LENGTH))

const LogoutClaims = Schema.Struct({
  sub: Schema.optionalKey(Identifier),
  sid: Schema.optionalKey(Identifier),
  iat: Schema.Number,
  jti: Identifier,
  nonce: Schema.optionalKey(Schema.Never),
  events: Schema.Struct({ [LOGOUT_EVENT]: Schema.Record(Schema.String, Schema.Unknown) })
})
const decodeLogoutClaims = Schema.decodeUnknownEffect(LogoutClaims)

type Claims = Readonly<Record<string, unknown>>

const textOf = (claims: Claims, name: string): string | null => {
  const value = claims[name]
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null
}

/** The address, where the same claims say that it is verified. */
const verifiedEmail = (claims: Claims): string | null => {
  const email = textOf(claims, "email")
  return email !== null &&
    claims.email_verified === true &&
    /^[^\s@\p{Cc}]{1,128}@[^\s@\p{Cc}]{1,126}$/u.test(email)
    ? email.toLowerCase()
    : null
}

const groupsOf = (claims: Claims, name: string): ReadonlyArray<string> =>
  [claims[name] ?? []]
    .flat()
    .filter((group): group is string => typeof group === "string" && /^\P{Cc}{1,255}$/u.test(group))
    .slice(0, MAX_GROUPS)

/** A line of text that can be stored and shown. */
const lineOf = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, 200)
    .toWellFormed()

/**
 * The person of an ID token and of the provider's userinfo, which describe the same subject. A claim
 * of the token wins. An address and the claim that it is verified are never taken from two places.
 */
const personOf = (
  issuer: string,
  subject: string,
  token: Claims,
  userInfo: Claims,
  groupsClaim: string
): Person => {
  const email = verifiedEmail("email" in token ? token : userInfo)
  const all = { ...userInfo, ...token }
  const name = textOf(all, "name") ?? textOf(all, "preferred_username") ?? subject
  return { issuer, subject, name: lineOf(name), email, groups: groupsOf(all, groupsClaim) }
}

/** What an error of the protocol libraries says: their own words, and no value of a token. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "an unknown failure"
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : ""
  return `${error.message}${code}`
}

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (error) => new ProofRefused({ message: reasonOf(error) })
  })

const discover = async (config: SignInConfig): Promise<oidc.Configuration> => {
  const insecure = config.issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : []
  const discovery = await oidc.discovery(
    new URL(config.issuer),
    config.clientId,
    undefined,
    undefined,
    { execute: insecure, timeout: TIMEOUT_SECONDS }
  )
  const { supportsPKCE: _supportsPKCE, ...metadata } = discovery.serverMetadata()
  const signingAlgorithms = metadata.id_token_signing_alg_values_supported ?? ["RS256"]
  const authentication =
    config.clientSecret === null
      ? oidc.None()
      : (metadata.token_endpoint_auth_methods_supported?.includes("client_secret_basic") ?? true)
        ? oidc.ClientSecretBasic(Redacted.value(config.clientSecret))
        : oidc.ClientSecretPost(Redacted.value(config.clientSecret))
  const configuration = new oidc.Configuration(
    {
      ...metadata,
      id_token_signing_alg_values_supported: signingAlgorithms.filter((name) =>
        ALGORITHMS.includes(name)
      )
    },
    config.clientId,
    { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authentication
  )
  configuration.timeout = TIMEOUT_SECONDS
  for (const extend of [...insecure, oidc.enableNonRepudiationChecks]) extend(configuration)
  return configuration
}

/** Refuses tokens of other kinds, which the same provider signs with the same key. */
const requireIdToken = (token: string, claims: Claims, clientId: string): void => {
  const { typ } = decodeProtectedHeader(token)
  if (typ !== undefined && typ.toUpperCase() !== "JWT")
    throw new Error("not an ID token by its typ")
  if (claims.azp !== undefined && claims.azp !== clientId) {
    throw new Error("the ID token is of another client (azp)")
  }
}

export const newSignInSecrets = (
  random: SecureRandom.SecureRandom["Service"]
): Effect.Effect<SignInSecrets> => {
  const newSecret = Effect.map(random.randomBytes(SECRET_BYTES), Base64Url.encode)
  return Effect.all({ state: newSecret, nonce: newSecret, codeVerifier: newSecret })
}

export const makeIdentityProvider = (config: SignInConfig) => {
  const redirectUri = `${config.publicUrl}${CALLBACK_PATH}`
  let discovery: { readonly atMillis: number; readonly promise: Promise<Discovery> } | null = null

  interface Discovery {
    readonly client: oidc.Configuration
    readonly keys: ReturnType<typeof createRemoteJWKSet> | null
  }

  const readDiscovery = async (): Promise<Discovery> => {
    const client = await discover(config)
    const { jwks_uri } = client.serverMetadata()
    return {
      client,
      keys:
        jwks_uri === undefined
          ? null
          : createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_SECONDS * 1000 })
    }
  }

  /** The provider's metadata, read at the first sign-in and again each hour. A failure is not kept. */
  const current = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.tryPromise({
      try: async () => {
        if (discovery === null || now - discovery.atMillis > DISCOVERY_MILLIS) {
          discovery = { atMillis: now, promise: readDiscovery() }
        }
        const { promise } = discovery
        return await promise.catch((error: unknown) => {
          if (discovery?.promise === promise) discovery = null
          throw error
        })
      },
      catch: (error) =>
        new ProviderUnavailable({
          message: `The identity provider ${config.issuer} does not answer: ${reasonOf(error)}`
        })
    })
  )

  return {
    /** Fails where the provider cannot be used, for checks of an installation. */
    check: Effect.asVoid(current),

    /** The address at the provider to which the browser is sent. */
    authorizationUrl: Effect.fnUntraced(function* (secrets: SignInSecrets) {
      const { client } = yield* current
      const challenge = yield* Effect.promise(() =>
        oidc.calculatePKCECodeChallenge(secrets.codeVerifier)
      )
      return oidc.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: challenge,
        code_challenge_method: "S256"
      }).href
    }),

    /** Exchanges the code in the callback's query for the identity of who signed in. */
    identify: Effect.fnUntraced(function* (query: string, secrets: SignInSecrets) {
      const { client } = yield* current
      return yield* attempt(async (): Promise<Identity> => {
        const tokens = await oidc.authorizationCodeGrant(
          client,
          new URL(`${redirectUri}?${query}`),
          {
            expectedState: secrets.state,
            expectedNonce: secrets.nonce,
            pkceCodeVerifier: secrets.codeVerifier,
            idTokenExpected: true
          }
        )
        const claims = tokens.claims()
        if (claims === undefined || tokens.id_token === undefined) throw new Error("no ID token")
        requireIdToken(tokens.id_token, claims, config.clientId)
        const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined
        const userInfo = hasUserInfo
          ? await oidc.fetchUserInfo(client, tokens.access_token, claims.sub)
          : {}
        const { sid } = claims
        return {
          person: personOf(claims.iss, claims.sub, claims, userInfo, config.groupsClaim),
          providerSession: typeof sid === "string" && sid.length <= ID_LENGTH ? sid : null
        }
      })
    }),

    /** The address at which the provider ends its own session too; null where it has none. */
    endSessionUrl: Effect.map(current, ({ client }) =>
      client.serverMetadata().end_session_endpoint === undefined
        ? null
        : oidc.buildEndSessionUrl(client, {
            post_logout_redirect_uri: `${config.publicUrl}${CONSOLE_PATH}`
          }).href
    ),

    /** Checks a logout token of the provider (OpenID Connect Back-Channel Logout, section 2.6). */
    verifyLogoutToken: Effect.fnUntraced(function* (token: string) {
      const { client, keys } = yield* current
      if (keys === null) return yield* new ProofRefused({ message: "the provider has no keys" })
      const { payload } = yield* attempt(() =>
        jwtVerify(token, keys, {
          issuer: client.serverMetadata().issuer,
          audience: config.clientId,
          algorithms: ALGORITHMS,
          typ: "logout+jwt",
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          maxTokenAge: LOGOUT_TOKEN_MAX_AGE_SECONDS
        })
      )
      const {
        sub = null,
        sid = null,
        iat
      } = yield* Effect.mapError(
        decodeLogoutClaims(payload),
        () => new ProofRefused({ message: "the claims are not those of a logout token" })
      )
      if (sub === null && sid === null) {
        return yield* new ProofRefused({ message: "the logout token names neither sub nor sid" })
      }
      return {
        subject: sub,
        providerSession: sid,
        issuedAt: new Date(iat * 1000)
      } satisfies LogoutNotice
    })
  }
}
