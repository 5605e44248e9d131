/** MiniMax through the gateway: seconds of reference videos and further reference images are charged. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderVideo } from "../support/orders.ts"

const catalogAt = (url: string) => ({
  channels: [{ id: "ch", name: "ch", base_url: `${url}/minimax/v2`, api_key: "a-key" }],
  models: [
    {
      id: "reel",
      modality: "video" as const,
      protocol: "minimax",
      prices: {
        kind: "video_table" as const,
        unit: "second" as const,
        lines: [
          { resolution: "768p" as const, price: "0.08" },
          { resolution: "2K" as const, price: "0.13" }
        ],
        input_seconds: true,
        reference_surcharge: { beyond: 5, price: "0.04" }
      }
    }
  ],
  mounts: [{ model: "reel", channel: "ch", upstream_model: "MiniMax-H3" }]
})

const text = { type: "text", text: "a lighthouse" }
const picture = (index: number) => ({
  type: "image_url",
  role: "reference_image",
  image_url: `https://files.test/${index}.png`
})
const film = {
  type: "video_url",
  role: "reference_video",
  video_url: { url: "https://files.test/1.mp4" }
}

layer(layerTestGateway("embedded", quickSettings), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("MiniMax", (it) => {
  const customer = Effect.gen(function* () {
    const gateway = yield* Gateway
    const json = catalogAt(gateway.simulator.url)
    const put = yield* gateway.admin("/catalog", { method: "PUT", json })
    assert.strictEqual(put.status, 200, put.text)
    return yield* gateway.customer("100")
  })

  it.effect.each([
    ["the defaults", {}, "99.6"],
    ["2K", { resolution: "2K", duration: 10 }, "98.7"],
    ["five references", { content: [text, ...[1, 2, 3, 4, 5].map(picture)] }, "99.6"],
    ["seven references", { content: [text, ...[1, 2, 3, 4, 5, 6, 7].map(picture)] }, "99.52"],
    // The simulated vendor counts 4 seconds of every reference video.
    ["a reference video", { content: [text, film], duration: 6 }, "99.2"]
  ] as const)("%s are charged", ([, json, balance]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customer
      const id = yield* createVideo(who, { model: "reel", ...json })
      const { task_status } = yield* finishVideo(who, id)
      assert.strictEqual(task_status, "succeeded")
      assert.deepInclude(yield* gateway.balance(who), { balance, held: "0" })
    })
  )

  it.effect("a refused output is free", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* customer
      const id = yield* createVideo(who, { model: "reel", prompt: "a sim:moderate-output" })
      assert.propertyVal((yield* finishVideo(who, id)).error, "code", "1027")
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
    })
  )

  it.effect("a resolution of another vendor is not offered", () =>
    Effect.gen(function* () {
      const who = yield* customer
      const answer = yield* orderVideo(who, { model: "reel", resolution: "720p" })
      const error = yield* errorOf(answer)
      assert.strictEqual(error.code, "video_sku_invalid")
      assert.include(error.message, "takes 768p, 2K. The nearest is 768p")
    })
  )
})
