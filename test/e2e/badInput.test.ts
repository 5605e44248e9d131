import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"

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

const film = { model: "film-1", prompt: "a lighthouse" }
const paint = { model: "paint-1", prompt: "a lighthouse" }

type Row = readonly [
  name: string,
  path: "videos" | "images",
  body: unknown,
  status: number,
  code: string,
  param: string | null
]

const rows: ReadonlyArray<Row> = [
  ["3 seconds", "videos", { ...film, duration: 3 }, 400, "video_sku_invalid", "duration"],
  ["16 seconds", "videos", { ...film, duration: 16 }, 400, "video_sku_invalid", "duration"],
  ["-1 seconds", "videos", { ...film, duration: -1 }, 400, "video_sku_invalid", "duration"],
  ["a text for seconds", "videos", { ...film, duration: "5" }, 400, "invalid_request", "duration"],
  ["half a second", "videos", { ...film, duration: 5.5 }, 400, "invalid_request", "duration"],
  ["8K", "videos", { ...film, resolution: "8K" }, 400, "video_sku_invalid", "resolution"],
  [
    "a number for resolution",
    "videos",
    { ...film, resolution: 720 },
    400,
    "invalid_request",
    "resolution"
  ],
  [
    "a flag with nonsense seconds",
    "videos",
    { ...film, prompt: "x --duration soon" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag with seconds out of range",
    "videos",
    { ...film, prompt: "x --duration 99" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag without a value",
    "videos",
    { ...film, prompt: "x --duration" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag with nonsense resolution",
    "videos",
    { ...film, prompt: "x --resolution sharp" },
    400,
    "video_sku_invalid",
    "resolution"
  ],
  ["nothing to make a video from", "videos", { model: "film-1" }, 400, "invalid_request", "prompt"],
  ["only flags", "videos", { ...film, prompt: "--duration 5" }, 400, "invalid_request", "prompt"],
  ["no model", "videos", { prompt: "x" }, 400, "invalid_request", "model"],
  [
    "an unknown block",
    "videos",
    { model: "film-1", content: [{ type: "gif" }] },
    400,
    "invalid_request",
    "content[0]"
  ],
  [
    "an address to be fetched by us",
    "videos",
    { ...film, image: "file:///etc/passwd" },
    400,
    "invalid_request",
    "image"
  ],
  ["n = 0", "images", { ...paint, n: 0 }, 400, "invalid_request", "n"],
  ["n = 11", "images", { ...paint, n: 11 }, 400, "invalid_request", "n"],
  ["n as text", "images", { ...paint, n: "2" }, 400, "invalid_request", "n"],
  ["no prompt", "images", { model: "paint-1" }, 400, "invalid_request", "prompt"],
  [
    "an unknown response format",
    "images",
    { ...paint, response_format: "bmp" },
    400,
    "invalid_request",
    "response_format"
  ],
  ["an image model ordered as video", "videos", { ...paint }, 400, "modality_mismatch", "model"],
  ["a video model ordered as image", "images", { ...film }, 400, "modality_mismatch", "model"],
  [
    "a chat model ordered as video",
    "videos",
    { ...film, model: "talk-1" },
    400,
    "modality_mismatch",
    "model"
  ],
  [
    "a reserved modality ordered as video",
    "videos",
    { ...film, model: "rank-1" },
    400,
    "modality_not_ready",
    "model"
  ],
  [
    "a reserved modality ordered as image",
    "images",
    { ...paint, model: "rank-1" },
    400,
    "modality_not_ready",
    "model"
  ],
  ["an omni model", "videos", { ...film, model: "omni-1" }, 400, "modality_not_ready", "model"],
  ["an unknown model", "videos", { ...film, model: "nope" }, 404, "model_not_found", "model"],
  [
    "an unmounted video model",
    "videos",
    { ...film, model: "film-unmounted" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "an unmounted image model",
    "images",
    { ...paint, model: "paint-unmounted" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "a channel without a key",
    "videos",
    { ...film, model: "film-keyless" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "a protocol that makes no videos",
    "videos",
    { ...film, model: "film-strange" },
    400,
    "video_unsupported_protocol",
    "model"
  ],
  [
    "a protocol that makes no images",
    "images",
    { ...paint, model: "paint-strange" },
    400,
    "image_unsupported_protocol",
    "model"
  ],
  [
    "a video without a price",
    "videos",
    { ...film, model: "film-unpriced" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "a tier without a price to fall back to",
    "videos",
    { ...film, model: "film-base-less" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "a resolution without a price",
    "videos",
    { ...film, model: "clip-1", resolution: "4K" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "an image without a price",
    "images",
    { ...paint, model: "paint-unpriced" },
    400,
    "billing_unavailable",
    "model"
  ],
  [
    "an upstream that is down, video",
    "videos",
    { ...film, model: "film-down" },
    502,
    "upstream_error",
    null
  ],
  [
    "an upstream that is down, image",
    "images",
    { ...paint, model: "paint-down" },
    502,
    "upstream_error",
    null
  ],
  [
    "a key the upstream refuses",
    "videos",
    { ...film, model: "film-badkey" },
    502,
    "upstream_error",
    null
  ],
  [
    "an input the upstream refuses",
    "videos",
    { ...film, prompt: "x sim:moderate-input" },
    400,
    "upstream_error",
    null
  ]
]

for (const kind of ["embedded", "postgres"] as const) {
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
          const prompt = `a${" ".repeat(5_000_000)}b --duration 99`
          const answer = yield* gateway
            .call("/v1/videos/generations", { key: who.key, json: { ...film, prompt } })
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
