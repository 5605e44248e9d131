import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { send } from "./support.ts"

interface Order {
  readonly seconds: number
  readonly resolution: string
}

const requests = {
  vp_a: (model: string, { seconds, resolution }: Order) => ({
    path: "/vp_a/api/v3/contents/generations/tasks",
    body: { model, content: [{ type: "text", text: "p" }], duration: seconds, resolution }
  }),
  vp_d: (model: string, { seconds, resolution }: Order) => ({
    path: `/vp_d/text-to-video/${model}`,
    body: { prompt: "p", settings: { duration: seconds, resolution } }
  }),
  vp_e: (model: string, { seconds, resolution }: Order) => ({
    path: "/vp_e/ent/v2/text2video",
    authorization: "Token key-of-the-test",
    body: { model, prompt: "p", duration: seconds, resolution }
  }),
  vp_f: (model: string, { seconds, resolution }: Order) => ({
    path: "/vp_f/api/v1/services/aigc/video-generation/video-synthesis",
    headers: { "x-dashscope-async": "enable" },
    body: { model, input: { prompt: "p" }, parameters: { duration: seconds, resolution } }
  }),
  "vp_c, family d": (model: string, { seconds }: Order) => ({
    path: "/vp_c/kling/v1/videos/text2video",
    body: { model_name: model, prompt: "p", duration: String(seconds) }
  })
}

const statusOf = (protocol: keyof typeof requests, model: string, order: Order) => {
  const { path, ...options } = requests[protocol](model, order)
  return Effect.map(send("POST", path, options), ({ status, text }) => ({ status, text }))
}

layer(layerSimulator({ port: 0 }))("models that the simulator does not know", (it) => {
  it.effect.each([
    ["vp_a", "doubao-seedance-3-0", { seconds: 30, resolution: "2k" }],
    ["vp_a", "doubao-seedance-2-5", { seconds: 30, resolution: "1080p" }],
    ["vp_a", "minimax-h3", { seconds: 15, resolution: "768p" }],
    ["vp_d", "kling-v4", { seconds: 30, resolution: "4k" }],
    ["vp_d", "kling-v4", { seconds: 30, resolution: "2k" }],
    ["vp_e", "viduq4", { seconds: 20, resolution: "2K" }],
    ["vp_f", "wan4.0-t2v", { seconds: 30, resolution: "2K" }],
    ["vp_c, family d", "kling-v4", { seconds: 30, resolution: "" }]
  ] as const)("%s makes %s of a newer version: %o", ([protocol, model, order]) =>
    Effect.gen(function* () {
      const { status, text } = yield* statusOf(protocol, model, order)
      assert.strictEqual(status, 200, text)
    })
  )

  it.effect.each([
    ["vp_a", "doubao-seedance-2-0", { seconds: 16, resolution: "720p" }],
    ["vp_a", "doubao-seedance-2-5", { seconds: 30, resolution: "2k" }],
    ["vp_d", "kling-v3", { seconds: 16, resolution: "720p" }],
    ["vp_d", "kling-v3", { seconds: 5, resolution: "2k" }],
    ["vp_d", "kling-v4", { seconds: 31, resolution: "720p" }],
    ["vp_e", "viduq3-pro", { seconds: 17, resolution: "720p" }],
    ["vp_e", "viduq3-pro", { seconds: 5, resolution: "2K" }],
    ["vp_f", "wan2.7-t2v", { seconds: 16, resolution: "720P" }],
    ["vp_f", "wan2.7-t2v", { seconds: 5, resolution: "2K" }],
    ["vp_c, family d", "kling-v3", { seconds: 16, resolution: "" }]
  ] as const)("%s is strict about %s: %o", ([protocol, model, order]) =>
    Effect.gen(function* () {
      const { status, text } = yield* statusOf(protocol, model, order)
      assert.strictEqual(status, 400, text)
    })
  )
})
