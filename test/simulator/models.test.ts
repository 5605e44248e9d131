import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, send } from "./support.ts"

const modelsOf = (...ids: ReadonlyArray<string>) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model" }))
})

layer(layerSimulator({ port: 0 }))("the list of models", (it) => {
  it.effect.each([
    [
      "/openai/v1/models",
      modelsOf("sim-talk-1", "sim-look-1", "sim-vector-1", "sim-voice-1", "sim-listen-1")
    ],
    ["/jina/v1/models", modelsOf("sim-rank-1")],
    ["/ip_a/v1/models", modelsOf("sim-paint-1")],
    ["/ip_a/api/v3/models", modelsOf("sim-paint-1")],
    ["/ip_a/compatible-mode/v1/models", modelsOf("sim-paint-1")]
  ] as const)("%s is for every good key, and no work", ([path, models]) =>
    Effect.gen(function* () {
      const answer = yield* send("GET", path)
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(json(answer), models)
      const refused = yield* send("GET", path, { authorization: "Bearer bad-key" })
      assert.strictEqual(refused.status, 401)
      assert.deepStrictEqual(yield* booked, [])
    })
  )
})
