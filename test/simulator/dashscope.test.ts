/** The vendor of dashscope by itself: sounds and texts, whole and in events, and what it refuses. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { soundLength } from "../../src/domain/audio/soundLength.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { booked, json, read, send } from "./support.ts"

const path = "/dashscope/api/v1/services/aigc/multimodal-generation/generation"
const inEvents = { "x-dashscope-sse": "enable" }

const order = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  send("POST", path, { body, headers })

const spoken = (input: object = {}, more: object = {}) => ({
  model: "sim-tts",
  input: { text: "a harbour", voice: "Cherry", ...input },
  ...more
})

const audioOf = (milliseconds: number) =>
  `data:audio/wav;base64,${Buffer.from(makeSound("wav", milliseconds)).toString("base64")}`

const heard = (audio: string, parameters: object = {}) => ({
  model: "sim-asr",
  input: { messages: [{ role: "user", content: [{ audio }] }] },
  parameters
})

const File = Schema.Struct({
  output: Schema.Struct({ audio: Schema.Struct({ data: Schema.String, url: Schema.String }) }),
  usage: Schema.Struct({ characters: Schema.Int })
})

const Heard = Schema.Struct({
  output: Schema.Struct({
    choices: Schema.Array(
      Schema.Struct({
        finish_reason: Schema.String,
        message: Schema.Struct({
          content: Schema.Array(Schema.Struct({ text: Schema.String }))
        })
      })
    )
  }),
  usage: Schema.Struct({ seconds: Schema.Int })
})

/** The texts in the events of an answer. */
const textsIn = (text: string): ReadonlyArray<string> =>
  (text.match(/^data:.*$/gm) ?? []).map((line) => {
    const { output } = read(Heard, { text: line.slice("data:".length) })
    return output.choices[0]?.message.content[0]?.text ?? ""
  })

layer(layerSimulator({ port: 0 }))("the vendor of dashscope", (it) => {
  it.effect("a text without events is the address of a WAV file of its length", () =>
    Effect.gen(function* () {
      const { output, usage } = read(File, yield* order(spoken()))
      assert.strictEqual(output.audio.data, "")
      assert.deepStrictEqual(usage, { characters: 9 })
      const file = yield* send("GET", output.audio.url)
      assert.strictEqual(file.headers.get("content-type"), "audio/wav")
      assert.deepStrictEqual(soundLength(file.bytes), { format: "wav", milliseconds: 9 * 65 })
    })
  )

  it.effect("a text in events has more with each, or what each adds", () =>
    Effect.gen(function* () {
      const whole = read(Heard, yield* order(heard(audioOf(2500))))
      assert.strictEqual(whole.usage.seconds, 3)
      const spokenText = whole.output.choices[0]?.message.content[0]?.text ?? ""
      const growing = textsIn((yield* order(heard(audioOf(2500)), inEvents)).text)
      assert.strictEqual(growing.at(-1), spokenText)
      assert.isTrue(growing.every((text) => spokenText.startsWith(text)))
      const added = textsIn(
        (yield* order(heard(audioOf(2500), { incremental_output: true }), inEvents)).text
      )
      assert.strictEqual(added.join(""), spokenText)
    })
  )

  it.effect("a refusal of a request for events is an event", () =>
    Effect.gen(function* () {
      const refused = yield* order(spoken({ voice: undefined }), inEvents)
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /^id:1\nevent:error\n:HTTP_STATUS\/400\ndata:\{"code"/)
    })
  )

  it.effect.each([
    ["no voice", spoken({ voice: undefined })],
    ["a speed", spoken({ speed: 2 })],
    ["an unknown language", spoken({ language_type: "Klingon" })],
    ["a text that is too long", spoken({ text: "a".repeat(601) })],
    ["instructions of another model", spoken({}, { parameters: { instructions: "Softly" } })],
    ["an address that is none", heard("a.wav")],
    ["a sound that is too long", heard(audioOf(301_000))],
    ["times of words", heard(audioOf(1000), { asr_options: { timestamps: true } })]
  ] as const)("refuses %s", ([, body]) =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const refused = yield* order(body)
      assert.strictEqual(refused.status, 400)
      assert.property(json(refused), "code")
      assert.lengthOf(yield* booked, before)
    })
  )
})
