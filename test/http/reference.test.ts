import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { layerGatewayTesting, TestingGateway } from "media-gateway/testing"
import { ReferenceApi } from "../../src/contract/ReferenceApi.ts"

it.effect("the contract is served to everybody, as it stands in the sources", () =>
  Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const answer = yield* gateway.call("/openapi.json")
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(answer.body, JSON.parse(JSON.stringify(OpenApi.fromApi(ReferenceApi))))
  }).pipe(Effect.provide(layerGatewayTesting()))
)

it.effect("the page for reading it comes whole, and may ask nobody else", () =>
  Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const { status, headers, body } = yield* gateway.call("/docs")
    assert.strictEqual(status, 200)
    const page = String(body)
    assert.include(page, "createApiReference")
    assert.include(page, '"/v1/videos/generations"')
    assert.notMatch(page.replaceAll(/<script>[\s\S]*?<\/script>/g, ""), /\b(?:src|href)=/)
    const policy = headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'none'")
    assert.include(policy, "connect-src 'self'")
    assert.notMatch(policy, /https?:/)
  }).pipe(Effect.provide(layerGatewayTesting()))
)

it.effect.each(["/docs", "/openapi.json"])("%s is served by GET alone", (path) =>
  Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const answer = yield* gateway.call(path, { method: "POST" })
    assert.strictEqual(answer.status, 405)
    assert.strictEqual(answer.headers.get("allow"), "GET")
  }).pipe(Effect.provide(layerGatewayTesting()))
)
