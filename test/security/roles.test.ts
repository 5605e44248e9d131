/** What each role may do, route by route: a route without a row fails. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { OperatorView } from "../../src/features/accounts/OperatorsApi.ts"
import { AuditView } from "../../src/features/history/HistoryApi.ts"
import { SignInConfig } from "../../src/features/signIn/SignInConfig.ts"
import { list } from "../../src/http/api/shared.ts"
import { Role } from "../../src/services/operators/Operators.ts"
import { type DatabaseKind, databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import type { CallOptions, HttpAnswer } from "../support/http.ts"
import { Provider, signInWith } from "../support/identityProvider.ts"
import { declaredRoutes, pathWith } from "../support/routes.ts"
import { makeVisitor } from "../support/visitor.ts"

const everybody = Role.literals
const owners: ReadonlyArray<Role> = ["owner"]
const operating: ReadonlyArray<Role> = ["owner", "operator"]
const counting: ReadonlyArray<Role> = ["owner", "finance"]
const either: ReadonlyArray<Role> = ["owner", "operator", "finance"]

/** The routes of the administrative interface, without what they all begin with. */
const rows: Readonly<Record<string, ReadonlyArray<Role>>> = {
  "GET /catalog": everybody,
  "PUT /catalog": operating,
  "POST /catalog/preview": everybody,
  "POST /price-lists": operating,
  "GET /price-lists": everybody,
  "GET /price-lists/:id": everybody,
  "PUT /price-lists/:id": operating,
  "DELETE /price-lists/:id": operating,
  "POST /organizations": either,
  "GET /organizations": everybody,
  "PATCH /organizations/:id": either,
  "GET /members": everybody,
  "GET /members/:id": everybody,
  "PATCH /members/:id": either,
  "GET /keys": everybody,
  "GET /keys/:id": everybody,
  "PATCH /keys/:id": operating,
  "GET /organizations/:id": everybody,
  "POST /organizations/:id/deposits": counting,
  "PUT /organizations/:id/low_balance": counting,
  "POST /organizations/:id/members": either,
  "GET /organizations/:id/ledger": everybody,
  "GET /organizations/:id/usage": everybody,
  "GET /organizations/:id/usage/:usage_id": everybody,
  "GET /organizations/:id/deposits": everybody,
  "POST /organizations/:id/adjustments": counting,
  "GET /organizations/:id/adjustments": everybody,
  "POST /members/:id/keys": operating,
  "DELETE /keys/:id": operating,
  "GET /budgets": everybody,
  "POST /organizations/:id/budgets": counting,
  "GET /organizations/:id/budgets": everybody,
  "GET /organizations/:id/budgets/:budget_id": everybody,
  "PATCH /organizations/:id/budgets/:budget_id": counting,
  "DELETE /organizations/:id/budgets/:budget_id": counting,
  "GET /organizations/:id/statements": everybody,
  "GET /organizations/:id/statements/:month": everybody,
  "GET /organizations/:id/statements/:month/focus": everybody,
  "POST /reconciliations": counting,
  "GET /reconciliations": everybody,
  "GET /reconciliations/:id": everybody,
  "GET /reconciliations/:id/entries": everybody,
  "DELETE /reconciliations/:id": counting,
  "GET /costs": everybody,
  "GET /usage/series": everybody,
  "GET /ledger/verify": everybody,
  "GET /channels": everybody,
  "POST /channels/:id/test": operating,
  "POST /channels/test": operating,
  "POST /channels/:id/drain": operating,
  "POST /channels/:id/enable": operating,
  "GET /orders": everybody,
  "GET /tasks": everybody,
  "GET /tasks/:id": everybody,
  "DELETE /tasks/:id": operating,
  "POST /tasks/:id/cancel": operating,
  "GET /orphans": everybody,
  "POST /orphans/:id/resolve": either,
  "GET /audit": everybody,
  "POST /webhook_endpoints": operating,
  "GET /webhook_endpoints": everybody,
  "GET /webhook_endpoints/:id": everybody,
  "POST /webhook_endpoints/:id": operating,
  "DELETE /webhook_endpoints/:id": operating,
  "POST /webhook_endpoints/:id/rotate_secret": operating,
  "POST /webhook_endpoints/:id/test": operating,
  "GET /webhook_endpoints/:id/deliveries": everybody,
  "POST /webhook_endpoints/:id/redeliver": operating,
  "GET /me": everybody,
  "GET /operators": everybody,
  "GET /operators/:id": everybody,
  "POST /operators": owners,
  "PATCH /operators/:id": owners,
  "DELETE /operators/:id": owners,
  "GET /sessions": everybody,
  "DELETE /sessions/:id": operating
}

const prefix = "/admin/v1"
const routes = declaredRoutes.filter(({ path }) => path.startsWith(`${prefix}/`))
type Route = (typeof routes)[number]
const nameOf = ({ method, path }: Route) => `${method} ${path.slice(prefix.length)}`

/** A gateway on which each role has a group of its own. */
const layerGateway = (kind: DatabaseKind) =>
  layerTestGateway(kind, undefined, {
    signIn: Layer.effect(
      SignInConfig,
      Effect.map(Provider, (provider) =>
        signInWith(provider, {
          roles: everybody.map((role) => ({ subject: `the ${role}s`, right: role })),
          organizations: []
        })
      )
    ).pipe(Layer.provide(Provider.layer))
  }).pipe(Layer.provideMerge(Provider.layer))

const CreatedOperator = Schema.Struct({ ...OperatorView.fields, token: Schema.String })

const createOperator = Effect.fnUntraced(function* (role: Role) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin("/operators", { json: { name: `the ${role}`, role } })
  return yield* bodyAs(CreatedOperator, answer)
})

type Send = (path: string, options: CallOptions) => Effect.Effect<HttpAnswer>

/** The role is let in where the table says so, and refused elsewhere. */
const assertMayOrNot = Effect.fnUntraced(function* (role: Role, send: Send, route: Route) {
  const answer = yield* send(pathWith(route.path, {}), {
    method: route.method,
    // Nothing is changed by those who are let in.
    ...(route.bodies.length > 0 ? { json: [] } : {})
  })
  const label = `${nameOf(route)} as ${role}: ${answer.text}`
  if (rows[nameOf(route)]?.includes(role) === true) {
    assert.notInclude([401, 403], answer.status, label)
  } else {
    assert.strictEqual(answer.status, 403, label)
    assert.deepNestedInclude(answer.body, { "error.code": "permission_denied" }, label)
  }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `roles (${kind})`,
    (it) => {
      it.effect("may do what stands in the table, and nothing else", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          assert.deepStrictEqual(routes.map(nameOf).toSorted(), Object.keys(rows).toSorted())
          for (const role of Role.literals) {
            const { token } = yield* createOperator(role)
            const send: Send = (path, options) => gateway.call(path, { ...options, key: token })
            for (const route of routes) yield* assertMayOrNot(role, send, route)
            const metrics = yield* gateway.call("/metrics", { key: token })
            assert.strictEqual(metrics.status, 200, role)
          }
        })
      )

      it.effect("may do the same with the session of a person", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          for (const role of Role.literals) {
            const visitor = makeVisitor(gateway.url)
            const answer = yield* visitor.signIn({ sub: role, groups: [`the ${role}s`] })
            assert.strictEqual(answer.status, 303, answer.text)
            for (const route of routes) {
              const send = route.method === "GET" ? visitor.open : visitor.send
              yield* assertMayOrNot(role, send, route)
            }
          }
        })
      )

      it.effect("the audit names who, also of what was refused", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { id, token } = yield* createOperator("finance")
          yield* gateway.call("/admin/v1/organizations", { key: token, json: { name: "One" } })
          yield* gateway.call("/admin/v1/operators", {
            key: token,
            json: { name: "me", role: "owner" }
          })
          yield* gateway.admin("/organizations", { json: { name: "Two" } })
          const { data } = yield* bodyAs(
            list(AuditView),
            yield* gateway.call("/admin/v1/audit?limit=3", { key: token })
          )
          assert.deepStrictEqual(
            data.map((entry) => [
              entry.action,
              entry.status,
              entry.operator_id,
              entry.operator_name
            ]),
            [
              ["createOrganization", 200, null, "GATEWAY_ADMIN_TOKEN"],
              ["createOperator", 403, id, "the finance"],
              ["createOrganization", 200, id, "the finance"]
            ]
          )
        })
      )

      it.effect("a revoked token opens nothing, and an owner may take a role away", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { id, token } = yield* createOperator("owner")
          const me = gateway.call("/admin/v1/me", { key: token })
          assert.deepStrictEqual((yield* me).body, { id, name: "the owner", role: "owner" })
          const changed = yield* gateway.admin(`/operators/${id}`, {
            method: "PATCH",
            json: { role: "viewer" }
          })
          assert.strictEqual(changed.status, 200, changed.text)
          const refused = yield* gateway.call("/admin/v1/operators", {
            key: token,
            json: { name: "x", role: "viewer" }
          })
          assert.include(refused.text, "This needs the role owner; you have the role viewer")
          yield* gateway.admin(`/operators/${id}`, { method: "DELETE" })
          assert.strictEqual((yield* me).status, 401)
          const wrong = yield* gateway.admin("/operators", { json: { name: "x", role: "king" } })
          assert.strictEqual(wrong.status, 400)
          assert.deepNestedInclude(wrong.body, { "error.param": "role" })
        })
      )
    }
  )
}
