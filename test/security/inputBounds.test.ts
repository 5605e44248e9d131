/** What a request may hold, how long it may take to arrive, and how much of it is kept at a time. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const film = { model: "film-1", prompt: "a lighthouse" }
const paint = { model: "paint-1", prompt: "a lighthouse" }
const url = "https://files.test/1.png"
const times = <A>(count: number, value: A): ReadonlyArray<A> =>
  Array.from({ length: count }, () => value)
const block = { type: "text", text: "x" }
const picture = { type: "image_url", image_url: url }
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

type Row = readonly [name: string, path: "videos" | "images", body: unknown, param: string | null]

const tooMuch: ReadonlyArray<Row> = [
  ["65 blocks", "videos", { model: "film-1", content: times(65, block) }, "content"],
  ["15,000 blocks", "videos", { model: "film-1", content: times(15_000, block) }, "content"],
  ["100,000 blocks", "videos", { model: "film-1", content: times(100_000, block) }, null],
  ["33 images in one field", "videos", { ...film, images: times(33, url) }, "images"],
  ["33 images in two fields", "videos", { ...film, images: times(32, url), image: url }, "images"],
  ["33 images in content", "videos", { model: "film-1", content: times(33, picture) }, "images"],
  ["33 reference images", "images", { ...paint, images: times(33, url) }, "images"],
  ["a very long prompt", "videos", { ...film, prompt: "x".repeat(100_001) }, "prompt"],
  [
    "a very long text block",
    "videos",
    { model: "film-1", content: [{ type: "text", text: "x".repeat(100_001) }] },
    "content[0].text"
  ],
  [
    "long text blocks together",
    "videos",
    { model: "film-1", content: times(2, { type: "text", text: "x".repeat(50_000) }) },
    "content"
  ],
  ["a very long image prompt", "images", { ...paint, prompt: "x".repeat(100_001) }, "prompt"],
  ["a very long model", "videos", { ...film, model: "x".repeat(201) }, "model"],
  ["a very long resolution", "videos", { ...film, resolution: "x".repeat(33) }, "resolution"],
  ["a very long size", "images", { ...paint, size: "x".repeat(65) }, "size"],
  ["a size of two lines", "images", { ...paint, size: "1K\r\n2K" }, "size"],
  ["a model of two lines", "images", { ...paint, model: "paint-1\n" }, "model"]
]

/** Bodies in their own text, which no library would write. */
const strange: ReadonlyArray<readonly [name: string, path: string, body: string, status: number]> =
  [
    [
      "65 levels in a field that is passed on",
      "images",
      `{"model":"paint-1","prompt":"x","y":${nested(64)}}`,
      400
    ],
    ["a million levels", "videos", `{"model":"film-1","prompt":${"[".repeat(1_000_000)}`, 400],
    ["a million levels of objects", "images", `{"prompt":${'{"a":'.repeat(200_000)}`, 400],
    ["brackets within a text", "videos", `{"model":"film-1","prompt":"${"[{".repeat(1000)}"}`, 200],
    ["one name twice", "videos", '{"model":"nope","prompt":"x","model":"film-1"}', 200],
    ["an own __proto__", "videos", '{"__proto__":{"model":"film-1"},"prompt":"x"}', 400],
    [
      "an own __proto__ beside all else",
      "images",
      '{"model":"paint-1","prompt":"x","__proto__":{"seed":9}}',
      200
    ],
    [
      "an own constructor",
      "images",
      '{"model":"paint-1","prompt":"x","constructor":{"prototype":{"seed":9}}}',
      200
    ],
    ["1e400 seconds", "videos", '{"model":"film-1","prompt":"x","duration":1e400}', 400],
    ["1e400 images", "images", '{"model":"paint-1","prompt":"x","n":1e400}', 400],
    ["-0 images", "images", '{"model":"paint-1","prompt":"x","n":-0}', 400],
    ["1.0 images", "images", '{"model":"paint-1","prompt":"x","n":1.0}', 200],
    [
      "a number beyond all bounds that is passed on",
      "images",
      '{"model":"paint-1","prompt":"x","seed":1e400}',
      400
    ],
    ["half a surrogate pair", "videos", '{"model":"film-1","prompt":"x \\ud83d"}', 200],
    ["NUL", "videos", '{"model":"film-1","prompt":"x \\u0000"}', 200],
    ["half a surrogate pair for a model", "videos", '{"model":"\\ud83d","prompt":"x"}', 400]
  ]

const mediaTypes: ReadonlyArray<readonly [type: string, status: number]> = [
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["application/json ;charset=utf-8", 200],
  ["APPLICATION/JSON", 200],
  ["application/vnd.api+json", 415],
  ["application/problem+json; charset=utf-8", 415],
  ["text/json", 415],
  ["application/json, text/plain", 415],
  ["application/jsonp", 415]
]

const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.String,
      type: Schema.String,
      param: Schema.Null,
      code: Schema.String
    })
  })
)

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the body of a request",
  (it) => {
    it.effect.each(tooMuch)("with %s is refused", ([, path, json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const answer = yield* gateway.call(`/v1/${path}/generations`, { key: who.key, json })
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepNestedInclude(answer.body, {
          "error.code": "invalid_request",
          "error.param": param
        })
        // What is told of a fault is no copy of what was sent.
        assert.isBelow(answer.text.length, 2000)
      })
    )

    it.effect.each(strange)("with %s is answered as what it means", ([, path, body, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const answer = yield* gateway.call(`/v1/${path}/generations`, { key: who.key, body })
        assert.strictEqual(answer.status, status, answer.text)
        if (status !== 200) {
          assert.deepNestedInclude(answer.body, { "error.code": "invalid_request" })
          return
        }
        // No field of a prototype was taken for one of the order.
        const used = path === "images" ? "99.8" : "100"
        assert.strictEqual((yield* gateway.balance(who)).balance, used)
      })
    )

    it.effect.each(mediaTypes)("of type %s is answered %i", ([type, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("100")
        const answer = yield* gateway.call("/v1/images/generations", {
          key,
          json: paint,
          headers: { "content-type": type }
        })
        assert.strictEqual(answer.status, status, answer.text)
        if (status === 200) return
        const { error } = yield* Schema.decodeUnknownEffect(ErrorBody)(answer.text)
        assert.deepInclude(error, {
          code: "unsupported_media_type",
          type: "invalid_request_error",
          message: `Send the body as application/json, not ${JSON.stringify(type)}`
        })
      })
    )

    it.effect("is told no more than its first 20 faults", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const json = { channels: [], models: times(500, { id: 7 }), mounts: [] }
        const answer = yield* gateway.admin("/catalog", { method: "PUT", json })
        assert.strictEqual(answer.status, 400)
        const Faults = Schema.Struct({
          error: Schema.Struct({ faults: Schema.Array(Schema.Unknown) })
        })
        const { error } = yield* Schema.decodeUnknownEffect(Faults)(answer.body)
        assert.strictEqual(error.faults.length, 20)
      })
    )

    it.effect("may have as many blocks and images, and as long a text, as the bounds say", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("100")
        for (const json of [
          { model: "film-1", content: times(64, block) },
          { ...film, prompt: "x".repeat(100_000) },
          { model: "film-1", content: [...times(16, picture), block] }
        ]) {
          const answer = yield* gateway.call("/v1/videos/generations", { key, json })
          // Whatever the vendor thinks of them.
          assert.notInclude(answer.text, "invalid_request")
          assert.include(answer.text, answer.status === 200 ? "processing" : "upstream_error")
        }
      })
    )
  }
)

const slow = {
  ...quickSettings,
  headSeconds: 0.3,
  requestSeconds: 0.6,
  maxConnections: 40,
  maxMediaBodyBytes: 100_000,
  bodyBudgetBytes: 200_000
}

const slowOrder = (key: string) =>
  requestText("/v1/videos/generations", {
    key,
    body: JSON.stringify({ ...film, prompt: "x".repeat(5000) })
  })

/** Writes one byte at a time, far slower than the whole would have to arrive. */
const drip = (url: string, text: string) =>
  rawRequest(url, [text.slice(0, 20)], { drip: text.slice(20) })

layer(layerTestGateway("postgres", slow), { excludeTestServices: true, timeout: "60 seconds" })(
  "a client that takes its time",
  (it) => {
    it.effect("with its body is cut, and nothing was ordered", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const text = slowOrder(who.key)
        const head = text.indexOf("\r\n\r\n") + 4
        const answer = yield* rawRequest(gateway.url, [text.slice(0, head)], {
          drip: text.slice(head)
        }).pipe(Effect.timeout("20 seconds"))
        assert.strictEqual(answer?.status, 408)
        assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
      })
    )

    it.effect("takes no more of the bytes there are than its organisation's half", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const other = yield* gateway.customer("100")
        const prompt = "x".repeat(60_000)
        const json = { ...film, prompt }
        const text = requestText("/v1/videos/generations", {
          key: who.key,
          body: JSON.stringify(json)
        })
        // All but its end is there, and counts; it comes again when it is cut.
        const holding = yield* Effect.forkChild(
          Effect.forever(rawRequest(gateway.url, [text.slice(0, -1000)]))
        )
        const call = (key: string) => gateway.call("/v1/videos/generations", { key, json })
        const refused = yield* call(who.key).pipe(
          Effect.repeat({ until: ({ status }) => status === 503 }),
          Effect.timeout("10 seconds")
        )
        assert.deepNestedInclude(refused.body, { "error.code": "overloaded" })
        assert.strictEqual(refused.headers.get("retry-after"), "1")
        assert.strictEqual(refused.headers.get("retry-after-ms"), "1000")
        assert.isNull(refused.headers.get("x-should-retry"))
        const served = yield* call(other.key)
        assert.strictEqual(served.status, 200, served.text)
        // The bytes are free again when the slow one has gone.
        yield* Fiber.interrupt(holding)
        yield* call(who.key).pipe(
          Effect.repeat({ until: ({ status }) => status === 200 }),
          Effect.timeout("10 seconds")
        )
      })
    )

    it.effect("takes no room with what has not arrived of its body", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const json = { ...film, prompt: "x".repeat(60_000) }
        const text = requestText("/v1/videos/generations", {
          key: who.key,
          body: JSON.stringify(json)
        })
        const begun = rawRequest(gateway.url, [text.slice(0, 1000)])
        const holding = yield* Effect.forEach([1, 2, 3, 4], () =>
          Effect.forkChild(Effect.forever(begun))
        )
        yield* gateway.metrics.pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: ({ text }) => Number(/in_flight (\d+)/.exec(text)?.[1]) >= 5 }),
          Effect.timeout("10 seconds")
        )
        const answer = yield* gateway.call("/v1/videos/generations", { key: who.key, json })
        assert.strictEqual(answer.status, 200, answer.text)
        for (const fiber of holding) yield* Fiber.interrupt(fiber)
      })
    )

    it.effect(
      "a body of unknown length counts as what has come of it, and as none afterwards",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { key } = yield* gateway.customer("100")
          const body = JSON.stringify(film)
          const chunked = requestText("/v1/videos/generations", {
            key,
            headers: ["content-type: application/json", "transfer-encoding: chunked"]
          }).replace("GET", "POST")
          for (let round = 0; round < 5; round++) {
            const answer = yield* rawRequest(gateway.url, [
              chunked,
              `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
            ])
            assert.strictEqual(answer?.status, 200, answer?.body)
          }
        })
    )

    it.effect("who opens too many connections has the newest ones closed, until others end", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const answers = yield* Effect.forEach(
          times(80, "GET /healthz HTTP/1.1\r\nhost: x\r\n"),
          (text) => rawRequest(gateway.url, [text]),
          { concurrency: "unbounded" }
        )
        // Those that were let in have sent half a head, and were cut for it.
        assert.isAtLeast(answers.filter((answer) => answer === null).length, 40)
        assert.isAtLeast(answers.filter((answer) => answer?.status === 408).length, 1)
        const health = yield* gateway.call("/healthz")
        assert.strictEqual(health.status, 200)
        yield* bodyAs(Schema.Struct({ status: Schema.Literal("ok") }), health)
      })
    )
  }
)

layer(layerTestGateway("postgres", { ...quickSettings, headSeconds: 0.3, requestSeconds: 3600 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a client that takes its time", (it) => {
  it.effect("with its head is cut, and told why", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1")
      const answer = yield* drip(gateway.url, slowOrder(key)).pipe(Effect.timeout("20 seconds"))
      assert.strictEqual(answer?.status, 408)
      assert.include(answer?.head, "x-request-id: req_")
      const { error } = yield* Schema.decodeUnknownEffect(ErrorBody)(answer?.body)
      assert.deepInclude(error, { code: "invalid_request", type: "invalid_request_error" })
    })
  )
})
