/** Every route with every class of key: those who are not meant to come in do not. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Authorization } from "../../src/http/api/middlewares.ts"
import { layerAuthorization } from "../../src/http/server/access/authorization.ts"
import { layerKeyRates } from "../../src/http/server/access/keyRates.ts"
import { layerReadLanes } from "../../src/http/server/access/readLanes.ts"
import { Access, allScopes, type Scope, usualScopes } from "../../src/services/Access.ts"
import { layerContentLinks } from "../../src/services/results/ContentLinks.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { type DeclaredRoute, declaredRoutes, examplesOf, pathWith } from "../support/routes.ts"

interface KeyClass {
  readonly name: string
  readonly key: string | null
  readonly scopes: ReadonlySet<Scope>
  readonly isAdmin: boolean
}

const none: ReadonlySet<Scope> = new Set()

/** Read by balancers and browsers, who have no key. */
const open: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/auth/methods"])
/** Not there without an identity provider. */
const ofSignIn: ReadonlySet<string> = new Set([
  "/auth/login",
  "/auth/callback",
  "/auth/backchannel-logout"
])

const CreatedKey = Schema.Struct({ id: Schema.String, key: Schema.String })

const classes = Effect.gen(function* () {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  const make = Effect.fnUntraced(function* (options: object) {
    const made = yield* gateway.admin(`/members/${who.memberId}/keys`, {
      json: { name: "k", ...options }
    })
    return yield* bodyAs(CreatedKey, made)
  })
  const revoked = yield* make({})
  yield* gateway.admin(`/keys/${revoked.id}`, { method: "DELETE" })
  const full = yield* make({ scopes: allScopes })
  const expired = yield* make({ expires_at: "2020-01-01T00:00:00Z" })
  const single = yield* Effect.forEach(allScopes, (scope) =>
    Effect.map(make({ scopes: [scope] }), ({ key }) => ({
      name: `a key for ${scope}`,
      key,
      scopes: new Set([scope]),
      isAdmin: false
    }))
  )
  const classes: ReadonlyArray<KeyClass> = [
    { name: "no key", key: null, scopes: none, isAdmin: false },
    { name: "the admin token", key: ADMIN_TOKEN, scopes: none, isAdmin: true },
    { name: "a revoked key", key: revoked.key, scopes: none, isAdmin: false },
    { name: "an expired key", key: expired.key, scopes: none, isAdmin: false },
    { name: "a key for all", key: full.key, scopes: new Set(allScopes), isAdmin: false },
    { name: "a usual key", key: who.key, scopes: new Set(usualScopes), isAdmin: false },
    ...single
  ]
  return classes
})

/** What stops a class at a route; null when it is let in. */
const stoppedBy = (route: DeclaredRoute, { scopes, isAdmin }: KeyClass): 401 | 403 | null => {
  if (open.has(route.path) || ofSignIn.has(route.path)) return null
  // Sessions are taken there, and neither keys nor tokens.
  if (route.path.startsWith("/auth/")) return 401
  if (route.path.startsWith("/admin/v1/") || route.path === "/metrics") return isAdmin ? null : 401
  if (scopes.size === 0) return 401
  return route.scopes.some((scope) => scopes.has(scope)) ? null : 403
}

const codes = { 401: "invalid_api_key", 403: "permission_denied" } as const

/** The class of key is let in at the route, or stopped with the code that is due. */
const assertLetIn = Effect.fnUntraced(function* (route: DeclaredRoute, keyClass: KeyClass) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(pathWith(route.path, {}), {
    method: route.method,
    ...(keyClass.key === null ? {} : { key: keyClass.key }),
    // Nothing is ordered or changed by those who are let in.
    ...(route.bodies.length > 0 ? { json: [] } : {})
  })
  const stop = stoppedBy(route, keyClass)
  const label = `${route.method} ${route.path} with ${keyClass.name}: ${answer.text}`
  if (stop === null) {
    assert.notInclude([401, 403], answer.status, label)
  } else {
    assert.strictEqual(answer.status, stop, label)
    assert.deepNestedInclude(answer.body, { "error.code": codes[stop] }, label)
  }
})

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "deny by default",
  (it) => {
    it.effect("each route lets in the keys of its scope, and no other class of key", () =>
      Effect.gen(function* () {
        const all = yield* classes
        yield* Effect.forEach(
          declaredRoutes.flatMap((route) => all.map((each) => ({ route, each }))),
          ({ route, each }) => assertLetIn(route, each),
          { concurrency: 8, discard: true }
        )
        // The table is about the whole interface, or it would say little.
        assert.isAtLeast(declaredRoutes.length * all.length, 200)
      })
    )

    it.effect("each admin body with a field nobody knows is refused, and audited", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const ids = { organizations: who.organizationId, members: who.memberId, orphans: "none" }
        const admin = declaredRoutes.filter(
          ({ path, bodies }) => path.startsWith("/admin/v1/") && bodies.length > 0
        )
        assert.isAtLeast(admin.length, 6)
        for (const route of admin) {
          const [, collection = ""] = /^\/admin\/v1\/([^/]+)\/:id/.exec(route.path) ?? []
          const id = new Map(Object.entries(ids)).get(collection) ?? "nobody"
          const answer = yield* gateway.call(pathWith(route.path, { id }), {
            method: route.method,
            key: ADMIN_TOKEN,
            json: { ...examplesOf(route)[0], surprise: 1 }
          })
          assert.strictEqual(answer.status, 400, `${route.path} ${answer.text}`)
          assert.include(answer.text, "surprise: There is no such field")
          const { text } = yield* gateway.admin("/audit?limit=1")
          assert.include(text, `"action":"${route.action}"`)
          assert.include(text, `"request_id":"${answer.headers.get("x-request-id")}"`)
        }
      })
    )

    it.effect(
      "every address that is not of the interface is not found, with and without a key",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          for (const path of ["/v1", "/v1/", "/admin", "/admin/v1", "/v2/models", "/.env"]) {
            for (const key of ["", ADMIN_TOKEN]) {
              assert.strictEqual((yield* gateway.call(path, { key })).status, 404, path)
            }
          }
        })
    )
  }
)

/** One route with the check of keys that names no scope, as a careless new one would. */
class CarelessApi extends HttpApi.make("careless").add(
  HttpApiGroup.make("careless")
    .add(HttpApiEndpoint.get("read", "/v1/careless", { success: Schema.String }))
    .middleware(Authorization)
) {}

it.live("a route that names no scope lets nobody in", () =>
  Effect.gen(function* () {
    const { handler, dispose } = HttpRouter.toWebHandler(
      HttpApiBuilder.layer(CarelessApi).pipe(
        Layer.provide(
          HttpApiBuilder.group(CarelessApi, "careless", (handlers) =>
            handlers.handle("read", () => Effect.succeed("let in"))
          )
        ),
        Layer.provide(layerAuthorization),
        Layer.provide([layerKeyRates, layerReadLanes]),
        Layer.provide(layerContentLinks(Redacted.make(new Uint8Array(32)))),
        Layer.provide(HttpServer.layerServices),
        Layer.provide(
          Layer.mock(Access, {
            authenticate: () =>
              Effect.succeed({
                organizationId: "org_1",
                memberId: "mem_1",
                keyId: "key_1",
                scopes: new Set(allScopes),
                models: null
              })
          })
        )
      ),
      { disableLogger: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const answer = yield* Effect.promise(() =>
      handler(
        new Request("http://gateway/v1/careless", { headers: { authorization: "Bearer mg_any" } })
      )
    )
    assert.strictEqual(answer.status, 403)
    assert.include(yield* Effect.promise(() => answer.text()), "permission_denied")
  }).pipe(Effect.scoped)
)
