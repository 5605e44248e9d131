import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"

const Images = Schema.Struct({
  created: Schema.Int,
  data: Schema.Array(Schema.Struct({ url: Schema.String }))
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `image generation (${kind})`,
    (it) => {
      it.effect("an image is a PNG of the size that was asked for", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const answer = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: "a lighthouse", size: "320x200" }
          })
          const { data } = yield* bodyAs(Images, answer)
          const [image] = data
          const response = yield* Effect.promise(() => fetch(image?.url ?? ""))
          const png = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
          assert.strictEqual(response.headers.get("content-type"), "image/png")
          assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [320, 200])
        })
      )

      it.effect("n = 3 costs three prices even when the vendor returns two", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const answer = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: "a lighthouse sim:fewer", n: 3 }
          })
          assert.strictEqual((yield* bodyAs(Images, answer)).data.length, 2)
          assert.deepInclude(yield* gateway.balance(who), { balance: "0.4", held: "0" })
          const usage = yield* gateway.call("/v1/usage", { key: who.key })
          assert.deepNestedInclude(usage.body, {
            "data[0].modality": "image",
            "data[0].output": 3,
            "data[0].unit_price": "0.2",
            "data[0].charge": "0.6",
            "data[0].task_id": null
          })
          yield* gateway.verify
        })
      )

      it.effect("everything but the model reaches the vendor unchanged, base64 comes back", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          yield* gateway.simulator.clearRequests
          const order = {
            prompt: "a lighthouse",
            size: "64x64",
            quality: "high",
            response_format: "b64_json",
            user: "u-1"
          }
          const answer = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", ...order }
          })
          assert.match(answer.text, /"b64_json":"iVBORw0KGgo/)
          const [seen] = yield* gateway.simulator.requests
          assert.deepEqual(seen?.body, { model: "vendor-paint-1", ...order })
        })
      )

      it.effect.each([
        ["sim:moderate-input", 400, null],
        ["sim:refuse=404", 404, null],
        ["sim:refuse=422", 422, null],
        ["sim:refuse=402", 502, "false"],
        ["sim:rate", 503, null],
        ["sim:http500", 502, "false"],
        ["sim:lost", 502, "false"],
        ["sim:redirect", 502, "false"]
      ] as const)("%s answers %i and costs nothing", ([word, status, shouldRetry]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const answer = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { model: "paint-1", prompt: `x ${word}` }
          })
          assert.strictEqual(answer.status, status, answer.text)
          assert.deepNestedInclude(answer.body, {
            "error.type": "upstream_error",
            "error.code": "upstream_error",
            "error.param": null
          })
          assert.strictEqual(answer.headers.get("x-should-retry"), shouldRetry)
          assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
          yield* gateway.verify
        })
      )

      it.effect.each(["sim:html", "sim:truncated"])(
        "%s is an answer of success that cannot be read: charged, and a repeat is told the same",
        (word) =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("1")
            const order = gateway.call("/v1/images/generations", {
              key: who.key,
              json: { model: "paint-1", prompt: `x ${word}`, n: 2 },
              headers: { "idempotency-key": word }
            })
            const answer = yield* order
            assert.strictEqual(answer.status, 502, answer.text)
            assert.strictEqual(answer.headers.get("x-should-retry"), "false")
            assert.include(answer.text, "is charged 0.4 CNY by the formula: GET /v1/usage/us_im_")
            const again = yield* order
            assert.deepStrictEqual(again.body, answer.body)
            assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
            assert.deepInclude(yield* gateway.balance(who), { balance: "0.6", held: "0" })
            yield* gateway.verify
          })
      )
    }
  )
}
