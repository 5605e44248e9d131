/** Sounds that are transcribed: lengths before the hold, prices, formats, streams and refusals. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { toDecimal } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { latestUsage, usageOf } from "../support/usage.ts"

const SPOKEN = "The harbour is calm at dawn."
const PER_SECOND = 100_000n

interface Sound {
  readonly bytes: Uint8Array
  readonly name: string
}
const wav = (milliseconds: number): Sound => ({
  bytes: makeSound("wav", milliseconds),
  name: "a.wav"
})

type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

const transcribe = (
  who: Customer,
  sound: Sound | null,
  fields: Fields = {},
  {
    headers = {},
    path = "transcriptions"
  }: { headers?: Record<string, string>; path?: string } = {}
) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async () => {
      const form = new FormData()
      const all: Fields = { model: "listen-1", ...fields }
      for (const [name, value] of Object.entries(all)) {
        for (const text of [value].flat()) form.append(name, text)
      }
      if (sound !== null) form.append("file", new Blob([Buffer.from(sound.bytes)]), sound.name)
      const answer = await fetch(`${url}/v1/audio/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.key}`, ...headers },
        body: form
      })
      return {
        status: answer.status,
        type: answer.headers.get("content-type") ?? "",
        isReplay: answer.headers.get("idempotency-replayed") === "true",
        text: await answer.text()
      }
    })
  )

const quoteOf = (who: Customer, json: object) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call("/v1/quotes", { key: who.key, json }))

const eventsIn = (text: string) =>
  text.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice("data: ".length))) ?? []

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: speechCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`transcriptions (${kind})`, (it) => {
    it.effect.each([
      ["a whole length", "listen-1", 12_000, 12],
      ["a length between seconds", "listen-1", 12_345, 13],
      ["a short sound", "listen-1", 40, 1],
      ["a sound below the least", "listen-steps", 12_000, 30],
      ["a sound between steps", "listen-steps", 31_000, 45]
    ] as const)(
      "%s is charged as the vendor counts and the price rounds",
      ([, model, milliseconds, seconds]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const charge = toDecimal(BigInt(seconds) * PER_SECOND)
          const quote = yield* quoteOf(who, { model, seconds: milliseconds / 1000 })
          assert.deepNestedInclude(quote.body, {
            kind: "audio_seconds",
            unit: "second",
            modality: "asr",
            hold: charge,
            "inputs.milliseconds": milliseconds,
            "inputs.seconds": seconds
          })
          const answer = yield* transcribe(who, wav(milliseconds), { model })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.include(answer.text, SPOKEN)
          const used = yield* latestUsage(who)
          assert.deepInclude(used, {
            basis: "upstream_usage",
            unit: "second",
            output: seconds,
            charge
          })
          const receipt = yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
          assert.deepInclude(receipt.body, { hold: charge })
          yield* gateway.verify
        })
    )

    it.effect.each([
      ["nothing", "sim:nousage", "formula", 12],
      ["less than the price rounds to", "sim:seconds=11", "upstream_usage", 11],
      ["more than the sound has", "sim:seconds=400", "largest_plausible", 13]
    ] as const)("a vendor that reports %s", ([, prompt, basis, seconds]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        yield* transcribe(who, wav(12_000), { prompt })
        assert.deepInclude(yield* latestUsage(who), { basis, output: seconds })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["mp3", "a.mp3"],
      ["flac", "a.flac"],
      ["opus", "a.ogg"]
    ] as const)("a sound as %s is measured", ([format, name]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, { bytes: makeSound(format, 7000), name })
        assert.strictEqual(answer.status, 200, answer.text)
        const { output, basis } = yield* latestUsage(who)
        assert.strictEqual(basis, "formula")
        assert.oneOf(output, [7, 8])
      })
    )

    it.effect("tokens are charged with those of the sound at their own price", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const fields = { model: "listen-tokens", prompt: "harbour" }
        const quote = yield* quoteOf(who, { model: "listen-tokens", seconds: 12 })
        assert.deepInclude(quote.body, { kind: "tokens" })
        yield* transcribe(who, wav(12_000), fields)
        // 120 tokens of sound, 2 of the prompt, and 7 of the text.
        assert.deepInclude(yield* latestUsage(who), {
          basis: "upstream_usage",
          input: 122,
          output: 7,
          charge: toDecimal(120n * 6000n + 2n * 2000n + 7n * 10_000n)
        })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["json", "application/json", '"text"'],
      ["verbose_json", "application/json", '"segments"'],
      ["text", "text/plain", SPOKEN],
      ["srt", "text/plain", "00:00:00,000 --> 00:00:12,000"],
      ["vtt", "text/vtt", "WEBVTT"]
    ] as const)("%s comes as %s", ([response_format, type, part]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(12_000), { response_format })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.include(answer.type, type)
        assert.include(answer.text, part)
        assert.deepInclude(yield* latestUsage(who), { output: 12 })
        yield* gateway.verify
      })
    )

    it.effect("times of words are asked for by a list", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(2000), {
          response_format: "verbose_json",
          "timestamp_granularities[]": ["word", "segment"],
          language: "en",
          temperature: "0.2"
        })
        const body = JSON.parse(answer.text)
        assert.deepInclude(body, { language: "en" })
        assert.isAbove(body.words.length, 3)
      })
    )

    it.effect("a text is streamed, and charged as the vendor counts at its end", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(12_000), { stream: "true" })
        assert.include(answer.type, "text/event-stream")
        const events = eventsIn(answer.text)
        assert.deepInclude(events.at(0), { type: "transcript.text.delta", delta: "The " })
        assert.deepInclude(events.at(-1), { type: "transcript.text.done", text: SPOKEN })
        assert.deepInclude(yield* latestUsage(who), { basis: "upstream_usage", output: 12 })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["breaks off", "sim:breaks=2"],
      ["ends in an error", "sim:errors=2"]
    ] as const)("a stream that %s is charged by the measured length", ([, prompt]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(12_000), { prompt, stream: "true" })
        assert.include(JSON.stringify(eventsIn(answer.text).at(-1)), "upstream_error")
        assert.deepInclude(yield* latestUsage(who), { basis: "formula", output: 12 })
        assert.deepInclude(yield* gateway.balance(who), { held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("an uploaded file is transcribed by its id, and quoted", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const file = yield* Effect.promise(async () => {
          const form = new FormData()
          form.append("purpose", "user_data")
          form.append(
            "file",
            new Blob([Buffer.from(wav(9000).bytes)], { type: "audio/wav" }),
            "a.wav"
          )
          const answer = await fetch(`${gateway.url}/v1/files`, {
            method: "POST",
            headers: { authorization: `Bearer ${who.key}` },
            body: form
          })
          return (await answer.json()) as { readonly id: string }
        })
        const json = { model: "listen-1", file: file.id }
        const quote = yield* quoteOf(who, json)
        assert.deepInclude(quote.body, { hold: "0.0009" })
        const answer = yield* gateway.call("/v1/audio/transcriptions", { key: who.key, json })
        assert.deepInclude(answer.body, { text: SPOKEN })
        assert.deepInclude(yield* latestUsage(who), { output: 9 })
        const other = yield* gateway.customer("20")
        const foreign = yield* gateway.call("/v1/audio/transcriptions", { key: other.key, json })
        assert.strictEqual(foreign.status, 400)
        assert.deepNestedInclude(foreign.body, { "error.param": "file" })
      })
    )

    it.effect("a translation is the same at its own address", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(4000), {}, { path: "translations" })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepInclude(yield* latestUsage(who), { output: 4 })
      })
    )

    it.effect("a repeat under its key is paid once", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const headers = { "idempotency-key": "heard" }
        const first = yield* transcribe(who, wav(4000), {}, { headers })
        const second = yield* transcribe(who, wav(4000), {}, { headers })
        assert.strictEqual(second.text, first.text)
        assert.isTrue(second.isReplay)
        assert.lengthOf(yield* usageOf(who), 1)
        const other = yield* transcribe(who, wav(5000), {}, { headers })
        assert.strictEqual(other.status, 422)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a refusal", "sim:refuse=400", 400],
      ["a failure", "sim:http500", 502],
      ["a vendor that hangs up", "sim:lost", 502]
    ] as const)("%s costs nothing", ([, prompt, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, wav(4000), { prompt })
        assert.strictEqual(answer.status, status, answer.text)
        assert.lengthOf(yield* usageOf(who), 0)
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["no file", null, {}, "file"],
      ["an empty file", { bytes: new Uint8Array(), name: "a.wav" }, {}, "file"],
      ["a file that is no sound", { bytes: Buffer.from("a text"), name: "a.wav" }, {}, "file"],
      ["an unknown format", wav(1000), { response_format: "pdf" }, "response_format"],
      ["a temperature in words", wav(1000), { temperature: "warm" }, "temperature"],
      ["a stream of neither", wav(1000), { stream: "maybe" }, "stream"]
    ] as const)("%s is refused with its field, for nothing", ([, sound, fields, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, sound, fields)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepNestedInclude(JSON.parse(answer.text), { "error.param": param })
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
      })
    )

    it.effect("a closed model is not ready, whatever its file is", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        for (const sound of [null, wav(1000), { bytes: Buffer.from("a"), name: "a" }]) {
          const answer = yield* transcribe(who, sound, { model: "listen-closed" })
          assert.strictEqual(answer.status, 400)
          assert.include(answer.text, "modality_not_ready")
        }
      })
    )
  })
}
