/** Answers whose images are too large to be decoded on their way: what the client and the books get. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { layerAdapters } from "../../../src/adapters/liveAdapters.ts"
import { responseOf } from "../../../src/http/handlers/respond.ts"
import { brokenVendor } from "../../support/brokenVendor.ts"
import { imageOrder } from "../ImageAdapter.suite.ts"
import { accountAt, imageAdapter, layerSockets } from "../support.ts"

const large = "iVBORw0KGgo=".repeat(30_000)

/** What comes of an order that is answered with this text. */
const ordered = Effect.fnUntraced(function* (body: string, status = 200) {
  const vendor = yield* brokenVendor({ status, body })
  const adapter = yield* imageAdapter("ip_a")
  const order = imageOrder("m-1", { prompt: "x", response_format: "b64_json" })
  return yield* Effect.result(adapter.generate(accountAt(vendor.url), order))
})

const textFor = (result: Parameters<typeof responseOf>[0]) => {
  const response = responseOf(result)
  return Effect.map(
    Effect.promise(() => HttpServerResponse.toWeb(response).text()),
    (text) => ({ text, length: Number(response.headers["content-length"] ?? text.length) })
  )
}

const layerLive = Layer.provide(layerAdapters, layerSockets)

it.live("a large answer reaches the client byte by byte as it came", () =>
  Effect.gen(function* () {
    const body = `{ "created": 17, "data":[{"b64_json":"${large}"} ], "more": 1.0 }`
    const made = yield* ordered(body)
    if (made._tag === "Failure") return assert.fail(made.failure.message)
    const { text, length } = yield* textFor(made.success)
    assert.isTrue(text === body)
    assert.strictEqual(length, body.length)
  }).pipe(Effect.provide(layerLive))
)

it.live("one without its time gets ours, and its images stay whole", () =>
  Effect.gen(function* () {
    const made = yield* ordered(JSON.stringify({ data: [{ b64_json: large }] }))
    if (made._tag === "Failure") return assert.fail(made.failure.message)
    const answer: unknown = JSON.parse((yield* textFor(made.success)).text)
    assert.nestedPropertyVal(answer, "data[0].b64_json", large)
    assert.nestedProperty(answer, "created")
  }).pipe(Effect.provide(layerLive))
)

it.live("one that tells an error beside its images is delivered as it came", () =>
  Effect.gen(function* () {
    const body = { error: { message: "no" }, created: 17, data: [{ b64_json: large }] }
    const made = yield* ordered(JSON.stringify(body))
    if (made._tag === "Failure") return assert.fail(made.failure.message)
    assert.isTrue((yield* textFor(made.success)).text === JSON.stringify(body))
  }).pipe(Effect.provide(layerLive))
)

it.live("one of more images than ordered is cut to those, and they stay whole", () =>
  Effect.gen(function* () {
    const data = [{ b64_json: large }, { b64_json: large }]
    const made = yield* ordered(JSON.stringify({ created: 17, data, spare: ["A".repeat(2048)] }))
    if (made._tag === "Failure") return assert.fail(made.failure.message)
    assert.deepStrictEqual(JSON.parse((yield* textFor(made.success)).text), {
      created: 17,
      data: [{ b64_json: large }]
    })
  }).pipe(Effect.provide(layerLive))
)
