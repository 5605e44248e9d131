/** The cloud's images in the standard form: each is refused in its own place, and made by a call of its own. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"

const sensitive = (code = "OutputImageSensitiveContentDetected") => ({
  error: { code, message: `The image may contain sensitive information: ${code}` }
})
const answerOf = (...data: ReadonlyArray<object>) => ({
  body: { model: "m", created: 1767225600, data, usage: { generated_images: 0 } }
})
const eventsOf = (...events: ReadonlyArray<{ readonly type: string }>) => ({
  headers: { "content-type": "text/event-stream" },
  body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
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
})
