/**
 * A path has one spelling: whatever else leads a router to it is 404, so that a rule about the path in
 * a proxy in front is not passed by. Written on a socket, as clients put an address right.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { rawRequest } from "../support/rawSocket.ts"

const CATALOG = "GET /admin/v1/catalog"

/** With what the answer names. */
const spellings: ReadonlyArray<readonly [target: string, meant: string]> = [
  ["/ADMIN/v1/catalog", CATALOG],
  ["/admin/V1/catalog", CATALOG],
  ["/%61dmin/v1/catalog", CATALOG],
  ["/admin%2Fv1/catalog", CATALOG],
  ["//admin/v1/catalog", CATALOG],
  ["/admin//v1/catalog", CATALOG],
  ["/admin/v1/catalog/", CATALOG],
  ["/admin/./v1/catalog", CATALOG],
  ["/v1/../admin/v1/catalog", CATALOG],
  ["/v1/%2e%2e/admin/v1/catalog", CATALOG],
  ["/console/../admin/v1/catalog", CATALOG],
  ["/admin;x=1/v1/catalog", CATALOG],
  ["/admin/v1/catalog;x", CATALOG],
  ["/admin\\v1\\catalog", CATALOG],
  ["/admin/v1/catalog#x", CATALOG],
  ["http://gateway/admin/v1/catalog", CATALOG],
  ["HTTPS://gateway/admin/v1/catalog", CATALOG],
  ["http://gateway/v1/../admin/v1/catalog", CATALOG],
  ["/METRICS", "GET /metrics"],
  ["/metrics/", "GET /metrics"],
  ["/%6detrics", "GET /metrics"],
  ["//metrics", "GET /metrics"]
]

layer(layerTestGateway("embedded"), { excludeTestServices: true, timeout: "60 seconds" })(
  "another spelling of a path",
  (it) => {
    const ask = Effect.fnUntraced(function* (method: string, target: string) {
      const gateway = yield* Gateway
      return yield* rawRequest(gateway.url, [
        `${method} ${target} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n`,
        `authorization: Bearer ${ADMIN_TOKEN}\r\n\r\n`
      ])
    })

    it.effect("is the only one that is served", () =>
      Effect.gen(function* () {
        for (const target of ["/admin/v1/catalog", "/admin/v1/catalog?/x;y#z", "/metrics"]) {
          assert.strictEqual((yield* ask("GET", target))?.status, 200, target)
        }
      })
    )

    it.effect.each(spellings)("%s is 404, and names %s", ([target, meant]) =>
      Effect.gen(function* () {
        const answer = yield* ask("GET", target)
        assert.strictEqual(answer?.status, 404)
        const { error } = JSON.parse(answer?.body ?? "{}")
        assert.strictEqual(error.code, "not_found")
        assert.include(error.message, `did you mean ${meant}?`)
        for (const method of ["HEAD", "OPTIONS", "PUT"]) {
          assert.strictEqual((yield* ask(method, target))?.status, 404, method)
        }
      })
    )

    it.effect.each(["?", "?/admin/v1/catalog", "*", "admin/v1/catalog", "/\tadmin/v1/catalog"])(
      "%s is no path",
      (target) =>
        Effect.gen(function* () {
          assert.include([400, 404], (yield* ask("GET", target))?.status)
        })
    )
  }
)
