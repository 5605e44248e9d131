/**
 * Attacks on sign-in and sessions, each named by the requirement of OWASP ASVS 5.0 that it is about:
 * src/features/signIn/README.md has the table. The gateway's provider is hostile where a test says so.
 */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeIdentityProvider } from "../../src/features/signIn/IdentityProvider.ts"
import { SignIn } from "../../src/features/signIn/SignIn.ts"
import { SessionView } from "../../src/features/signIn/SignInApi.ts"
import { SignInConfig } from "../../src/features/signIn/SignInConfig.ts"
import type { Rule } from "../../src/features/signIn/signInRules.ts"
import { list } from "../../src/http/api/shared.ts"
import type { Role } from "../../src/services/operators/Operators.ts"
import { Vault } from "../../src/services/Vault.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import {
  type Account,
  CLIENT_ID,
  type IdTokenOptions,
  Provider,
  PUBLIC_URL,
  signInWith
} from "../support/identityProvider.ts"
import { makeVisitor, SESSION_COOKIE, SIGN_IN_COOKIE, type Visitor } from "../support/visitor.ts"

const ORGANIZATION = "org_of-the-studio"

/** The rules in force, which a test may change, as a start with another configuration does. */
const roles: Array<Rule<Role>> = [
  { subject: "admins", right: "owner" },
  { subject: "auditors", right: "viewer" },
  { subject: "@operators.test", right: "finance" }
]

const layerSignIn = Layer.effect(
  SignInConfig,
  Effect.map(Provider, (provider) =>
    signInWith(provider, {
      roles,
      organizations: [
        { subject: "@studio.test", right: ORGANIZATION },
        { subject: "painters", right: ORGANIZATION },
        { subject: "@gone.test", right: "org_nowhere" }
      ]
    })
  )
)

const layerGateway = layerTestGateway("embedded", undefined, {
  signIn: layerSignIn.pipe(Layer.provide(Provider.layer))
}).pipe(Layer.provideMerge(Provider.layer))

const owner: Account = { sub: "ada", name: "Ada", groups: ["admins"] }
const viewer: Account = { sub: "vera", name: "Vera", groups: ["auditors"] }
const member: Account = {
  sub: "mia",
  name: "Mia",
  email: "Mia@Studio.test",
  email_verified: true
}

const newVisitor = Effect.map(Gateway, ({ url }) => makeVisitor(url))

const signedIn = Effect.fnUntraced(function* (account: Account) {
  const visitor = yield* newVisitor
  const answer = yield* visitor.signIn(account)
  assert.strictEqual(answer.status, 303, answer.text)
  return visitor
})

const statusOf = (visitor: Visitor, path = "/auth/session") =>
  Effect.map(visitor.open(path), ({ status }) => status)

/** No session was opened, and a page says why. */
const assertRefused = (visitor: Visitor, answer: HttpAnswer, status = 400) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.include(answer.text, "Sign-in failed")
  assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'/)
  assert.isFalse(visitor.cookies.has(SESSION_COOKIE))
}

/** The provider's answer to this sign-in is not accepted. */
const assertForgedRefused = Effect.fnUntraced(function* (
  options: IdTokenOptions,
  account: Account = owner
) {
  const visitor = yield* newVisitor
  assertRefused(visitor, yield* visitor.signIn(account, options))
  // The same without the forgery is accepted, so nothing else was wrong.
  assert.strictEqual((yield* visitor.signIn(account)).status, 303)
})

const createOrganization = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql`INSERT INTO organizations (id, name) VALUES (${ORGANIZATION}, 'Studio') ON CONFLICT DO NOTHING`.pipe(
    Effect.andThen(
      sql`INSERT INTO pools (organization_id, balance) VALUES (${ORGANIZATION}, 0) ON CONFLICT DO NOTHING`
    ),
    Effect.orDie
  )
)

/** Moves the times of all sessions back, as if this long had passed. */
const passTime = (
  column: "used_at" | "created_at" | "rotated_at" | "previous_until",
  time: string
) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(sql`UPDATE sessions SET ${sql(column)} = ${sql(column)} - ${time}::interval`)
  )

/** The key of a request, as `/v1/me` has it. */
const Me = Schema.Struct({
  id: Schema.String,
  organization_id: Schema.String,
  member_id: Schema.String
})

const SessionBody = Schema.Struct({
  ...SessionView.fields,
  kind: Schema.String,
  csrf_token: Schema.String
})
const sessionOf = (visitor: Visitor) =>
  Effect.flatMap(visitor.open("/auth/session"), (answer) => bodyAs(SessionBody, answer))

/** The header and the claims of a token, changed without its key. */
const withParts =
  (header: object, claims: object, signature?: string) =>
  (token: string): string => {
    const [head = "", body = "", oldSignature = ""] = token.split(".")
    const merge = (part: string, fields: object) =>
      Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(part, "base64url").toString()), ...fields })
      ).toString("base64url")
    return [merge(head, header), merge(body, claims), signature ?? oldSignature].join(".")
  }

layer(layerGateway, { excludeTestServices: true, timeout: "60 seconds" })("sign-in", (it) => {
  it.effect("7.2.1 a cookie that the gateway did not make opens nothing", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      const token = visitor.cookies.get(SESSION_COOKIE) ?? ""
      const made = `mgs_${"A".repeat(43)}00000000`
      for (const value of [made, `${token}x`, token.toUpperCase(), "", "x"]) {
        visitor.cookies.set(SESSION_COOKIE, value)
        assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 401, value)
      }
      visitor.cookies.set(SESSION_COOKIE, token)
      assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 200)
    })
  )

  it.effect("7.2.2, 7.2.3 a session is 256 random bits, of which only a hash is stored", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tokens = yield* Effect.replicateEffect(
        Effect.map(signedIn(owner), ({ cookies }) => cookies.get(SESSION_COOKIE) ?? ""),
        4
      )
      assert.strictEqual(new Set(tokens).size, 4)
      const rows = JSON.stringify(yield* Effect.orDie(sql`SELECT s::text FROM sessions s`))
      for (const token of tokens) {
        const [, body = ""] = /^mgs_([\w-]{43})[0-9a-f]{8}$/.exec(token) ?? []
        const bytes = Buffer.from(body, "base64url")
        assert.strictEqual(bytes.length, 32)
        for (const text of [token, body, bytes.toString("hex")]) assert.notInclude(rows, text)
      }
    })
  )

  it.effect("7.2.4 a sign-in takes no token from the browser, and ends the session before", () =>
    Effect.gen(function* () {
      const attacker = yield* signedIn(viewer)
      const fixed = attacker.cookies.get(SESSION_COOKIE) ?? ""
      const victim = yield* newVisitor
      victim.cookies.set(SESSION_COOKIE, fixed)
      assert.strictEqual((yield* victim.signIn(owner)).status, 303)
      assert.notStrictEqual(victim.cookies.get(SESSION_COOKIE), fixed)
      assert.strictEqual((yield* sessionOf(victim)).name, "Ada")
      assert.strictEqual(yield* statusOf(attacker), 401)
    })
  )

  it.effect("7.2.4 the token is replaced while in use, and the old one ends soon after", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      const first = visitor.cookies.get(SESSION_COOKIE) ?? ""
      const before = yield* newVisitor
      before.cookies.set(SESSION_COOKIE, first)
      yield* passTime("rotated_at", "20 minutes")
      // Of requests at the same time one gets the new token, and all are answered.
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => visitor.open("/admin/v1/me")),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200]
      )
      assert.lengthOf(
        answers.filter(({ headers }) => headers.getSetCookie().length > 0),
        1
      )
      const second = visitor.cookies.get(SESSION_COOKIE)
      assert.notStrictEqual(second, first)
      // The answer might have been lost: the first token is valid until the second is used.
      assert.strictEqual(yield* statusOf(before), 200)
      assert.strictEqual(yield* statusOf(visitor), 200)
      assert.strictEqual(yield* statusOf(before), 200)
      yield* passTime("previous_until", "2 minutes")
      assert.strictEqual(yield* statusOf(before), 401)
      assert.strictEqual(yield* statusOf(visitor), 200)
    })
  )

  it.effect("7.2.4 a browser that never got the new token gets another one", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      const first = visitor.cookies.get(SESSION_COOKIE) ?? ""
      yield* passTime("rotated_at", "20 minutes")
      yield* visitor.open("/admin/v1/me")
      const lost = visitor.cookies.get(SESSION_COOKIE) ?? ""
      visitor.cookies.set(SESSION_COOKIE, first)
      yield* passTime("rotated_at", "2 minutes")
      yield* visitor.open("/admin/v1/me")
      const second = visitor.cookies.get(SESSION_COOKIE)
      assert.notInclude([first, lost], second)
      assert.strictEqual(yield* statusOf(visitor), 200)
      visitor.cookies.set(SESSION_COOKIE, lost)
      assert.strictEqual(yield* statusOf(visitor), 401)
    })
  )

  it.effect("7.3.1 a session that is not used ends, and one in use does not", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      yield* passTime("used_at", "59 minutes")
      assert.strictEqual(yield* statusOf(visitor), 200)
      yield* passTime("used_at", "59 minutes")
      assert.strictEqual(yield* statusOf(visitor), 200)
      yield* passTime("used_at", "61 minutes")
      assert.strictEqual(yield* statusOf(visitor), 401)
    })
  )

  it.effect("7.3.2 a session in use ends after half a day", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      yield* passTime("created_at", "719 minutes")
      assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 200)
      yield* passTime("created_at", "2 minutes")
      assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 401)
    })
  )

  it.effect("7.3.2 ended sessions are deleted some time later, and no others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signIn = yield* SignIn
      const remaining = Effect.map(
        Effect.orDie(sql`SELECT subject FROM sessions WHERE subject LIKE 'old-%' ORDER BY subject`),
        (rows) => rows.map(({ subject }) => subject)
      )
      const [live, ended] = [
        yield* signedIn({ ...owner, sub: "old-live" }),
        yield* signedIn({ ...owner, sub: "old-ended" })
      ]
      yield* ended.send("/auth/logout", { method: "POST" })
      yield* signIn?.store.removeEnded ?? Effect.void
      assert.deepStrictEqual(yield* remaining, ["old-ended", "old-live"])
      yield* Effect.orDie(
        sql`UPDATE sessions SET created_at = created_at - interval '2 hours',
                                ended_at = ended_at - interval '2 hours'
             WHERE subject LIKE 'old-%'`
      )
      yield* signIn?.store.removeEnded ?? Effect.void
      assert.deepStrictEqual(yield* remaining, ["old-live"])
      assert.strictEqual(yield* statusOf(live), 200)
    })
  )

  it.effect("7.4.1 after the logout the token opens nothing, wherever it is sent from", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* signedIn(owner)
      const thief = yield* newVisitor
      thief.cookies.set(SESSION_COOKIE, visitor.cookies.get(SESSION_COOKIE) ?? "")
      const answer = yield* visitor.send("/auth/logout", { method: "POST" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { end_session_url } = yield* bodyAs(
        Schema.Struct({ end_session_url: Schema.String }),
        answer
      )
      const end = new URL(end_session_url)
      assert.strictEqual(`${end.origin}${end.pathname}`, `${provider.issuer}/end`)
      assert.deepStrictEqual(Object.fromEntries(end.searchParams), {
        client_id: CLIENT_ID,
        post_logout_redirect_uri: `${PUBLIC_URL}/console/`
      })
      assert.isFalse(visitor.cookies.has(SESSION_COOKIE))
      for (const path of ["/auth/session", "/admin/v1/me"]) {
        assert.strictEqual(yield* statusOf(thief, path), 401)
      }
    })
  )

  it.effect("7.4.2 who is disabled, or whose key is revoked, has no access at once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* createOrganization
      const visitor = yield* signedIn(member)
      const me = yield* bodyAs(Me, yield* visitor.open("/v1/me"))
      const changes = [
        [`/members/${me.member_id}`, { enabled: false }, { enabled: true }],
        [`/organizations/${ORGANIZATION}`, { enabled: false }, { enabled: true }]
      ] as const
      for (const [path, disable, enable] of changes) {
        yield* gateway.admin(path, { method: "PATCH", json: disable })
        assert.strictEqual(yield* statusOf(visitor, "/v1/me"), 403)
        assertRefused(yield* newVisitor, yield* (yield* newVisitor).signIn(member), 403)
        yield* gateway.admin(path, { method: "PATCH", json: enable })
        assert.strictEqual(yield* statusOf(visitor, "/v1/me"), 200)
      }
      yield* gateway.admin(`/keys/${me.id}`, { method: "DELETE" })
      assert.strictEqual(yield* statusOf(visitor, "/v1/me"), 401)
      const again = yield* newVisitor
      assertRefused(again, yield* again.signIn(member), 403)
    })
  )

  it.effect("7.4.3, 7.5.2 people see their own sessions, and end one or all of them", () =>
    Effect.gen(function* () {
      const other = yield* signedIn(viewer)
      const account = { sub: "oda", name: "Oda", groups: ["admins"] }
      const [first, second, third] = [
        yield* signedIn(account),
        yield* signedIn(account),
        yield* signedIn(account)
      ]
      const { data } = yield* bodyAs(list(SessionView), yield* first.open("/auth/sessions"))
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        [yield* sessionOf(third), yield* sessionOf(second), yield* sessionOf(first)].map(
          ({ id }) => id
        )
      )
      const { id: otherId } = yield* sessionOf(other)
      const foreign = yield* first.send(`/auth/sessions/${otherId}`, { method: "DELETE" })
      assert.strictEqual(foreign.status, 404)
      const secondId = (yield* sessionOf(second)).id
      yield* first.send(`/auth/sessions/${secondId}`, { method: "DELETE" })
      assert.strictEqual(yield* statusOf(second), 401)
      assert.strictEqual(yield* statusOf(third), 200)
      const all = yield* first.send("/auth/sessions", { method: "DELETE" })
      assert.deepStrictEqual(all.body, { ended: 2 })
      assert.strictEqual(yield* statusOf(third), 401)
      assert.strictEqual(yield* statusOf(other), 200)
    })
  )

  it.effect(
    "7.4.5 operators see the sessions of all people, and end any; the audit names who",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const victim = yield* signedIn({ sub: "eve", name: "Eve", groups: ["auditors"] })
        const visitor = yield* signedIn(owner)
        const { id, person_id } = yield* sessionOf(visitor)
        const { id: victimId } = yield* sessionOf(victim)
        const listed = yield* visitor.open("/admin/v1/sessions")
        assert.deepInclude(
          (yield* bodyAs(list(SessionView), listed)).data.map((each) => each.id),
          victimId
        )
        const mine = yield* victim.send(`/admin/v1/sessions/${id}`, { method: "DELETE" })
        assert.strictEqual(mine.status, 403)
        const ended = yield* visitor.send(`/admin/v1/sessions/${victimId}`, { method: "DELETE" })
        assert.strictEqual(ended.status, 200, ended.text)
        assert.strictEqual(yield* statusOf(victim), 401)
        const audit = yield* gateway.admin("/audit?action=endSession&limit=1")
        assert.deepNestedInclude(audit.body, {
          "data[0].operator_id": person_id,
          "data[0].operator_name": "Ada",
          "data[0].subject_id": victimId
        })
      })
  )

  it.effect("7.6.1, 10.5.5 the provider's logout token ends the sessions that it names", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const provider = yield* Provider
      const account = { sub: "lea", name: "Lea", groups: ["admins"] }
      const send = Effect.fnUntraced(function* (token: string) {
        return yield* gateway.call("/auth/backchannel-logout", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({ logout_token: token }).toString()
        })
      })
      const visitor = yield* newVisitor
      yield* visitor.signIn(account, { claims: { sid: "at-the-provider" } })
      const other = yield* signedIn(account)
      const honest = yield* provider.logoutToken({ sub: account.sub })
      const refused = [
        yield* provider.logoutToken({ sub: account.sub, nonce: "n" }),
        yield* provider.logoutToken({ sub: account.sub, events: {} }),
        yield* provider.logoutToken({ sub: account.sub, aud: "another-client" }),
        yield* provider.logoutToken({ sub: account.sub, iss: "https://other.test" }),
        yield* provider.logoutToken({ sub: account.sub, exp: 1_000_000_000 }),
        yield* provider.logoutToken({ sub: account.sub, iat: 1_000_000_000 }),
        yield* provider.logoutToken({}),
        yield* provider.logoutToken({ sub: account.sub }, { header: { typ: "JWT" } }),
        yield* provider.logoutToken({ sub: account.sub }, { header: { kid: "key-2" } }),
        yield* provider.logoutToken({ sub: account.sub }, { isSignedWithPublicKey: true }),
        yield* provider.logoutToken({ sub: account.sub }, { isSignedWithOwnKey: true }),
        withParts({ alg: "none" }, {}, "")(honest),
        withParts({}, { sub: "ada" })(honest),
        ""
      ]
      for (const token of refused) {
        const answer = yield* send(token)
        assert.strictEqual(answer.status, 400, `${token} ${answer.text}`)
      }
      assert.strictEqual(yield* statusOf(visitor), 200)
      const bySession = yield* send(yield* provider.logoutToken({ sid: "at-the-provider" }))
      assert.strictEqual(bySession.status, 200, bySession.text)
      assert.strictEqual(yield* statusOf(visitor), 401)
      assert.strictEqual(yield* statusOf(other), 200)
      assert.strictEqual((yield* send(honest)).status, 200)
      assert.strictEqual(yield* statusOf(other), 401)
      // A notice that is sent again ends no session that began later.
      const later = yield* signedIn(account)
      yield* passTime("created_at", "-5 seconds")
      assert.strictEqual((yield* send(honest)).status, 200)
      assert.strictEqual(yield* statusOf(later), 200)
    })
  )

  it.effect("7.6.2 a page of another site begins no sign-in", () =>
    Effect.gen(function* () {
      const visitor = yield* newVisitor
      for (const site of ["cross-site", "same-site"]) {
        const answer = yield* visitor.open("/auth/login", { headers: { "sec-fetch-site": site } })
        assert.strictEqual(answer.headers.get("location"), "/console/")
        assert.strictEqual(visitor.cookies.size, 0)
      }
    })
  )

  it.effect("3.3.1 to 3.3.5 cookies are of this host, over TLS, and not for scripts", () =>
    Effect.gen(function* () {
      const visitor = yield* newVisitor
      const login = yield* visitor.open("/auth/login")
      const answer = yield* visitor.signIn(owner)
      const lines = [...login.headers.getSetCookie(), ...answer.headers.getSetCookie()]
      assert.lengthOf(lines, 3)
      for (const line of lines) {
        assert.isBelow(line.length, 4096)
        assert.match(line, /^__Host-/)
        const attributes = line.toLowerCase().split(/; */).slice(1)
        assert.includeMembers(attributes, ["path=/", "httponly", "secure", "samesite=lax"])
        assert.notMatch(line, /domain=/i)
      }
      assert.notMatch(answer.text, /mgs_/)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

  it.effect(
    "3.5.1, 3.5.8 a request needs the session's CSRF token, and a page of the gateway",
    () =>
      Effect.gen(function* () {
        const visitor = yield* signedIn(owner)
        const other = yield* signedIn(viewer)
        const json = { name: "Forged" }
        const { csrf_token } = yield* sessionOf(visitor)
        const foreign = (yield* sessionOf(other)).csrf_token
        const right = { origin: PUBLIC_URL, "sec-fetch-site": "same-origin" }
        const wrong: ReadonlyArray<Readonly<Record<string, string>>> = [
          { ...right },
          { ...right, "x-csrf-token": "" },
          { ...right, "x-csrf-token": foreign },
          { ...right, "x-csrf-token": csrf_token.toLowerCase() },
          { ...right, "x-csrf-token": "\u00e9".repeat(csrf_token.length) },
          { "x-csrf-token": csrf_token },
          { "x-csrf-token": csrf_token, origin: "https://evil.test" },
          { "x-csrf-token": csrf_token, origin: "null" },
          { "x-csrf-token": csrf_token, origin: PUBLIC_URL, "sec-fetch-site": "cross-site" },
          { "x-csrf-token": csrf_token, "sec-fetch-site": "same-site" },
          { "x-csrf-token": csrf_token, "sec-fetch-site": "none" },
          {
            "x-csrf-token": csrf_token,
            origin: "https://evil.test",
            "sec-fetch-site": "same-origin"
          }
        ]
        for (const headers of wrong) {
          const answer = yield* visitor.open("/admin/v1/organizations", { json, headers })
          assert.strictEqual(answer.status, 403, JSON.stringify(headers))
          const logout = yield* visitor.open("/auth/logout", { method: "POST", headers })
          assert.strictEqual(logout.status, 403, JSON.stringify(headers))
        }
        // A form of another site, whose body no preflight request announces.
        const form = yield* visitor.open("/admin/v1/organizations", {
          method: "POST",
          body: JSON.stringify(json),
          headers: { "content-type": "text/plain", origin: "https://evil.test" }
        })
        assert.strictEqual(form.status, 403)
        for (const headers of [
          { "sec-fetch-site": "cross-site" },
          { origin: "https://evil.test" }
        ]) {
          assert.strictEqual((yield* visitor.open("/admin/v1/me", { headers })).status, 403)
        }
        const taken = yield* visitor.send("/admin/v1/organizations", { json })
        assert.strictEqual(taken.status, 200, taken.text)
      })
  )

  it.effect("3.5.1 no answer lets a page of another origin use the cookie", () =>
    Effect.gen(function* () {
      const visitor = yield* signedIn(owner)
      for (const path of ["/auth/session", "/admin/v1/me", "/v1/me"]) {
        const answer = yield* visitor.open(path, { headers: { origin: "https://evil.test" } })
        assert.isNull(answer.headers.get("access-control-allow-credentials"))
        assert.isNull(answer.headers.get("access-control-allow-origin"))
      }
    })
  )

  it.effect("3.7.2 the browser is sent back only to paths of the gateway", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* newVisitor
      const open = (target: string) =>
        visitor.open(`/auth/login?return_to=${encodeURIComponent(target)}`)
      for (const target of [
        "https://evil.test/",
        "//evil.test/",
        "/\\evil.test/",
        "\\\\evil.test",
        "/\t/evil.test",
        "/..//evil.test",
        "/.//evil.test",
        "javascript:alert(1)",
        "console",
        "/\n/evil.test",
        `/${"a".repeat(3000)}`
      ]) {
        const answer = yield* open(target)
        assert.strictEqual(answer.status, 400, target)
        assert.deepNestedInclude(answer.body, { "error.param": "return_to" })
      }
      const location = (yield* open("/console/orders?model=film-1#a")).headers.get("location")
      const query = provider.grant(location ?? "", owner)
      const answer = yield* visitor.open(`/auth/callback?${query}`)
      assert.strictEqual(answer.headers.get("location"), "/console/orders?model=film-1#a")
    })
  )

  it.effect("9.1.1, 6.8.2 an ID token with another signature is refused", () =>
    assertForgedRefused({ forge: withParts({}, { groups: ["admins"] }) }, viewer)
  )
  it.effect("9.1.2 an unsigned ID token is refused, although the provider offers it", () =>
    assertForgedRefused({ forge: withParts({ alg: "none" }, {}, "") })
  )
  it.effect("9.1.2 an ID token by HMAC with the public key as its secret is refused", () =>
    assertForgedRefused({ isSignedWithPublicKey: true })
  )
  it.effect("9.1.3 an ID token that brings its own key is refused", () =>
    assertForgedRefused({ isSignedWithOwnKey: true })
  )
  it.effect("9.1.3 an ID token of a key that the provider does not have is refused", () =>
    assertForgedRefused({ header: { kid: "key-of-nobody" } })
  )
  it.effect("9.2.1 an ID token that has expired, or is not valid yet, is refused", () =>
    Effect.gen(function* () {
      const now = Math.floor(Date.now() / 1000)
      yield* assertForgedRefused({ claims: { exp: now - 120 } })
      yield* assertForgedRefused({ claims: { nbf: now + 600 } })
    })
  )
  it.effect("9.2.2 a token of another kind is no ID token", () =>
    Effect.gen(function* () {
      yield* assertForgedRefused({ header: { typ: "at+jwt" } })
      yield* assertForgedRefused({ header: { typ: "logout+jwt" } })
    })
  )
  it.effect("9.2.3, 10.5.4 an ID token of another client is refused", () =>
    Effect.gen(function* () {
      yield* assertForgedRefused({ claims: { aud: "another-client" } })
      yield* assertForgedRefused({ claims: { aud: [CLIENT_ID, "another-client"] } })
      yield* assertForgedRefused({ claims: { azp: "another-client" } })
      yield* assertForgedRefused({
        claims: { aud: [CLIENT_ID, "another-client"], azp: "another-client" }
      })
    })
  )
  it.effect("10.2.2 an ID token of another issuer is refused", () =>
    assertForgedRefused({ claims: { iss: "https://other.test" } })
  )
  it.effect("10.5.1 an ID token with another nonce, or none, is refused", () =>
    Effect.gen(function* () {
      yield* assertForgedRefused({ claims: { nonce: "nonce-of-another-sign-in" } })
      yield* assertForgedRefused({ claims: { nonce: undefined } })
    })
  )

  it.effect("10.1.1 no token of the provider reaches the browser", () =>
    Effect.gen(function* () {
      const visitor = yield* newVisitor
      const answer = yield* visitor.signIn(owner)
      const session = yield* visitor.open("/auth/session")
      const seen = [answer, session].map(({ headers, text }) =>
        JSON.stringify([[...headers], text])
      )
      for (const text of seen) {
        assert.notInclude(text, "access-")
        assert.notMatch(text, /eyJ/)
      }
    })
  )

  it.effect("10.1.2, 10.2.1 an answer without the state of this browser's sign-in is refused", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* newVisitor
      for (const change of [
        (query: URLSearchParams) => query.delete("state"),
        (query: URLSearchParams) => query.set("state", "guessed"),
        (query: URLSearchParams) => query.append("state", "twice")
      ]) {
        const query = provider.grant(yield* visitor.begin, owner)
        change(query)
        assertRefused(visitor, yield* visitor.open(`/auth/callback?${query}`))
      }
    })
  )

  it.effect("10.1.2 a code that was begun in another browser signs nobody in", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const attacker = yield* newVisitor
      const query = provider.grant(yield* attacker.begin, owner)
      // Login CSRF: the victim follows the attacker's link, without and with a sign-in of their own.
      const victim = yield* newVisitor
      assertRefused(victim, yield* victim.open(`/auth/callback?${query}`))
      yield* victim.begin
      assertRefused(victim, yield* victim.open(`/auth/callback?${query}`))
      // Injection: the attacker has the victim's code, and a sign-in of their own.
      const stolen = provider.grant(yield* victim.begin, owner)
      const own = new URL(yield* attacker.begin).searchParams.get("state") ?? ""
      stolen.set("state", own)
      assertRefused(attacker, yield* attacker.open(`/auth/callback?${stolen}`))
    })
  )

  it.effect("10.1.2 an answer is taken once, also where the provider takes its code again", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* newVisitor
      const authorization = yield* visitor.begin
      const cookie = visitor.cookies.get(SIGN_IN_COOKIE) ?? ""
      const first = yield* visitor.open(`/auth/callback?${provider.grant(authorization, owner)}`)
      assert.strictEqual(first.status, 303)
      assert.isFalse(visitor.cookies.has(SIGN_IN_COOKIE))
      const thief = yield* newVisitor
      thief.cookies.set(SIGN_IN_COOKIE, cookie)
      const again = yield* thief.open(`/auth/callback?${provider.grant(authorization, owner)}`)
      assertRefused(thief, again)
    })
  )

  it.effect("10.1.2 a sign-in whose cookie was changed, or of another gateway, is refused", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* newVisitor
      const query = provider.grant(yield* visitor.begin, owner)
      const cookie = visitor.cookies.get(SIGN_IN_COOKIE) ?? ""
      const changed = cookie.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
      for (const value of [`x${cookie}`, changed.slice(0, -4), ".", "a.b"]) {
        visitor.cookies.set(SIGN_IN_COOKIE, value)
        assertRefused(visitor, yield* visitor.open(`/auth/callback?${query}`))
      }
    })
  )

  it.effect("10.1.2 a sign-in that took longer than ten minutes is refused", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const vault = yield* Vault
      const age = Effect.fnUntraced(function* (cookie: string, minutes: number) {
        const [keyId = "", text = ""] = cookie.split(".")
        const bytes = Buffer.from(text, "base64url")
        const opened = yield* vault.open({ keyId, bytes }, "sign-in", PUBLIC_URL)
        const attempt = JSON.parse(Redacted.value(opened))
        const older = {
          ...attempt,
          startedAtMillis: attempt.startedAtMillis - minutes * 60_000
        }
        const sealed = yield* vault.seal(
          Redacted.make(JSON.stringify(older)),
          "sign-in",
          PUBLIC_URL
        )
        return `${sealed.keyId}.${Buffer.from(sealed.bytes).toString("base64url")}`
      }, Effect.orDie)
      const statusAfter = Effect.fnUntraced(function* (minutes: number) {
        const visitor = yield* newVisitor
        const query = provider.grant(yield* visitor.begin, owner)
        const cookie = yield* age(visitor.cookies.get(SIGN_IN_COOKIE) ?? "", minutes)
        visitor.cookies.set(SIGN_IN_COOKIE, cookie)
        return (yield* visitor.open(`/auth/callback?${query}`)).status
      })
      assert.deepStrictEqual([yield* statusAfter(9), yield* statusAfter(11)], [303, 400])
    })
  )

  it.effect("10.1.2 the sign-in is bound to its code by PKCE with S256, and by a nonce", () =>
    Effect.gen(function* () {
      const visitor = yield* newVisitor
      const starts = [yield* visitor.begin, yield* visitor.begin].map(
        (url) => new URL(url).searchParams
      )
      const names = ["state", "nonce", "code_challenge"]
      for (const params of starts) {
        assert.strictEqual(params.get("code_challenge_method"), "S256")
        assert.strictEqual(params.get("response_type"), "code")
        assert.strictEqual(params.get("redirect_uri"), `${PUBLIC_URL}/auth/callback`)
        for (const name of names) assert.match(params.get(name) ?? "", /^[\w-]{43}$/)
      }
      const values = starts.flatMap((params) => names.map((name) => params.get(name)))
      assert.strictEqual(new Set(values).size, values.length)
    })
  )

  it.effect("10.2.2 an answer that another provider gave is refused", () =>
    Effect.gen(function* () {
      const provider = yield* Provider
      const visitor = yield* newVisitor
      for (const iss of ["https://other.test", null]) {
        const query = provider.grant(yield* visitor.begin, owner)
        if (iss === null) query.delete("iss")
        else query.set("iss", iss)
        assertRefused(visitor, yield* visitor.open(`/auth/callback?${query}`))
      }
    })
  )

  it.effect("10.2.3 the gateway asks for the configured scopes and nothing else", () =>
    Effect.gen(function* () {
      const visitor = yield* newVisitor
      const { searchParams } = new URL(yield* visitor.begin)
      assert.strictEqual(searchParams.get("scope"), "openid email profile")
      assert.deepStrictEqual([...searchParams.keys()].toSorted(), [
        "client_id",
        "code_challenge",
        "code_challenge_method",
        "nonce",
        "redirect_uri",
        "response_type",
        "scope",
        "state"
      ])
    })
  )

  it.effect("10.5.2, 6.8.1 an address that another account had gives nothing of that account", () =>
    Effect.gen(function* () {
      yield* createOrganization
      const address = { email: "noa@studio.test", email_verified: true }
      const first = yield* signedIn({ sub: "noa-1", name: "Noa", ...address })
      const recycled = yield* signedIn({ sub: "noa-2", name: "Noa", ...address })
      const [one, two] = [
        yield* bodyAs(Me, yield* first.open("/v1/me")),
        yield* bodyAs(Me, yield* recycled.open("/v1/me"))
      ]
      assert.notStrictEqual(one.id, two.id)
      assert.notStrictEqual(one.member_id, two.member_id)
      const renamed = yield* signedIn({
        sub: "noa-1",
        name: "Noa",
        email: "noa.new@studio.test",
        email_verified: true
      })
      assert.deepStrictEqual(yield* bodyAs(Me, yield* renamed.open("/v1/me")), one)
    })
  )

  it.effect("10.5.2 an address counts only where the provider has verified it", () =>
    Effect.gen(function* () {
      for (const claims of [
        { email: "boss@operators.test" },
        { email: "boss@operators.test", email_verified: false },
        { email: "boss@operators.test", email_verified: "true" },
        { email: "boss@evil.test@operators.test", email_verified: true },
        { email: "boss@operators.test.evil.test", email_verified: true },
        { groups: ["@operators.test"], email_verified: true },
        { groups: ["Admins", "admins,auditors"] }
      ]) {
        const visitor = yield* newVisitor
        assertRefused(visitor, yield* visitor.signIn({ sub: "bo", ...claims }), 403)
      }
      const visitor = yield* signedIn({
        sub: "bo",
        email: "Boss@Operators.test",
        email_verified: true
      })
      assert.deepInclude(yield* sessionOf(visitor), {
        kind: "operator",
        role: "finance",
        email: "boss@operators.test",
        organization_id: null
      })
    })
  )

  it.effect(
    "8.3.1 who has no right gets no session, nor who is of an organisation that is not there",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const account of [
          { sub: "stranger", name: "<script>alert(1)</script>" },
          { sub: "ghost", email: "g@gone.test", email_verified: true }
        ]) {
          const visitor = yield* newVisitor
          const answer = yield* visitor.signIn(account)
          assertRefused(visitor, answer, 403)
          assert.notInclude(answer.text, "alert")
          const rows = yield* Effect.orDie(
            sql`SELECT 1 FROM sessions WHERE subject = ${account.sub}`
          )
          assert.lengthOf(rows, 0)
        }
      })
  )

  it.effect("8.3.2 a session has the rights of the rules in force, not those of its sign-in", () =>
    Effect.gen(function* () {
      const account = { sub: "uma", name: "Uma", groups: ["helpers", "auditors"] }
      const visitor = yield* signedIn(account)
      const roleOf = Effect.map(sessionOf(visitor), ({ role }) => role)
      const json = { name: "By Uma" }
      assert.strictEqual(yield* roleOf, "viewer")
      roles.push({ subject: "helpers", right: "operator" })
      assert.strictEqual(yield* roleOf, "operator")
      const taken = yield* visitor.send("/admin/v1/organizations", { json })
      assert.strictEqual(taken.status, 200, taken.text)
      roles.pop()
      const refused = yield* visitor.send("/admin/v1/organizations", { json })
      assert.strictEqual(refused.status, 403)
      const [auditors] = roles.splice(1, 1)
      assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 403)
      if (auditors !== undefined) roles.splice(1, 0, auditors)
      assert.strictEqual(yield* statusOf(visitor, "/admin/v1/me"), 200)
    })
  )

  it.effect("8.2.1 the header decides alone where a request has a cookie too", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      yield* createOrganization
      const visitor = yield* signedIn({ ...owner, groups: ["admins", "painters"] })
      const who = yield* gateway.customer("1")
      const byKey = yield* bodyAs(Me, yield* visitor.open("/v1/me", { key: who.key }))
      assert.strictEqual(byKey.organization_id, who.organizationId)
      const byCookie = yield* bodyAs(Me, yield* visitor.open("/v1/me"))
      assert.strictEqual(byCookie.organization_id, ORGANIZATION)
      for (const path of ["/v1/me", "/admin/v1/me", "/auth/session"]) {
        for (const authorization of ["Bearer mg_wrong", "Bearer ", "Basic eDp5"]) {
          const answer = yield* visitor.open(path, { headers: { authorization } })
          assert.strictEqual(answer.status, 401, `${path} ${authorization}`)
        }
      }
      const message = { model: "talk-1", max_tokens: 1, messages: [{ role: "user", content: "x" }] }
      const headers = { "x-api-key": "mg_wrong" }
      const answer = yield* visitor.open("/v1/messages", { json: message, headers })
      assert.strictEqual(answer.status, 401)
      // A session is a cookie, and neither a key nor a token.
      const key = visitor.cookies.get(SESSION_COOKIE) ?? ""
      for (const path of ["/v1/me", "/admin/v1/me"]) {
        assert.strictEqual((yield* gateway.call(path, { key })).status, 401)
      }
    })
  )

  it.effect(
    "8.2.1 metrics take no cookie, members no routes of operators, and operators no orders",
    () =>
      Effect.gen(function* () {
        yield* createOrganization
        const operator = yield* signedIn(owner)
        assert.strictEqual(yield* statusOf(operator, "/metrics"), 401)
        assert.strictEqual(yield* statusOf(operator, "/v1/me"), 403)
        const painter = yield* signedIn({ sub: "pia", groups: ["painters"] })
        assert.strictEqual(yield* statusOf(painter, "/v1/me"), 200)
        assert.strictEqual(yield* statusOf(painter, "/admin/v1/me"), 403)
        assert.strictEqual(yield* statusOf(painter, "/admin/v1/sessions"), 403)
      })
  )
})

it.live("10.5.3 a provider that says it is another issuer is not used", () =>
  Effect.gen(function* () {
    const provider = yield* Provider
    const check = Effect.result(
      makeIdentityProvider(signInWith(provider, { roles, organizations: [] })).check
    )
    provider.overrides.set("issuer", "https://other.test")
    assert.strictEqual((yield* check)._tag, "Failure")
    provider.overrides.clear()
    assert.strictEqual((yield* check)._tag, "Success")
  }).pipe(Effect.provide(Provider.layer), Effect.scoped)
)
