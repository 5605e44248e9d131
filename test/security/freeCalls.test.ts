/** What costs its sender nothing has rates of its own, which stop nothing else and nobody else. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { sendMcp } from "../support/mcp.ts"
import { orderImages } from "../support/orders.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"

const QUOTES = 3
const MODELS = 4
const UPLOADS = 2
const REFUSALS = 5

const settings = {
  ...quickSettings,
  keyQuotesPerMinute: QUOTES,
  keyModelsPerMinute: MODELS,
  keyUploadsPerMinute: UPLOADS,
  keyRefusalsPerMinute: REFUSALS
}

const Message = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String })
})

const assertLimited = Effect.fnUntraced(function* (
  answer: HttpAnswer,
  policy: string,
  limit: number
) {
  assert.strictEqual(answer.status, 429, answer.text)
  const { error } = yield* bodyAs(Message, answer)
  assert.strictEqual(error.code, "rate_limited")
  assert.include(error.message, `limited to ${limit} a minute`)
  assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
  assert.strictEqual(answer.headers.get("x-ratelimit-limit-requests"), `${limit}`)
  assert.strictEqual(answer.headers.get("x-ratelimit-remaining-requests"), "0")
  assert.strictEqual(answer.headers.get("ratelimit-policy"), `"${policy}";q=${limit};w=60`)
  assert.match(answer.headers.get("ratelimit") ?? "", new RegExp(`^"${policy}";r=0;t=\\d+$`))
})

const paint = { model: "paint-1", prompt: "x" }
const json = "application/json"
/** As requests usually come, and with a parameter, which takes the general way. */
const types = [json, `${json}; charset=utf-8`]

const order = ({ key }: Customer, type: string) =>
  requestText("/v1/images/generations", {
    key,
    body: JSON.stringify(paint),
    connection: "keep-alive"
  }).replace(`content-type: ${json}`, `content-type: ${type}`)

layer(layerTestGateway("postgres", settings), { excludeTestServices: true, timeout: "60 seconds" })(
  "calls that cost nothing",
  (it) => {
    it.effect("uploads have a rate of their own, whether they are taken or not", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const upload = gateway.call("/v1/files", { key: who.key, json: {} })
        for (let sent = 0; sent < UPLOADS; sent++) {
          assert.strictEqual((yield* upload).status, 415)
        }
        yield* assertLimited(yield* upload, "uploads", UPLOADS)
        const listed = yield* gateway.call("/v1/files", { key: who.key })
        assert.strictEqual(listed.status, 200, listed.text)
      })
    )

    it.effect("to quote are limited for each key, whose orders still pass", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("10"), yield* gateway.customer("10")]
        const quote = ({ key }: Customer) => gateway.call("/v1/quotes", { key, json: paint })
        for (let count = 0; count < QUOTES; count++) {
          const answer = yield* quote(who)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(answer.headers.get("x-ratelimit-limit-requests"), "600000")
        }
        yield* assertLimited(yield* quote(who), "quotes", QUOTES)
        // Also with a body that nobody could read.
        const { key } = who
        const broken = yield* gateway.call("/v1/quotes", { key, body: "{" })
        yield* assertLimited(broken, "quotes", QUOTES)
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
        assert.strictEqual((yield* quote(other)).status, 200)
      })
    )

    it.effect("to list and read models are limited for each key, together", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("10"), yield* gateway.customer("10")]
        const models = ({ key }: Customer) => gateway.call("/v1/models", { key })
        for (let count = 0; count < MODELS; count++) {
          const one = gateway.call("/v1/models/film-1", { key: who.key })
          assert.strictEqual((yield* count % 2 === 0 ? one : models(who)).status, 200)
        }
        yield* assertLimited(yield* models(who), "models", MODELS)
        assert.strictEqual((yield* models(other)).status, 200)
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      })
    )

    it.effect("have the same rates as tools of agents, whose refusals count too", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("10"), yield* gateway.customer("10")]
        const tool = ({ key }: Customer, name: string) =>
          sendMcp({ url: gateway.url, key }, "tools/call", { name, arguments: paint })
        for (let count = 0; count < QUOTES; count++) {
          assert.notInclude((yield* tool(who, "get_quote")).text, "isError")
        }
        assert.include((yield* tool(who, "get_quote")).text, `limited to ${QUOTES} a minute`)
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json: paint })
        yield* assertLimited(quote, "quotes", QUOTES)
        for (let count = 0; count < REFUSALS; count++) {
          assert.include((yield* tool(other, "order_images")).text, "max_cost")
        }
        yield* assertLimited(yield* tool(other, "order_images"), "refusals", REFUSALS)
      })
    )

    it.effect.each([
      ["no JSON", "/v1/images/generations", { body: "{" }],
      ["a bad field", "/v1/images/generations", { json: { model: 7 } }],
      ["an unknown model", "/v1/images/generations", { json: { ...paint, model: "none" } }],
      ["a quote of nothing", "/v1/quotes", { json: {} }],
      ["a scope the key lacks", "/v1/embeddings", { json: { model: "embed-1", input: "x" } }]
    ] as const)("to be refused are limited for each key: %s", ([, path, options]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const scopes = ["models", "videos", "images"]
        const who = yield* gateway.customer("1", { key: { scopes } })
        const other = yield* gateway.customer("10")
        const refused = gateway.call(path, { key: who.key, ...options })
        const isQuote = path === "/v1/quotes"
        for (let count = 0; count < (isQuote ? QUOTES : REFUSALS); count++) {
          const { status, text } = yield* refused
          assert.isTrue(status >= 400 && status < 500 && status !== 429, text)
        }
        // Those that quotes have room for are fewer, and the rest is refused elsewhere.
        for (let count = QUOTES; isQuote && count < REFUSALS; count++) {
          yield* gateway.call("/v1/images/generations", { key: who.key, body: "{" })
        }
        yield* assertLimited(yield* refused, "refusals", REFUSALS)
        const sound = yield* orderImages(who, { model: "paint-1" })
        yield* assertLimited(sound, "refusals", REFUSALS)
        assert.strictEqual((yield* orderImages(other, { model: "paint-1" })).status, 200)
        assert.strictEqual((yield* gateway.call("/v1/models", { key: who.key })).status, 200)
        yield* gateway.verify
      })
    )

    it.effect.each(types)("are not those that the lack of money stops: %s", (type) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const capped = yield* gateway.customer("10", { monthlyCap: "0.01" })
        const images = ({ key }: Customer, n: number) =>
          gateway.call("/v1/images/generations", {
            key,
            json: { ...paint, n },
            headers: { "content-type": type }
          })
        for (let count = 0; count < REFUSALS + 1; count++) {
          assert.strictEqual((yield* images(who, 10)).status, 402)
          const over = yield* images(capped, 1)
          assert.include(over.text, "member_cap_exceeded")
        }
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      })
    )

    it.effect("are not what has no body, such as tasks nobody has", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        for (let count = 0; count < REFUSALS + 1; count++) {
          const { status } = yield* gateway.call("/v1/videos/vt_nobody", { key: who.key })
          assert.strictEqual(status, 404)
        }
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      })
    )

    it.effect.each(types)("over their rate are refused before a body is read: %s", (type) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const headers = { "content-type": type }
        for (let count = 0; count < REFUSALS; count++) {
          const { status } = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            body: "{",
            headers
          })
          assert.strictEqual(status, 400)
        }
        const [head = ""] = order(who, type).split("\r\n\r\n")
        const answer = yield* rawRequest(gateway.url, [`${head}\r\n\r\n`]).pipe(
          Effect.timeout("10 seconds")
        )
        assert.strictEqual(answer?.status, 429, answer?.body)
      })
    )

    it.effect.each(types)(
      "are counted also where the client leaves before it is refused: %s",
      (type) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const part = Buffer.from(order(who, type)).subarray(0, -5)
          // Once the key is known here, a request is let in as soon as it is in flight.
          assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
          for (let count = 0; count < REFUSALS; count++) {
            const leaving = yield* Effect.forkChild(rawRequest(gateway.url, [part]))
            yield* Effect.repeat(gateway.metrics, {
              // Beside the one that asks for it.
              until: ({ text }) => text.includes("\ngateway_http_requests_in_flight 2\n")
            }).pipe(Effect.timeout("10 seconds"))
            yield* Fiber.interrupt(leaving)
            yield* Effect.repeat(gateway.metrics, {
              until: ({ text }) => text.includes("\ngateway_http_requests_in_flight 1\n")
            }).pipe(Effect.timeout("10 seconds"))
          }
          yield* assertLimited(yield* orderImages(who, { model: "paint-1" }), "refusals", REFUSALS)
        })
    )

    it.effect.each(types)("are not those that a vendor refuses: %s", (type) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        for (let count = 0; count < REFUSALS + 1; count++) {
          const { status } = yield* gateway.call("/v1/images/generations", {
            key: who.key,
            json: { ...paint, prompt: "sim:refuse=422" },
            headers: { "content-type": type }
          })
          assert.strictEqual(status, 422)
        }
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
      })
    )
  }
)

layer(
  layerTestGateway("embedded", {
    ...quickSettings,
    keyRequestsPerMinute: 0,
    keyQuotesPerMinute: 0,
    keyModelsPerMinute: 0,
    keyRefusalsPerMinute: 0,
    addressUnknownKeysPerMinute: 0
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("rates of 0", (it) => {
  it.effect("are none", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("1")
      const unknown = `${key.slice(0, 3)}${"A".repeat(43)}00000000`
      for (const [path, options, expected] of [
        ["/v1/quotes", { key, json: paint }, 200],
        ["/v1/models", { key }, 200],
        ["/v1/videos/vt_nobody", { key }, 404],
        ["/v1/models", { key: unknown }, 401]
      ] as const) {
        const { status, headers } = yield* gateway.call(path, options)
        assert.strictEqual(status, expected)
        assert.isNull(headers.get("x-ratelimit-limit-requests"))
      }
    })
  )
})
