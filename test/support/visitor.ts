/** A browser as far as sign-in needs one: it keeps cookies, and says where its requests come from. */
import { Effect, Schema } from "effect"
import { type CallOptions, call, type HttpAnswer } from "./http.ts"
import { type Account, type IdTokenOptions, Provider, PUBLIC_URL } from "./identityProvider.ts"

export const SESSION_COOKIE = "__Host-media_gateway_session"
export const SIGN_IN_COOKIE = "__Host-media_gateway_sign_in"

const SessionBody = Schema.Struct({ csrf_token: Schema.String })

export interface Visitor {
  readonly cookies: Map<string, string>
  /** Opens a path, as by its address. */
  open(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
  /** Sends a request as a page of the console does, with the session's CSRF token. */
  send(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
  /** Begins a sign-in, and returns the provider's address to which it is sent. */
  readonly begin: Effect.Effect<string>
  /** Signs in at the provider, and returns the gateway's answer to the way back. */
  signIn(account: Account, options?: IdTokenOptions): Effect.Effect<HttpAnswer, never, Provider>
}

export const makeVisitor = (gatewayUrl: string): Visitor => {
  const cookies = new Map<string, string>()

  const keep = (answer: HttpAnswer) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0\b/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
  }

  const open: Visitor["open"] = (path, options = {}) =>
    Effect.suspend(() =>
      call(`${gatewayUrl}${path}`, {
        ...options,
        headers: {
          ...(cookies.size === 0
            ? {}
            : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
          ...options.headers
        }
      })
    ).pipe(Effect.tap((answer) => Effect.sync(() => keep(answer))))

  const csrfToken = Effect.map(open("/auth/session"), ({ body }) =>
    Schema.is(SessionBody)(body) ? body.csrf_token : ""
  )

  const begin = Effect.map(
    open("/auth/login"),
    ({ headers, status, text }) => headers.get("location") ?? `${status} ${text}`
  )

  return {
    cookies,
    open,
    begin,
    send: (path, options = {}) =>
      Effect.flatMap(csrfToken, (token) =>
        open(path, {
          ...options,
          headers: {
            origin: PUBLIC_URL,
            "sec-fetch-site": "same-origin",
            "x-csrf-token": token,
            ...options.headers
          }
        })
      ),
    signIn: Effect.fnUntraced(function* (account, options) {
      const provider = yield* Provider
      const query = provider.grant(yield* begin, account, options)
      return yield* open(`/auth/callback?${query}`)
    })
  }
}
