/**
 * Sign-in with a whole provider, from the console's button to the end of the session at the
 * provider: what operators and members do meanwhile, with nothing but a browser.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import OidcProvider from "oidc-provider"
import { SignInConfig } from "../../src/features/signIn/SignInConfig.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { serving } from "../support/httpServer.ts"
import { CLIENT_ID, PUBLIC_URL } from "../support/identityProvider.ts"
import { makeVisitor, SESSION_COOKIE, type Visitor } from "../support/visitor.ts"

const CLIENT_SECRET = "secret-of-the-client-4fTq8Z"
const ORGANIZATION = "org_of-the-painters"
const GROUPS: Readonly<Record<string, ReadonlyArray<string>>> = {
  ada: ["media-admins"],
  fin: ["media-finance"],
  pia: ["painters"],
  tom: ["painters"],
  bob: []
}

/** A server at which a provider may begin later, when the gateway's address is known. */
class ProviderServer extends Context.Service<
  ProviderServer,
  { readonly issuer: string; start(gatewayUrl: string): void }
>()("test/ProviderServer") {
  static readonly layer = Layer.effect(
    ProviderServer,
    Effect.gen(function* () {
      let listener: ReturnType<OidcProvider["callback"]> | null = null
      const issuer: string = yield* serving((request, response) => {
        if (listener === null) response.writeHead(503).end()
        else listener(request, response)
      })
      return {
        issuer,
        start: (gatewayUrl: string) => {
          listener ??= new OidcProvider(issuer, {
            clients: [
              {
                client_id: CLIENT_ID,
                client_secret: CLIENT_SECRET,
                redirect_uris: [`${PUBLIC_URL}/auth/callback`],
                post_logout_redirect_uris: [`${PUBLIC_URL}/console/`],
                backchannel_logout_uri: `${gatewayUrl}/auth/backchannel-logout`,
                backchannel_logout_session_required: true
              }
            ],
            scopes: ["openid", "email", "profile", "groups"],
            claims: {
              openid: ["sub"],
              email: ["email", "email_verified"],
              profile: ["name"],
              groups: ["groups"]
            },
            features: {
              devInteractions: { enabled: true },
              backchannelLogout: { enabled: true },
              rpInitiatedLogout: { enabled: true }
            },
            pkce: { required: () => true },
            cookies: { keys: ["key-of-the-cookies"] },
            // Without the default's dispatcher, which refuses addresses of this machine.
            fetch: (url, { dispatcher: _dispatcher, ...options }) => fetch(url, options),
            findAccount: (_, subject) => ({
              accountId: subject,
              claims: () => ({
                sub: subject,
                name: `Name of ${subject}`,
                email: `${subject}@example.test`,
                email_verified: true,
                groups: GROUPS[subject] ?? []
              })
            })
          }).callback()
        }
      }
    })
  )
}

const layerGateway = layerTestGateway("postgres", undefined, {
  signIn: Layer.effect(
    SignInConfig,
    Effect.map(ProviderServer, ({ issuer }) => ({
      publicUrl: PUBLIC_URL,
      issuer,
      clientId: CLIENT_ID,
      clientSecret: Redacted.make(CLIENT_SECRET),
      scopes: "openid email profile groups",
      groupsClaim: "groups",
      roles: [
        { subject: "media-admins", right: "owner" as const },
        { subject: "media-finance", right: "finance" as const }
      ],
      organizations: [{ subject: "painters", right: ORGANIZATION }]
    }))
  ).pipe(Layer.provide(ProviderServer.layer))
}).pipe(Layer.provideMerge(ProviderServer.layer))

/** Follows redirects at the provider, and answers its forms, until it sends the browser back. */
const atProvider = Effect.fnUntraced(function* (
  browser: Visitor,
  issuer: string,
  start: string,
  name: string
) {
  let target = start
  let form: string | null = null
  for (let step = 0; step < 12; step++) {
    if (target.startsWith(PUBLIC_URL)) return target.slice(PUBLIC_URL.length)
    const path = target.startsWith(issuer) ? target.slice(issuer.length) : target
    const answer: HttpAnswer = yield* browser.open(
      path,
      form === null
        ? {}
        : {
            method: "POST",
            body: form,
            headers: { "content-type": "application/x-www-form-urlencoded" }
          }
    )
    const prompt: string | undefined = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1]
    form = prompt === undefined ? null : new URLSearchParams({ prompt, login: name }).toString()
    target = answer.headers.get("location") ?? path
  }
  return yield* Effect.die(new Error(`the provider leads nowhere: ${target}`))
})

/** Signs in by name: the visitor of the gateway, the browser's part at the provider, the answer. */
const signIn = Effect.fnUntraced(function* (name: string, from = "/auth/login") {
  const { url } = yield* Gateway
  const { issuer, start } = yield* ProviderServer
  start(url)
  const [visitor, browser] = [makeVisitor(url), makeVisitor(issuer)]
  const begun = yield* visitor.open(from)
  const way = yield* atProvider(browser, issuer, begun.headers.get("location") ?? "", name)
  return { visitor, browser, answer: yield* visitor.open(way) }
})

const createOrganization = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all(
    [
      sql`INSERT INTO organizations (id, name) VALUES (${ORGANIZATION}, 'Painters')
          ON CONFLICT DO NOTHING`,
      sql`INSERT INTO pools (organization_id) VALUES (${ORGANIZATION}) ON CONFLICT DO NOTHING`
    ],
    { discard: true }
  )
).pipe(Effect.orDie)

const Created = Schema.Struct({ id: Schema.String })

layer(layerGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "sign-in with a whole provider",
  (it) => {
    it.effect("an operator signs in, works, is named by the audit, and signs out", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { issuer } = yield* ProviderServer
        assert.deepStrictEqual((yield* gateway.call("/auth/methods")).body, { sso: true })
        const from = `/auth/login?return_to=${encodeURIComponent("/console/all-orders?model=x")}`
        const { visitor, browser, answer } = yield* signIn("ada", from)
        assert.strictEqual(answer.status, 303, answer.text)
        assert.strictEqual(answer.headers.get("location"), "/console/all-orders?model=x")
        const session = yield* visitor.open("/auth/session")
        assert.deepInclude(session.body, {
          kind: "operator",
          name: "Name of ada",
          email: "ada@example.test",
          role: "owner",
          organization_id: null
        })
        const made = yield* visitor.send("/admin/v1/organizations", { json: { name: "By Ada" } })
        const { id } = yield* bodyAs(Created, made)
        const audit = yield* gateway.admin(`/audit?subject_id=${id}`)
        assert.deepNestedInclude(audit.body, {
          "data[0].operator_name": "ada@example.test",
          "data[0].action": "createOrganization"
        })

        // The way out leads over the provider. Another browser, with a session of its own there, stays.
        const { visitor: elsewhere } = yield* signIn("ada")
        const out = yield* visitor.send("/auth/logout", { method: "POST" })
        const { end_session_url } = yield* bodyAs(
          Schema.Struct({ end_session_url: Schema.String }),
          out
        )
        const question = yield* browser.open(end_session_url.slice(issuer.length))
        const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(question.text) ?? []
        const end = yield* browser.open("/session/end/confirm", {
          method: "POST",
          body: new URLSearchParams({ xsrf, logout: "yes" }).toString(),
          headers: { "content-type": "application/x-www-form-urlencoded" }
        })
        assert.match(end.headers.get("location") ?? end.text, /^https:\/\/gateway.test\/console\//)
        assert.strictEqual((yield* visitor.open("/admin/v1/me")).status, 401)
        assert.strictEqual((yield* elsewhere.open("/admin/v1/me")).status, 200)
      })
    )

    it.effect("the end of the provider's session ends the one that it opened here", () =>
      Effect.gen(function* () {
        const { issuer } = yield* ProviderServer
        const { visitor, browser } = yield* signIn("fin")
        assert.strictEqual((yield* visitor.open("/admin/v1/me")).status, 200)
        const question = yield* browser.open(`/session/end?client_id=${CLIENT_ID}`)
        const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(question.text) ?? []
        assert.notStrictEqual(xsrf, "", `${issuer} ${question.text}`)
        yield* browser.open("/session/end/confirm", {
          method: "POST",
          body: new URLSearchParams({ xsrf, logout: "yes" }).toString(),
          headers: { "content-type": "application/x-www-form-urlencoded" }
        })
        assert.strictEqual((yield* visitor.open("/admin/v1/me")).status, 401)
      })
    )

    it.effect("a member orders within the cap, and is charged as with any key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* createOrganization
        yield* gateway.admin(`/organizations/${ORGANIZATION}/deposits`, {
          json: { amount: "10", reference: "first" }
        })
        const { visitor } = yield* signIn("pia")
        const me = yield* bodyAs(
          Schema.Struct({ id: Schema.String, member_id: Schema.String }),
          yield* visitor.open("/v1/me")
        )
        yield* gateway.admin(`/members/${me.member_id}`, {
          method: "PATCH",
          json: { monthly_cap: "0.5" }
        })
        const order = { json: { model: "paint-1", prompt: "a lighthouse", n: 2 } }
        const painted = yield* visitor.send("/v1/images/generations", order)
        assert.strictEqual(painted.status, 200, painted.text)
        const refused = yield* visitor.send("/v1/images/generations", order)
        assert.deepNestedInclude(refused.body, { "error.code": "member_cap_exceeded" })
        const forged = yield* visitor.open("/v1/images/generations", order)
        assert.strictEqual(forged.status, 403)
        const balance = yield* visitor.open("/v1/balance")
        assert.deepInclude(balance.body, { balance: "9.6", held: "0" })
        const usage = yield* visitor.open("/v1/usage")
        assert.deepNestedInclude(usage.body, { "data[0].charge": "0.4" })
        const keys = yield* gateway.admin(`/keys?member_id=${me.member_id}`)
        assert.deepNestedInclude(keys.body, { "data[0].id": me.id, "data[0].name": "Sign-in" })
        yield* gateway.verify

        // A second sign-in is the same member with the same key.
        const { visitor: again } = yield* signIn("pia")
        assert.deepNestedInclude((yield* again.open("/v1/me")).body, { id: me.id })
      })
    )

    it.effect("first sign-ins at the same time make one member", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* createOrganization
        const answers = yield* Effect.all(
          Array.from({ length: 4 }, () => signIn("tom")),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers.map(({ answer }) => answer.status),
          [303, 303, 303, 303]
        )
        const members = yield* gateway.admin(`/members?organization_id=${ORGANIZATION}&name=tom`)
        assert.deepNestedInclude(members.body, { "data.length": 1 })
      })
    )

    it.effect("who is in no group is told so, and gets no session", () =>
      Effect.gen(function* () {
        const { visitor, answer } = yield* signIn("bob")
        assert.strictEqual(answer.status, 403)
        assert.include(answer.text, "Ask its operators")
        assert.isFalse(visitor.cookies.has(SESSION_COOKIE))
      })
    )
  }
)
