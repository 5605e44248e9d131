/**
 * 16.2.5 of OWASP ASVS 5.0: a gateway that is configured by its environment prints all it can tell,
 * while people sign in, are refused and work. Afterwards no secret of theirs stands in what it has
 * printed, traced, stored and told its operator.
 */
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { ADMIN_TOKEN, clusterSecrets } from "../support/cluster.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { databaseColumns } from "../support/databaseText.ts"
import { bodyAs } from "../support/gateway.ts"
import { call } from "../support/http.ts"
import { CLIENT_ID, Provider, PUBLIC_URL } from "../support/identityProvider.ts"
import { startable, startProcess } from "../support/processes.ts"
import { makeVisitor } from "../support/visitor.ts"

const entry = startable(fileURLToPath(new URL("../support/loudProcess.ts", import.meta.url)))

const CLIENT_SECRET = "canary-client-secret-7Hq2Vd"
/** Compared with each request of its session, and nothing without the cookie. */
const allowed = new Set(["csrf token in sessions.csrf_token"])

it.live("16.2.5 no secret of a sign-in is printed, traced, stored or shown", () =>
  Effect.gen(function* () {
    const provider = yield* Provider
    const dataDir = yield* temporaryDataDir({ initialised: true })
    const gateway = yield* startProcess({
      entry,
      env: {
        PORT: "0",
        DATA_DIR: dataDir,
        ...clusterSecrets,
        GATEWAY_DRAIN_SECONDS: "0",
        GATEWAY_PUBLIC_URL: PUBLIC_URL,
        GATEWAY_OIDC_ISSUER: provider.issuer,
        GATEWAY_OIDC_CLIENT_ID: CLIENT_ID,
        GATEWAY_OIDC_CLIENT_SECRET: CLIENT_SECRET,
        GATEWAY_OIDC_ROLES: "admins=owner,auditors=viewer"
      }
    })
    const [, url = ""] = yield* gateway.waitForLine(/listens on (http:\S+)/)
    const visitor = makeVisitor(url)
    const owner = { sub: "ada", name: "Ada", groups: ["admins"] }
    const begun = yield* visitor.begin
    const attempt = [...visitor.cookies.values()]
    const refused = yield* visitor.signIn(owner, { claims: { nonce: "another" } })
    assert.strictEqual(refused.status, 400)
    yield* visitor.signIn({ sub: "stranger" })
    assert.strictEqual((yield* visitor.signIn(owner)).status, 303)
    const { csrf_token } = yield* bodyAs(
      Schema.Struct({ csrf_token: Schema.String }),
      yield* visitor.open("/auth/session")
    )
    const cookies = [...visitor.cookies.values()]
    yield* visitor.send("/admin/v1/organizations", { json: { name: "Test" } })
    yield* visitor.send("/admin/v1/organizations", { json: { name: csrf_token.length } })
    yield* visitor.send("/admin/v1/sessions/nobody", { method: "DELETE" })
    const logoutToken = yield* provider.logoutToken({ sub: "ada", aud: "another" })
    const signature = logoutToken.slice(logoutToken.lastIndexOf(".") + 1)
    yield* call(`${url}/auth/backchannel-logout`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `logout_token=${logoutToken}`
    })
    const shown = [
      yield* call(`${url}/admin/v1/audit?limit=100`, { key: ADMIN_TOKEN }),
      yield* call(`${url}/admin/v1/sessions`, { key: ADMIN_TOKEN })
    ]
    yield* visitor.send("/auth/logout", { method: "POST" })
    yield* gateway.kill("SIGTERM")
    yield* gateway.end

    const canaries = new Map<string, string>([
      ...provider.secrets.map((text, at) => [`secret ${at}`, text] as const),
      ...attempt.map((text) => ["cookie of the sign-in", text] as const),
      ...cookies.map((text) => ["cookie", text] as const),
      ["csrf token", csrf_token],
      ["state", new URL(begun).searchParams.get("state") ?? ""],
      ["client secret", CLIENT_SECRET],
      ["client secret in a header", btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)],
      ["logout token", signature]
    ])
    assert.isAtLeast(canaries.size, 18)
    const leaks = (place: string, text: string) =>
      [...canaries]
        .filter(([, canary]) => text.includes(canary))
        .map(([name]) => `${name} in ${place}`)
    const printed = gateway.stdout() + gateway.stderr()
    assert.include(printed, "sign-in: a session was opened")
    assert.match(printed, /SPAN GET \/auth\/callback/)
    const columns = yield* Effect.provide(databaseColumns, layerEmbedded({ dataDir }))
    assert.include(columns.map(({ text }) => text).join(), "createOrganization")
    const all = [
      ...leaks("the output", printed),
      ...shown.flatMap(({ text }) => leaks("an answer", text)),
      ...columns.flatMap(({ column, text }) => leaks(column, text))
    ]
    assert.deepStrictEqual(
      all.filter((leak) => !allowed.has(leak)),
      []
    )
  }).pipe(Effect.provide(Provider.layer), Effect.scoped)
)
