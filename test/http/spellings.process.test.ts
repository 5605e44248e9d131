import { setImmediate } from "node:timers/promises"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Predicate, Schema } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { CallOptions, HttpAnswer } from "../support/http.ts"
import { rawRequest, requestText } from "../support/rawSocket.ts"
import { textCatalog } from "../support/textCatalog.ts"

/** What a request's own id, time and place among others put into its answer. */
const own =
  /^(?:x-request-id|date|x-ratelimit-remaining-requests|x-ratelimit-reset-requests|ratelimit)$/

/** An answer without what belongs to its request alone. */
const shapeOf = ({ status, headers, body, text }: HttpAnswer) => ({
  status,
  headers: Object.fromEntries(
    [...headers]
      .filter(([name]) => !own.test(name) && name !== "content-length")
      .map(([name, value]) => [name, name === "location" ? "/" : value])
  ),
  body: Predicate.isObject(body)
    ? { ...body, ...("id" in body ? { id: typeof body.id } : {}), created: null, data: null }
    : text.replaceAll(/"(?:id|created)":(?:"[^"]*"|\d+)|us_tx_[0-9a-f-]{36}/g, "")
})

const image = { model: "paint-1", prompt: "x" }
const video = { model: "film-1", prompt: "x" }
const chat = { model: "talk-1", messages: [{ role: "user", content: "x" }] }
const embed = { model: "vector-1", input: "x" }
/** Beyond what sockets keep for a reader. */
const large = { created: 1, data: [{ b64_json: "abcd".repeat(2 ** 21) }] }
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

/** Requests as they come, good and bad. */
const requests: ReadonlyArray<readonly [what: string, path: string, options: CallOptions]> = [
  ["an image", "/v1/images/generations", { json: image }],
  ["a video", "/v1/videos/generations", { json: video }],
  ["a task nobody has", "/v1/videos/vt_nobody", {}],
  ["a path like a task's", "/v1/videos/generations", {}],
  ["a missing field", "/v1/images/generations", { json: { model: "paint-1" } }],
  ["several bad fields", "/v1/images/generations", { json: { model: 7, prompt: [], n: 0 } }],
  ["a bad video field", "/v1/videos/generations", { json: { ...video, duration: "long" } }],
  ["a list for a body", "/v1/images/generations", { json: [] }],
  ["a null for a body", "/v1/images/generations", { json: null }],
  ["no JSON", "/v1/images/generations", { body: "{" }],
  ["too deep a body", "/v1/images/generations", { json: { ...image, extra: deep(70) } }],
  ["a byte order mark", "/v1/images/generations", { body: `\uFEFF${JSON.stringify(image)}` }],
  [
    "two byte order marks",
    "/v1/images/generations",
    { body: `\uFEFF\uFEFF${JSON.stringify(image)}` }
  ],
  ["a mark and nothing else", "/v1/chat/completions", { body: "\uFEFF" }],
  [
    "no UTF-8",
    "/v1/videos/generations",
    { body: Buffer.from('{"model":"film-1","prompt":"\u00ff"}', "latin1") }
  ],
  ["an unknown model", "/v1/images/generations", { json: { ...image, model: "none" } }],
  ["another modality", "/v1/images/generations", { json: { ...image, model: "film-1" } }],
  ["a bad duration", "/v1/videos/generations", { json: { ...video, duration: 99 } }],
  ["a chat", "/v1/chat/completions", { json: chat }],
  ["a streamed chat", "/v1/chat/completions", { json: { ...chat, stream: true } }],
  [
    "a streamed chat that breaks off",
    "/v1/chat/completions",
    { json: { ...chat, messages: [{ role: "user", content: "sim:breaks" }], stream: true } }
  ],
  ["a bad chat field", "/v1/chat/completions", { json: { ...chat, messages: "x" } }],
  ["a chat with an image model", "/v1/chat/completions", { json: { ...chat, model: "paint-1" } }],
  ["embeddings", "/v1/embeddings", { json: embed }],
  ["a bad embeddings field", "/v1/embeddings", { json: { ...embed, input: 7 } }],
  ["a bad key of repeats", "/v1/images/generations", keyed("two words")],
  [
    "a vendor's refusal",
    "/v1/images/generations",
    { json: { ...image, prompt: "sim:refuse=422" } }
  ],
  [
    "ids of the client",
    "/v1/images/generations",
    { json: image, headers: { "x-client-request-id": "7" } }
  ],
  ["an unknown API key", "/v1/images/generations", { json: image, key: `mg_${"0".repeat(51)}` }],
  [
    "another scheme",
    "/v1/images/generations",
    { json: image, headers: { authorization: "Basic eA==" } }
  ]
]

function keyed(key: string): CallOptions {
  return { json: image, headers: { "idempotency-key": key } }
}

layer(layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a request", (it) => {
  it.effect.each(requests)("is answered the same however it is spelled: %s", ([, path, options]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const asked = { key: who.key, ...options }
      const plain = yield* gateway.call(path, asked)
      // A parameter of the media type, or an empty query, means nothing.
      const unusual =
        "json" in options || "body" in options
          ? yield* gateway.call(path, {
              ...asked,
              headers: { "content-type": "application/json; charset=utf-8", ...options.headers }
            })
          : yield* gateway.call(`${path}?`, asked)
      assert.deepStrictEqual(shapeOf(plain), shapeOf(unusual))
      assert.match(plain.headers.get("x-request-id") ?? "", /^req_[0-9a-f-]{36}$/)
      yield* gateway.verify
    })
  )

  it.effect("is handed a vendor's large answer as it is, as fast as its client reads", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const vendor = yield* brokenVendor({ body: large })
      const catalog = textCatalog()(gateway.simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
      const answer = yield* Effect.promise(async () => {
        const answer = await fetch(`${gateway.url}/v1/images/generations`, {
          method: "POST",
          headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
          body: JSON.stringify(image)
        })
        let text = ""
        const decoder = new TextDecoder()
        // Turns of the event loop in between let what nobody takes yet pile up at the gateway.
        for await (const piece of answer.body ?? []) {
          text += decoder.decode(piece, { stream: true })
          for (let turn = 0; turn < 20; turn++) await setImmediate()
        }
        return text
      })
      assert.isTrue(answer === JSON.stringify(large))
      assert.strictEqual((yield* gateway.balance(who)).balance, "99.8")
      yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
    }).pipe(Effect.scoped)
  )

  it.effect("counts against its key whatever its query", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100", { key: { requests_per_minute: 2 } })
      const task = `/v1/videos/vt_nobody`
      const first = yield* gateway.call(task, { key: who.key })
      assert.strictEqual(first.headers.get("x-ratelimit-remaining-requests"), "1")
      const second = yield* gateway.call(`${task}?`, { key: who.key })
      assert.strictEqual(second.headers.get("x-ratelimit-remaining-requests"), "0")
      for (const path of [task, `${task}?`]) {
        const third = yield* gateway.call(path, { key: who.key })
        assert.strictEqual(third.status, 429)
      }
    })
  )
})

layer(layerTestGateway("embedded", { ...quickSettings, organizationInFlight: 3 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a client that leaves before it is answered", (it) => {
  /** Leaves once one of its requests is under way. */
  const askAndLeave = Effect.fnUntraced(function* (text: string) {
    const gateway = yield* Gateway
    const leaving = yield* Effect.forkChild(rawRequest(gateway.url, [text]))
    yield* Effect.repeat(gateway.metrics, {
      // Beside the one that asks for it.
      until: ({ text }) => text.includes("\ngateway_http_requests_in_flight 2\n")
    }).pipe(Effect.timeout("20 seconds"))
    yield* Fiber.interrupt(leaving)
  })

  /** Fails when requests of those who left have all the places for ever. */
  const thereIsRoom = Effect.fnUntraced(function* (key: string) {
    const gateway = yield* Gateway
    yield* gateway
      .call("/v1/videos/vt_nobody", { key })
      .pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (answer) => answer.status === 404 }),
        Effect.timeout("20 seconds")
      )
  })

  it.effect("in the middle of its body leaves its place to others", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const whole = requestText("/v1/images/generations", {
        key: who.key,
        body: JSON.stringify(image),
        connection: "keep-alive"
      })
      for (let turn = 0; turn < 3; turn++) yield* askAndLeave(whole.slice(0, -10))
      yield* thereIsRoom(who.key)
      assert.strictEqual((yield* gateway.balance(who)).balance, "100")
    })
  )

  it.effect("leaves the places of requests that waited behind another of its own", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const created = yield* gateway.call("/v1/videos/generations", {
        key: who.key,
        json: { model: "film-1", prompt: "x sim:slow=100000" }
      })
      const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), created)
      const ask = (target: string) =>
        requestText(target, { key: who.key, connection: "keep-alive" })
      const quick = ask("/v1/videos/vt_nobody")
      for (let turn = 0; turn < 2; turn++) {
        yield* askAndLeave(`${ask(`/v1/videos/${id}?wait=30`)}${quick}${quick}`)
      }
      yield* thereIsRoom(who.key)
    })
  )
})
