import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const lines: Array<string> = []
const layerLog = Logger.layer([
  Logger.map(Logger.formatJson, (line) => {
    lines.push(line)
  })
])

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

layer(layerTestGateway("embedded").pipe(Layer.provide(layerLog)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the ids of a request", (it) => {
  it.effect("the client's own come back with every answer, beside ours", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const headers = { "x-client-request-id": "order-7/a", traceparent: trace }
      for (const path of ["/healthz", "/v1/models", "/nowhere", "/admin/v1/catalog"]) {
        const answer = yield* gateway.call(path, { headers })
        assert.strictEqual(answer.headers.get("x-client-request-id"), "order-7/a", path)
        assert.strictEqual(answer.headers.get("traceparent"), trace, path)
        assert.match(answer.headers.get("x-request-id") ?? "", /^req_[0-9a-f-]{36}$/, path)
      }
    })
  )

  it.effect("malformed ones do not", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      for (const [id, parent] of [
        ["", ""],
        ["two words", "00-zz-1-01"],
        ["\u00e9", trace.toUpperCase()],
        ["x".repeat(513), `${trace}-more`]
      ] as const) {
        const answer = yield* rawRequest(gateway.url, [
          requestText("/healthz", {
            headers: [`x-client-request-id: ${id}`, `traceparent: ${parent}`]
          })
        ])
        assert.strictEqual(answer?.status, 200)
        assert.notInclude(answer?.head, "client-request-id")
        assert.notInclude(answer?.head, "traceparent")
      }
    })
  )

  it.effect("stand together in the log", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const answer = yield* gateway.call("/v1/videos/generations", {
        key: who.key,
        headers: { "x-client-request-id": "order-8" },
        json: { model: "film-keyless", prompt: "x" }
      })
      assert.strictEqual(answer.status, 503)
      const line = lines.find((one) => one.includes("channel: no usable key"))
      assert.include(line, "ch-keyless")
      assert.include(line, "order-8")
      assert.include(line, answer.headers.get("x-request-id") ?? "none")
    })
  )
})
