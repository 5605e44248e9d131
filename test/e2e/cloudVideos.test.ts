/** The models of vp_f's vendor through the gateway: what is sent, what is refused before it, what is charged. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"

const models = ["wan2.6-t2v", "wan2.6-i2v", "wan2.7-r2v", "wan3.0-video"]

/** One channel, whose address is written as the vendor's documents have it. */
const catalogAt = (url: string) => ({
  channels: [{ id: "ch", name: "ch", base_url: `${url}/api/v1`, api_key: "a-key" }],
  models: models.map((id) => ({
    id,
    modality: "video" as const,
    protocol: "vp_f",
    prices: { kind: "second_video" as const, per_second: { "720p": "0.6" } }
  })),
  mounts: models.map((model) => ({ model, channel: "ch" }))
})

/** A vendor that is done at once, and counts more seconds than were ordered. */
const done = {
  output: { task_id: "job-1", task_status: "SUCCEEDED", video_url: "https://files.test/1.mp4" },
  usage: { duration: "14", input_video_duration: "5", output_video_duration: "9" }
}

const image = "https://files.test/in.png"
const reference = { type: "image_url", role: "reference_image", image_url: image }
const text = { type: "text", text: "a" }

layer(layerTestGateway("embedded", quickSettings), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("vp_f's models", (it) => {
  const customerAt = Effect.fnUntraced(function* () {
    const gateway = yield* Gateway
    const vendor = yield* brokenVendor({ body: done })
    const put = yield* gateway.admin("/catalog", { method: "PUT", json: catalogAt(vendor.url) })
    assert.strictEqual(put.status, 200, put.text)
    return { vendor, who: yield* gateway.customer("10") }
  })

  it.effect.each([
    ["wan2.6-t2v", { generate_audio: false }, "always makes sound"],
    ["wan2.6-i2v", { image, generate_audio: false }, "always makes sound"],
    ["wan2.6-i2v", { content: [text, reference] }, "takes a first frame, a reference sound"],
    ["wan2.7-r2v", { audio: "https://files.test/in.mp3" }, "takes a first frame, up to 5 reference"]
  ] as const)("%s: what has no place is refused before the hold: %j", ([model, json, says]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { vendor, who } = yield* customerAt()
        const answer = yield* orderVideo(who, { model, ...json })
        assert.strictEqual(answer.status, 400, answer.text)
        const error = yield* errorOf(answer)
        assert.strictEqual(error.code, "upstream_error")
        assert.include(error.message, says)
        assert.include(answer.text, '"code":"InvalidParameter"')
        assert.deepInclude(yield* gateway.balance(who), { balance: "10", held: "0" })
        assert.deepStrictEqual(yield* vendor.requests, [])
      })
    )
  )

  it.effect(
    "the third generation gets an order in its own form, and ordered seconds are charged",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { vendor, who } = yield* customerAt()
          const id = yield* createVideo(who, {
            model: "wan3.0-video",
            prompt: "a",
            duration: 5,
            ratio: "16:9",
            generate_audio: false
          })
          yield* finishVideo(who, id)
          assert.deepInclude(yield* gateway.balance(who), { balance: "7", held: "0" })
          const [order] = yield* vendor.requests
          assert.strictEqual(
            order?.target,
            "/api/v1/services/aigc/video-generation/video-synthesis"
          )
          assert.deepStrictEqual(JSON.parse(order?.body ?? ""), {
            model: "wan3.0-video",
            input: { prompt: "a" },
            parameters: {
              duration: 5,
              resolution: "720P",
              ratio: "16:9",
              audio: false,
              watermark: false
            }
          })
        })
      )
  )
})
