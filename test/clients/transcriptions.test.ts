/** Transcriptions as users of the AI SDK and of the official `openai` package order them. */
import { assert, layer } from "@effect/vitest"
import { experimental_transcribe as transcribe } from "ai"
import { Effect } from "effect"
import { toFile } from "openai"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { losing, sdkOf } from "../support/aiSdk.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, openaiOf, rejection } from "../support/officialClients.ts"
import { speechCatalog } from "../support/speechCatalog.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const SPOKEN = "The harbour is calm at dawn."
const sound = makeSound("wav", 12_000)
/** Of twelve seconds. */
const CHARGE = "0.0012"

const spent = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { balance, held } = yield* gateway.balance(who)
  assert.strictEqual(held, "0")
  return toDecimal(toNano("10") - toNano(balance))
})

const file = () => toFile(Buffer.from(sound), "harbour.wav", { type: "audio/wav" })

layer(layerTestGateway("postgres", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("transcriptions of clients", (it) => {
  it.effect("the AI SDK gets the text, its segments and its length, charged once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider } = yield* sdkOf(who)
      const { text, segments, durationInSeconds } = yield* done(() =>
        transcribe({
          model: provider.transcription("listen-1"),
          audio: sound,
          providerOptions: { mediaGateway: { response_format: "verbose_json" } }
        })
      )
      assert.strictEqual(text, SPOKEN)
      assert.strictEqual(durationInSeconds, 12)
      assert.deepStrictEqual(segments, [{ text: SPOKEN, startSecond: 0, endSecond: 12 }])
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("a lost answer is asked for again under its key, and paid once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider } = yield* sdkOf(who, losing(1))
      const { text } = yield* done(() =>
        transcribe({ model: provider.transcription("listen-1"), audio: sound })
      )
      assert.strictEqual(text, SPOKEN)
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("the openai package uploads a file, for every format and as a stream", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const { text } = yield* done(async () =>
        client.audio.transcriptions.create({ model: "listen-1", file: await file() })
      )
      assert.strictEqual(text, SPOKEN)
      const srt = yield* done(async () =>
        client.audio.transcriptions.create({
          model: "listen-1",
          file: await file(),
          response_format: "srt"
        })
      )
      assert.include(srt, "00:00:00,000 --> 00:00:12,000")
      const deltas = yield* done(async () => {
        const stream = await client.audio.transcriptions.create({
          model: "listen-1",
          file: await file(),
          stream: true
        })
        const types: Array<string> = []
        for await (const event of stream) types.push(event.type)
        return types
      })
      assert.strictEqual(deltas.at(0), "transcript.text.delta")
      assert.strictEqual(deltas.at(-1), "transcript.text.done")
      const english = yield* done(async () =>
        client.audio.translations.create({ model: "listen-1", file: await file() })
      )
      assert.strictEqual(english.text, SPOKEN)
      assert.strictEqual(yield* spent(who), toDecimal(4n * toNano(CHARGE)))
    })
  )

  it.effect("a file that is no sound is refused with its field", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const error = yield* rejection(async () =>
        client.audio.transcriptions.create({
          model: "listen-1",
          file: await toFile(Buffer.from("a text"), "a.wav")
        })
      )
      assert.deepInclude(error, { status: 400, param: "file" })
      assert.strictEqual(yield* spent(who), "0")
    })
  )
})
