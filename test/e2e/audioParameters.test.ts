/** What `GET /v1/models` tells of models of rankings, speech and transcriptions, and what it means. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { listedVoices, speechCatalog } from "../support/speechCatalog.ts"

const Parameter = Schema.Struct({
  type: Schema.String,
  minimum: Schema.optionalKey(Schema.Finite),
  maximum: Schema.optionalKey(Schema.Finite),
  default: Schema.optionalKey(Schema.Boolean),
  max_length: Schema.optionalKey(Schema.Int),
  values: Schema.optionalKey(Schema.Array(Schema.String))
})
const Entry = Schema.Struct({
  status: Schema.String,
  parameters: Schema.optionalKey(Schema.Record(Schema.String, Parameter))
})

const text = { type: "text" }
const choice = (...values: ReadonlyArray<string>) => ({ type: "choice", values })
const speech = {
  voice: text,
  instructions: text,
  response_format: choice("mp3", "opus", "aac", "flac", "wav", "pcm"),
  speed: { type: "number", minimum: 0.25, maximum: 4 },
  stream_format: choice("audio", "sse")
}

layer(layerTestGateway("embedded", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the parameters of models of sound and rankings", (it) => {
  it.effect.each([
    ["voice-1", speech],
    ["voice-listed", { ...speech, voice: choice(...listedVoices) }],
    [
      "listen-1",
      {
        language: text,
        prompt: text,
        response_format: choice("json", "text", "srt", "verbose_json", "vtt"),
        temperature: { type: "number", minimum: 0, maximum: 2 },
        timestamp_granularities: { type: "list", values: ["word", "segment"] },
        stream: { type: "boolean", default: false }
      }
    ],
    [
      "rank-tokens",
      {
        top_n: { type: "integer", minimum: 1, maximum: 10_000 },
        return_documents: { type: "boolean", default: false }
      }
    ],
    ["voice-closed", undefined],
    ["voice-elsewhere", undefined]
  ] as const)("%s", ([model, parameters]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const entry = yield* bodyAs(Entry, yield* gateway.call(`/v1/models/${model}`, { key }))
      assert.deepStrictEqual(entry.parameters, parameters)
    })
  )

  it.effect.each([
    ["alloy", 200],
    [{ id: "echo" }, 200],
    [null, 200],
    ["Alloy", 400],
    [{ id: "nova" }, 400]
  ] as const)("the voice %j of a list is answered %i, and its quote alike", ([voice, status]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const json = { model: "voice-listed", input: "The harbour is calm.", voice }
      for (const path of ["/v1/quotes", "/v1/audio/speech"]) {
        const answer = yield* gateway.call(path, { key: who.key, json })
        assert.strictEqual(answer.status, status, answer.text)
        if (status === 200) continue
        assert.deepNestedInclude(answer.body, {
          "error.code": "invalid_request",
          "error.param": "voice"
        })
        assert.include(answer.text, "alloy or echo")
      }
      const { balance, held } = yield* gateway.balance(who)
      assert.deepStrictEqual([balance, held], [status === 200 ? "0.998" : "1", "0"])
    })
  )
})
