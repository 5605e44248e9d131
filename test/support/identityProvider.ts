/**
 * An identity provider in a few lines, over a real socket, that also answers what no honest one
 * would: each part of its answers can be replaced.
 */
import { createHash, randomBytes } from "node:crypto"
import { text } from "node:stream/consumers"
import { Context, Effect, Layer } from "effect"
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose"
import type { SignInConfig } from "../../src/features/signIn/SignInConfig.ts"
import { serving } from "./httpServer.ts"

export const PUBLIC_URL = "https://gateway.test"
export const CLIENT_ID = "media-gateway"

/** What the provider says of a person; `sub` is the account. */
export type Account = JWTPayload & { readonly sub: string }

export interface IdTokenOptions {
  /** Fields over the claims of an honest token. */
  readonly claims?: JWTPayload
  /** Fields over the header of an honest token. */
  readonly header?: { readonly alg?: string; readonly kid?: string; readonly typ?: string }
  /** Instead of an honest token, from what it would have been. */
  readonly forge?: (token: string) => string
  /** Signs with the secret that the public key's text is, as by a confusion of the two kinds. */
  readonly isSignedWithPublicKey?: boolean
  /** Signs with a key that is not among the provider's, and names it in the header. */
  readonly isSignedWithOwnKey?: boolean
}

interface Grant {
  readonly account: Account
  readonly nonce: string
  readonly challenge: string
  readonly options: IdTokenOptions
}

const makeProvider = Effect.gen(function* () {
  const keys = yield* Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
  const otherKeys = yield* Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
  const publicText = yield* Effect.promise(() => exportSPKI(keys.publicKey))
  const jwk = yield* Effect.promise(() => exportJWK(keys.publicKey))
  const otherJwk = yield* Effect.promise(() => exportJWK(otherKeys.publicKey))
  const grants = new Map<string, Grant>()
  const accounts = new Map<string, Account>()
  const overrides = new Map<string, unknown>()
  const requests: Array<string> = []
  const secrets: Array<string> = []

  const sign = async (claims: JWTPayload, options: IdTokenOptions): Promise<string> => {
    const { header = {}, isSignedWithPublicKey = false, isSignedWithOwnKey = false } = options
    const jwt = new SignJWT({ ...claims, ...options.claims }).setProtectedHeader({
      alg: isSignedWithPublicKey ? "HS256" : "RS256",
      kid: "key-1",
      ...header,
      ...(isSignedWithOwnKey ? { jwk: otherJwk } : {})
    })
    const key = isSignedWithPublicKey
      ? new TextEncoder().encode(publicText)
      : isSignedWithOwnKey
        ? otherKeys.privateKey
        : keys.privateKey
    const token = await jwt.sign(key)
    return options.forge?.(token) ?? token
  }

  const now = () => Math.floor(Date.now() / 1000)

  /** The answer of the token endpoint: a code is taken once, with the verifier of its challenge. */
  const tokens = async (issuer: string, form: URLSearchParams) => {
    const code = form.get("code") ?? ""
    const grant = grants.get(code)
    grants.delete(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (grant === undefined || challenge !== grant.challenge) {
      return { status: 400, body: { error: "invalid_grant" } }
    }
    const { account, nonce, options } = grant
    const accessToken = `access-${randomBytes(16).toString("hex")}`
    accounts.set(accessToken, account)
    const claims = { ...account, iss: issuer, aud: CLIENT_ID, nonce, iat: now(), exp: now() + 300 }
    const idToken = await sign(claims, options)
    secrets.push(code, form.get("code_verifier") ?? "", accessToken, nonce)
    secrets.push(idToken.slice(idToken.lastIndexOf(".") + 1))
    return {
      status: 200,
      body: {
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: 300,
        id_token: idToken
      }
    }
  }

  let issuer = ""
  const answer = async (path: string, body: string, bearer: string) => {
    switch (path) {
      case "/.well-known/openid-configuration":
        return {
          status: 200,
          body: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            userinfo_endpoint: `${issuer}/userinfo`,
            jwks_uri: `${issuer}/keys`,
            end_session_endpoint: `${issuer}/end`,
            response_types_supported: ["code"],
            subject_types_supported: ["public"],
            // An honest list would not have the last two.
            id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
            authorization_response_iss_parameter_supported: true,
            ...Object.fromEntries(overrides)
          }
        }
      case "/keys":
        return { status: 200, body: { keys: [{ ...jwk, kid: "key-1", use: "sig", alg: "RS256" }] } }
      case "/token":
        return await tokens(issuer, new URLSearchParams(body))
      case "/userinfo": {
        const account = accounts.get(bearer)
        return account === undefined
          ? { status: 401, body: {} }
          : { status: 200, body: { sub: account.sub } }
      }
      default:
        return { status: 404, body: {} }
    }
  }

  issuer = yield* serving((request, response) => {
    const path = request.url ?? ""
    requests.push(path)
    const bearer = (request.headers.authorization ?? "").replace(/^Bearer /, "")
    void text(request)
      .then((body) => answer(path, body, bearer))
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      })
  })

  return {
    issuer,
    /** Paths of all requests of the gateway. */
    requests,
    /** The codes, states, verifiers, nonces and tokens of sign-ins, of an ID token its signature. */
    secrets,
    /** Replaces fields of the metadata, for gateways that have not read them. */
    overrides,
    /**
     * The query with which the browser of a person is sent back, who has signed in as the account at
     * the address to which the gateway sent it.
     */
    grant: (authorization: string, account: Account, options: IdTokenOptions = {}) => {
      const { searchParams } = new URL(authorization)
      const code = `code-${randomBytes(16).toString("hex")}`
      secrets.push(searchParams.get("state") ?? "")
      grants.set(code, {
        account,
        nonce: searchParams.get("nonce") ?? "",
        challenge: searchParams.get("code_challenge") ?? "",
        options
      })
      return new URLSearchParams({ code, state: searchParams.get("state") ?? "", iss: issuer })
    },
    /** A logout token; `claims` are over those of an honest one. */
    logoutToken: (claims: JWTPayload, options: IdTokenOptions = {}) =>
      Effect.promise(() =>
        sign(
          {
            iss: issuer,
            aud: CLIENT_ID,
            iat: now(),
            exp: now() + 120,
            jti: randomBytes(8).toString("hex"),
            events: { "http://schemas.openid.net/event/backchannel-logout": {} },
            ...claims
          },
          { header: { typ: "logout+jwt", ...options.header }, ...omitHeader(options) }
        )
      )
  }
})

const omitHeader = ({ header: _header, ...options }: IdTokenOptions) => options

/** The provider, for gateways that take its accounts. */
export class Provider extends Context.Service<Provider, Effect.Success<typeof makeProvider>>()(
  "test/Provider"
) {
  static readonly layer = Layer.effect(Provider, makeProvider)
}

/** The configuration of a gateway that takes the provider's accounts. */
export const signInWith = (
  { issuer }: { readonly issuer: string },
  rules: Pick<SignInConfig, "roles" | "organizations">,
  publicUrl = PUBLIC_URL
): SignInConfig => ({
  publicUrl,
  issuer,
  clientId: CLIENT_ID,
  clientSecret: null,
  scopes: "openid email profile",
  groupsClaim: "groups",
  ...rules
})
