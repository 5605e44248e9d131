/** The cloud's images in the standard form: each is refused in its own place, and made by a call of its own. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"

const Orphans = Schema.Struct({ data: Schema.Array(Schema.Unknown) })
const Images = Schema.Struct({ data: Schema.Array(Schema.Struct({ url: Schema.String })) })

const errorWith = (code: string, message: string) => ({ error: { code, message, type: "x" } })
const sensitive = () =>
  errorWith("OutputImageSensitiveContentDetected", "The image may contain sensitive information.")
const answerOf = (...data: ReadonlyArray<object>) => ({
  body: { model: "m", created: 1767225600, data, usage: { generated_images: 0 } }
})
const eventsOf = (...events: ReadonlyArray<{ readonly type: string }>) => ({
  headers: { "content-type": "text/event-stream" },
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
})

const countOrphans = Effect.gen(function* () {
  const { data } = yield* bodyAs(Orphans, yield* (yield* Gateway).admin("/orphans?limit=100"))
  return data.length
})

layer(layerTestGateway("embedded"), { excludeTestServices: true })("the cloud's images", (it) => {
  const ordered = Effect.fnUntraced(function* (
    replyTo: (request: ReceivedRequest) => Reply,
    json: object,
    { path = "generations", upstreamModel = "m" } = {}
  ) {
    const gateway = yield* Gateway
    const vendor = yield* brokenVendor(replyTo)
    const catalog = {
      channels: [{ id: "ch", name: "ch", base_url: `${vendor.url}/api/v3`, api_key: "a-key" }],
      models: [
        {
          id: "paint",
          modality: "image" as const,
          protocol: "ip_a",
          prices: { kind: "image" as const, per_image: "0.2" }
        }
      ],
      mounts: [{ model: "paint", channel: "ch", upstream_model: upstreamModel }]
    }
    const put = yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
    assert.strictEqual(put.status, 200, put.text)
    const who = yield* gateway.customer("10")
    const answer = yield* gateway.call(`/v1/images/${path}`, {
      key: who.key,
      json: { model: "paint", prompt: "a lighthouse", ...json }
    })
    const { balance, held } = yield* gateway.balance(who)
    yield* gateway.verify
    return { answer, balance, held, sent: yield* vendor.requests }
  })

  const moderatedEvents = [
    { type: "image_generation.partial_failed", image_index: 0, ...sensitive() },
    { type: "image_generation.completed", usage: { generated_images: 0 } }
  ]

  it.effect.each([
    ["whole", {}, answerOf(sensitive())],
    ["as a stream that is answered whole", { stream: true }, answerOf(sensitive())],
    ["as a stream", { stream: true }, eventsOf(...moderatedEvents)]
  ] as const)("that are all moderated are refused and not charged: %s", ([, json, reply]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, balance, held } = yield* ordered(() => reply, json)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.include(answer.text, "may contain sensitive information")
        assert.isNull(answer.headers.get("x-should-retry"))
        assert.deepStrictEqual([balance, held], ["10", "0"])
      })
    )
  )

  it.effect.each([
    ["images that cannot be read", [{ url: 17 }]],
    ["a verdict beside one", [sensitive(), { url: 17 }]]
  ] as const)("that stand in a refusal are a doubt: %s", ([, data]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const before = yield* countOrphans
        const { answer, balance } = yield* ordered(() => ({ status: 403, body: { data } }), {})
        assert.strictEqual(answer.status, 502, answer.text)
        assert.strictEqual(answer.headers.get("x-should-retry"), "false")
        assert.deepStrictEqual([balance, (yield* countOrphans) - before], ["10", 1])
      })
    )
  )

  const upstreamModel = "doubao-seedream-4-5-251128"
  const drawn = answerOf({ url: "https://files.test/1.png" })

  it.effect.each([
    ["all of them", (_: number) => drawn, 4],
    ["some of them", (call: number) => (call < 3 ? drawn : answerOf(sensitive())), 2]
  ] as const)("made one a call, %s, are one order that is charged by n", ([, replyTo, made]) =>
    Effect.scoped(
      Effect.gen(function* () {
        let calls = 0
        const order = ordered(() => replyTo(++calls), { n: 4 }, { upstreamModel })
        const { answer, balance, held, sent } = yield* order
        assert.strictEqual(answer.status, 200, answer.text)
        const { data } = yield* bodyAs(Images, answer)
        assert.deepStrictEqual(data, Array(made).fill({ url: "https://files.test/1.png" }))
        assert.deepStrictEqual([balance, held, sent.length], ["9.2", "0", 4])
      })
    )
  )

  it.effect.each(["ModelAccountIpmRateLimitExceeded", "APIAccountRpmRateLimitExceeded"])(
    "that come too fast, as %s says, may be ordered again",
    (code) =>
      Effect.scoped(
        Effect.gen(function* () {
          const reply = { status: 429, body: errorWith(code, "too many images") }
          const { answer, balance } = yield* ordered(() => reply, { n: 2 }, { upstreamModel })
          assert.strictEqual(answer.status, 503, answer.text)
          assert.isNull(answer.headers.get("x-should-retry"))
          assert.strictEqual(balance, "10")
        })
      )
  )

  it.effect("made one a call, of which the first is refused, are refused and not charged", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const order = ordered(() => answerOf(sensitive()), { n: 4 }, { upstreamModel })
        const { answer, balance, sent } = yield* order
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepStrictEqual([balance, sent.length], ["10", 1])
      })
    )
  )

  it.effect.each([
    ["n", "generations", { n: 2, stream: true }],
    ["mask", "edits", { image: "https://x.test/1.png", mask: "https://x.test/2.png" }]
  ] as const)("%s is refused where the model has no place for it", ([param, path, json]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { answer, balance, sent } = yield* ordered(() => drawn, json, { path, upstreamModel })
        assert.strictEqual(answer.status, 400, answer.text)
        assert.strictEqual((yield* errorOf(answer)).param, param)
        assert.deepStrictEqual([balance, sent.length], ["10", 0])
      })
    )
  )

  it.effect("of an edit go out as new ones, the pictures beside them", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const json = { image: "https://x.test/1.png" }
        const { answer, sent } = yield* ordered(() => drawn, json, { path: "edits", upstreamModel })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(
          sent.map(({ target, body }) => [target, JSON.parse(body)]),
          [
            [
              "/api/v3/images/generations",
              { model: upstreamModel, prompt: "a lighthouse", image: "https://x.test/1.png" }
            ]
          ]
        )
      })
    )
  )
})
