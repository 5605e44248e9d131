import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { film, paint, rows } from "./badInput.rows.ts"

const ErrorBody = Schema.Struct({
  error: Schema.StructWithRest(
    Schema.Struct({
      message: Schema.NonEmptyString,
      type: Schema.NonEmptyString,
      param: Schema.NullOr(Schema.String),
      code: Schema.String
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `bad input (${kind})`,
    (it) => {
      it.effect.each(rows)("%s", ([, resource, json, status, code, param]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const before = (yield* gateway.simulator.book).length
          const answer = yield* gateway.call(`/v1/${resource}/generations`, { key: who.key, json })
          assert.strictEqual(answer.status, status, answer.text)
          const { error } = yield* bodyAs(ErrorBody, answer)
          assert.deepInclude(error, { code, param })
          assert.match(answer.headers.get("x-request-id") ?? "", /^req_/)
          const paid = (yield* gateway.simulator.book).slice(before)
          assert.deepEqual(paid, [])
          assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        })
      )

      it.effect.each([
        ["no key", {}],
        ["another scheme", { authorization: "Basic abc" }],
        ["an empty key", { authorization: "Bearer " }],
        ["a mistyped key", { authorization: "Bearer mg_nonsense" }],
        ["a well-formed key nobody has", { authorization: `Bearer mg_${"A".repeat(43)}8f6b4b9e` }]
      ] as const)("%s gets the same 401 for every route", ([, headers]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const answers = [
            yield* gateway.call("/v1/models", { headers }),
            yield* gateway.call("/v1/balance", { headers }),
            yield* gateway.call("/v1/usage", { headers }),
            yield* gateway.call("/v1/videos/vt_1", { headers }),
            yield* gateway.call("/v1/videos/generations", { headers, body: "not even json" }),
            yield* gateway.call("/v1/images/generations", { headers, json: {} })
          ]
          assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [401])
          assert.strictEqual(new Set(answers.map((answer) => answer.text)).size, 1)
          assert.deepNestedInclude(answers[0]?.body, { "error.code": "invalid_api_key" })
        })
      )

      it.effect.each([
        ["not JSON", { body: "{" }, 400, "invalid_request"],
        ["an empty body", { body: "" }, 400, "invalid_request"],
        ["an array", { json: [] }, 400, "invalid_request"],
        ["null", { json: null }, 400, "invalid_request"],
        [
          "plain text",
          { body: "x", headers: { "content-type": "text/plain" } },
          415,
          "unsupported_media_type"
        ]
      ] as const)("%s is refused with %s", ([, options, status, code]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          for (const resource of ["videos", "images"]) {
            const answer = yield* gateway.call(`/v1/${resource}/generations`, {
              key: who.key,
              method: "POST",
              ...options
            })
            assert.strictEqual(answer.status, status, answer.text)
            assert.deepNestedInclude(answer.body, { "error.code": code })
          }
        })
      )

      it.effect("a body of 70 MiB is refused with its limit, announced or not", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const body = new Uint8Array(70 * 1024 * 1024).fill(97)
          const answer = yield* gateway.call("/v1/videos/generations", { key: who.key, body })
          assert.strictEqual(answer.status, 413)
          assert.deepNestedInclude(answer.body, { "error.code": "payload_too_large" })
          const small = yield* gateway.admin("/organizations", { body: body.slice(0, 300 * 1024) })
          assert.strictEqual(small.status, 413)
        })
      )

      it.effect("a small body that is no JSON, or no object, is refused with the reason", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const cases = [
            ['{"name":', "Expected a valid JSON body: a value is expected at line 1, column 9"],
            ["[1]", "Expected a JSON object as the body"],
            ["", "Expected a JSON object as the body"]
          ] as const
          for (const [text, message] of cases) {
            const answer = yield* gateway.admin("/organizations", {
              body: new TextEncoder().encode(text)
            })
            assert.strictEqual(answer.status, 400)
            assert.deepNestedInclude(answer.body, { "error.message": message })
          }
        })
      )

      it.effect("unknown paths and wrong methods are told apart", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const nowhere = yield* gateway.call("/v1/nothing")
          assert.strictEqual(nowhere.status, 404)
          assert.deepNestedInclude(nowhere.body, { "error.code": "not_found" })
          const wrong = yield* gateway.call("/v1/models", { method: "DELETE" })
          assert.strictEqual(wrong.status, 405)
          assert.strictEqual(wrong.headers.get("allow"), "GET")
          assert.deepNestedInclude(wrong.body, { "error.code": "method_not_allowed" })
        })
      )

      it.effect("text that no database takes is refused or unknown, never a failure of ours", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const expectations = [
            [yield* gateway.call("/v1/videos/vt_%00", { key: who.key }), 404],
            [yield* gateway.call(`/v1/videos/${"x".repeat(1000)}`, { key: who.key }), 404],
            [yield* gateway.call("/v1/usage?after=%00", { key: who.key }), 400],
            [yield* gateway.admin("/organizations/%00"), 400],
            [yield* gateway.admin("/organizations", { json: { name: "a\u0000b" } }), 400],
            [yield* gateway.admin("/organizations", { json: { name: "a\ud800b" } }), 400],
            [
              yield* gateway.call("/v1/videos/generations", {
                key: who.key,
                json: { ...film, ratio: "16:9\u0000" }
              }),
              400
            ],
            [
              yield* gateway.call("/v1/videos/generations", {
                key: who.key,
                json: { ...film, prompt: "x --ratio 16:9\ud800" }
              }),
              400
            ],
            [
              yield* gateway.call("/v1/images/generations", {
                key: who.key,
                json: { ...paint, prompt: "nul \u0000 and half a pair \ud800" }
              }),
              200
            ]
          ] as const
          for (const [answer, status] of expectations) {
            assert.strictEqual(answer.status, status, answer.text)
          }
        })
      )

      it.effect("a text full of spaces costs no time", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("0")
          const text = `a${" ".repeat(90_000)}b --duration 99`
          const answer = yield* gateway
            .call("/v1/videos/generations", { key: who.key, json: { ...film, prompt: text } })
            .pipe(Effect.timeout("20 seconds"))
          assert.deepNestedInclude(answer.body, { "error.code": "video_sku_invalid" })
        })
      )

      it.effect("deep bodies, packed bodies and numbers that are none are refused", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const { key } = who
          const deep = `{"model":"paint-1","prompt":"x","extra":${"[".repeat(5000)}${"]".repeat(5000)}}`
          const answers = [
            [yield* gateway.call("/v1/images/generations", { key, body: deep }), 400],
            [
              yield* gateway.call("/v1/images/generations", {
                key,
                json: paint,
                headers: { "content-encoding": "gzip" }
              }),
              415
            ],
            [yield* gateway.call("/v1/usage?limit=1e1", { key }), 400],
            [yield* gateway.call("/v1/usage?limit=101", { key }), 400],
            [yield* gateway.call("/v1/usage?after=us_nobody", { key }), 400],
            [yield* gateway.call("/v1/videos/vt_1?wait=61", { key }), 400],
            [yield* gateway.call("/v1/videos/vt_1?wait=", { key }), 400]
          ] as const
          for (const [answer, status] of answers) {
            assert.strictEqual(answer.status, status, answer.text)
          }
          assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        })
      )

      it.effect("a modality nobody knows is refused as a filter", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("0")
          const answer = yield* gateway.call("/v1/models?modality=smell", { key: who.key })
          assert.strictEqual(answer.status, 400)
          assert.deepNestedInclude(answer.body, {
            "error.code": "invalid_request",
            "error.param": "modality"
          })
        })
      )

      it.effect("the books hold after all of this", () =>
        Effect.flatMap(Gateway, (gateway) => gateway.verify)
      )
    }
  )
}
