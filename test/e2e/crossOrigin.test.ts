/** Pages of other origins may call the client routes, where the operator opened them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { sendMcp } from "../support/mcp.ts"

const PAGE = "https://app.example.com"
const LOCAL = "http://localhost:5173"
const STRANGER = "https://app.example.com.evil.test"

const preflight = (origin: string, method = "POST") => ({
  method: "OPTIONS",
  headers: {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "authorization,content-type,x-stainless-lang"
  }
})

const order = (origin: string, key?: string) => ({
  headers: { origin },
  json: { model: "paint-1", prompt: "a lighthouse" },
  ...(key === undefined ? {} : { key })
})

const corsHeaders = ({ headers }: HttpAnswer): ReadonlyArray<string> =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"))

const listOf = ({ headers }: HttpAnswer, name: string): ReadonlyArray<string> =>
  (headers.get(name) ?? "").split(", ")

const forOperators = ["/admin/v1/channels", "/metrics", "/console/", "/openapi.json", "/healthz"]

const withOrigins = (...corsOrigins: ReadonlyArray<string>) =>
  Layer.fresh(layerTestGateway("embedded", { ...quickSettings, corsOrigins }))

const options = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(withOrigins(PAGE, LOCAL), options)("a gateway that two origins may call", (it) => {
  it.effect("answers their preflight requests, before any key is read", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      for (const origin of [PAGE, LOCAL]) {
        const answer = yield* gateway.call("/v1/images/generations", preflight(origin))
        assert.strictEqual(answer.status, 204, answer.text)
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin)
        assert.strictEqual(answer.headers.get("vary"), "origin")
        assert.include(listOf(answer, "access-control-allow-methods"), "POST")
        assert.includeMembers(
          [...listOf(answer, "access-control-allow-headers")],
          ["authorization", "content-type", "idempotency-key", "prefer", "range", "*"]
        )
        assert.strictEqual(answer.headers.get("access-control-max-age"), "7200")
      }
      const deletion = yield* gateway.call("/v1/videos/vt_x", preflight(PAGE, "DELETE"))
      assert.include(listOf(deletion, "access-control-allow-methods"), "DELETE")
    })
  )

  it.effect("lets their pages read answers and errors, without credentials", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1")
      const answers = [
        [200, yield* gateway.call("/v1/images/generations", order(PAGE, key))],
        [
          200,
          yield* sendMcp({ url: gateway.url, key }, "tools/list", {}, { headers: { origin: PAGE } })
        ],
        [401, yield* gateway.call("/v1/images/generations", order(PAGE))],
        [404, yield* gateway.call("/v1/nothing", { headers: { origin: PAGE } })]
      ] as const
      for (const [status, answer] of answers) {
        assert.strictEqual(answer.status, status, answer.text)
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), PAGE)
        assert.strictEqual(answer.headers.get("vary"), "origin")
        assert.isFalse(answer.headers.has("access-control-allow-credentials"))
        const exposed = listOf(answer, "access-control-expose-headers")
        const own = [...answer.headers.keys()].filter((name) => /^(x-r|ratelimit|retry)/.test(name))
        assert.include(own, "x-request-id")
        assert.includeMembers([...exposed], [...own, "retry-after", "idempotency-replayed"])
      }
    })
  )

  it.effect("says nothing to pages of other origins, and says that answers differ by origin", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const refused = yield* gateway.call("/v1/images/generations", preflight(STRANGER))
      assert.strictEqual(refused.status, 405)
      const { key } = yield* gateway.customer("1")
      const read = yield* gateway.call("/v1/models", { key, headers: { origin: STRANGER } })
      const withoutOrigin = yield* gateway.call("/v1/models", { key })
      for (const answer of [refused, read, withoutOrigin]) {
        assert.deepStrictEqual(corsHeaders(answer), [])
        assert.strictEqual(answer.headers.get("vary"), "origin")
      }
      const plain = yield* gateway.call("/v1/models", {
        method: "OPTIONS",
        headers: { origin: PAGE }
      })
      assert.strictEqual(plain.status, 405)
    })
  )
})

layer(withOrigins("*"), options)("a gateway that every origin may call", (it) => {
  it.effect("answers every origin in the same way", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const asked = yield* gateway.call("/v1/images/generations", preflight(STRANGER))
      assert.strictEqual(asked.status, 204)
      const { key } = yield* gateway.customer("1")
      const read = yield* gateway.call("/v1/models", { key, headers: { origin: STRANGER } })
      for (const answer of [asked, read]) {
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
        assert.isFalse(answer.headers.has("access-control-allow-credentials"))
        assert.isFalse(answer.headers.has("vary"))
      }
    })
  )

  it.effect("opens nothing that is for operators", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      for (const path of forOperators) {
        const asked = yield* gateway.call(path, preflight(PAGE, "GET"))
        assert.isAtLeast(asked.status, 400, path)
        const read = yield* gateway.admin(path, { headers: { origin: PAGE } })
        assert.deepStrictEqual([...corsHeaders(asked), ...corsHeaders(read)], [], path)
      }
    })
  )
})
