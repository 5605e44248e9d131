import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { contentsOf, Failure, image, message, order, post } from "./ip_b.orders.ts"
import { booked, read } from "./support.ts"

const lastOrder = Effect.map(booked, (entries) => {
  const entry = entries.findLast(({ event }) => event === "accepted")
  return entry?.event === "accepted" ? entry.order : assert.fail("nothing is booked")
})

layer(layerSimulator({ port: 0 }))("the fields of ip_b", (it) => {
  it.effect.each([
    ["wan2.6-t2i", 0, 4],
    ["wan2.6-t2i-cn", 0, 4],
    ["wan2.6-image", 1, 4],
    ["wan2.7-image-cn", 0, 1],
    ["qwen-image", 0, 1],
    ["qwen-image-edit", 1, 1],
    ["z-image-turbo-cn", 0, 1],
    ["sim-paint-2", 0, 4]
  ] as const)("%s makes of an order without n what the vendor does", ([model, references, n]) =>
    Effect.gen(function* () {
      const { input } = order("a boat", {}, model, references)
      const answer = yield* post({ model, input })
      assert.lengthOf(contentsOf(answer), n)
      const { inputs, n: kept } = yield* lastOrder
      assert.strictEqual(kept, n)
      assert.deepStrictEqual(inputs, { images: references, videos: 0, audios: 0 })
      const last = (yield* booked).at(-1)
      if (last === undefined || last.event === "accepted") return assert.fail("not ended")
      assert.strictEqual(last.produced.images, n)
    })
  )

  it.effect.each([
    ["not json", "InvalidParameter"],
    [{ input: message({ text: "x" }) }, "BadRequest.EmptyModel"],
    [{ model: "wan2.6-t2i" }, "BadRequest.EmptyInput"],
    [{ model: "wan2.6-t2i", input: {} }, "InvalidParameter"],
    [{ model: "wan2.6-t2i", input: { messages: [] } }, "InvalidParameter"],
    [
      {
        model: "wan2.6-t2i",
        input: { messages: Array(2).fill(message({ text: "x" }).messages[0]) }
      },
      "InvalidParameter"
    ],
    [
      { model: "wan2.6-t2i", input: { messages: [{ role: "system", content: [{ text: "x" }] }] } },
      "InvalidParameter"
    ],
    [{ model: "wan2.6-t2i", input: message() }, "InvalidParameter"],
    [{ model: "wan2.6-t2i", input: message({ text: "x" }, { text: "y" }) }, "InvalidParameter"],
    [{ model: "wan2.6-t2i", input: message({ text: "" }) }, "InvalidParameter"],
    [{ model: "wan2.7-image", input: message({ text: "x" }, { video: "v" }) }, "InvalidParameter"],
    [
      { model: "wan2.7-image", input: message({ text: "x" }, { image: "a.png" }) },
      "InvalidParameter"
    ],
    [{ model: "wan2.6-t2i", prompt: "x", input: message({ text: "x" }) }, "InvalidParameter"],
    [order("x", { response_format: "url" }), "InvalidParameter"],
    [order("x", { n: 0 }), "InvalidParameter"],
    [order("x", { n: "1" }), "InvalidParameter"],
    [order("x", { n: 5 }), "InvalidParameter"],
    [order("x", { seed: -1 }), "InvalidParameter"],
    [order("x", { negative_prompt: "x".repeat(501) }), "InvalidParameter"],
    [order("x", { size: "1280x1280" }), "InvalidParameter"],
    [order("x", { size: "1K" }), "InvalidParameter"],
    [order("x", { size: "1024*1024" }), "InvalidParameter"],
    [order("x", { size: "2048*2048" }), "InvalidParameter"],
    [order("x", { size: "4000*450" }), "InvalidParameter"],
    [order("x", {}, "wan2.6-t2i", 1), "InvalidParameter"],
    [order("x", {}, "wan2.6-image", 0), "InvalidParameter"],
    [order("x", {}, "wan2.6-image", 5), "InvalidParameter"],
    [order("x", { n: 5 }, "wan2.7-image"), "InvalidParameter"],
    [order("x", {}, "wan2.7-image", 10), "InvalidParameter"],
    [order("x", { negative_prompt: "y" }, "wan2.7-image"), "InvalidParameter"],
    [order("x", { prompt_extend: true }, "wan2.7-image-pro-cn"), "InvalidParameter"],
    [order("x", { size: "5000*1000" }, "wan2.7-image"), "InvalidParameter"],
    [order("x", { n: 2 }, "qwen-image-plus"), "InvalidParameter"],
    [order("x", { size: "1280*1280" }, "qwen-image-max"), "InvalidParameter"],
    [order("x", {}, "qwen-image-max-cn", 1), "InvalidParameter"],
    [order("x", { n: 7 }, "qwen-image-2.0"), "InvalidParameter"],
    [order("x", {}, "qwen-image-2.0", 4), "InvalidParameter"],
    [order("x", { size: "511*512" }, "qwen-image-2.0"), "InvalidParameter"],
    [order("x", { size: "2049*2048" }, "qwen-image-2.0"), "InvalidParameter"],
    [order("x", {}, "qwen-image-edit", 0), "InvalidParameter"],
    [order("x", { n: 2 }, "z-image-turbo"), "InvalidParameter"],
    [order("x", {}, "z-image-turbo", 1), "InvalidParameter"],
    [order("x", { n: 7 }, "sim-paint-2"), "InvalidParameter"]
  ] as const)("refuses %j", ([body, code]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* post(body)
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(read(Failure, answer).code, code)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect.each([
    [order("x", { n: 4, size: "1440*1440", negative_prompt: "y", prompt_extend: false })],
    [order("x", { size: "1104*1472" })],
    [order("x", { size: "720*2880" })],
    [order("x", {}, "wan2.6-image", 4)],
    [order("x", { n: 4, size: "4K", seed: 7, watermark: false }, "wan2.7-image-pro", 9)],
    [order("x", { size: "1472*1140" }, "qwen-image")],
    [order("x", { n: 6, size: "2048*2048" }, "qwen-image-2.0-cn", 3)],
    [order("x", { size: "512*512" }, "z-image-turbo")],
    [order("x", { n: 6, size: "1000*1000", prompt_extend: true }, "sim-paint-2", 9)]
  ] as const)("takes %j", ([body]) =>
    Effect.gen(function* () {
      const answer = yield* post(body)
      assert.strictEqual(answer.status, 200)
      assert.lengthOf(contentsOf(answer), body.parameters.n)
    })
  )

  it.effect("a text before the images is taken too", () =>
    Effect.gen(function* () {
      const body = { model: "wan2.7-image", input: message({ text: "x" }, image) }
      assert.strictEqual((yield* post(body)).status, 200)
      assert.strictEqual((yield* lastOrder).inputs.images, 1)
    })
  )
})
