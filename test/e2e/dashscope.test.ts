/** Speech over the cloud's own interface: sounds, texts, charges, and what its models do not take. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { soundLength } from "../../src/domain/audio/soundLength.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { toDecimal } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { latestUsage, usageOf } from "../support/usage.ts"

const SPOKEN = "The harbour is calm at dawn."
const INPUT = "The harbour is calm."
const SOUND_MILLIS = 1300
const MESSAGES = "/dashscope/api/v1/services/aigc/multimodal-generation/generation"

const CHARACTERS = { kind: "characters", per_million_characters: "100" } as const
const SOUND_TOKENS = { kind: "tokens", per_million_input: "4", per_million_output: "80" } as const
const SECONDS = { kind: "audio_seconds", per_second: "0.0001" } as const
const HEARD_TOKENS = {
  kind: "tokens",
  per_million_input: "2",
  per_million_output: "10",
  per_million_audio_input: "6"
} as const

const catalogFor = (simulatorUrl: string): ReturnType<typeof testCatalog> => {
  const base = testCatalog(simulatorUrl)
  const speech = [
    { modality: "tts", id: "voice", upstream: "sim-tts", prices: CHARACTERS },
    { modality: "tts", id: "voice-instruct", upstream: "sim-tts-instruct", prices: CHARACTERS },
    { modality: "tts", id: "voice-tokens", upstream: "sim-tts-tokens", prices: SOUND_TOKENS },
    { modality: "tts", id: "voice-both", upstream: "sim-tts", prices: CHARACTERS },
    { modality: "asr", id: "listen", upstream: "sim-asr", prices: SECONDS },
    { modality: "asr", id: "listen-tokens", upstream: "sim-asr-tokens", prices: HEARD_TOKENS }
  ] as const
  return {
    ...base,
    channels: [
      ...base.channels,
      { id: "ch-q", name: "Q", base_url: `${simulatorUrl}/dashscope`, api_key: "vendor-key-q" },
      { id: "ch-o", name: "O", base_url: `${simulatorUrl}/openai/v1`, api_key: "vendor-key-o" }
    ],
    models: [
      ...base.models,
      ...speech.map(({ modality, id, prices }) => ({ modality, id, prices, protocol: "dashscope" }))
    ],
    mounts: [
      ...base.mounts,
      ...speech.map(({ id, upstream }) => ({
        model: id,
        channel: "ch-q",
        upstream_model: upstream,
        priority: 1
      })),
      {
        model: "voice-both",
        channel: "ch-o",
        protocol: "openai",
        upstream_model: "sim-voice-1",
        priority: 2
      }
    ]
  }
}

const eventsIn = (text: string) =>
  text.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice("data: ".length))) ?? []

interface Answer {
  readonly status: number
  readonly type: string
  /** The bytes of the answer; null where the connection was closed before their end. */
  readonly bytes: Buffer | null
}

const order = (who: Customer, path: string, body: object | FormData) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (): Promise<Answer> => {
      const isForm = body instanceof FormData
      const answer = await fetch(`${url}/v1/audio/${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${who.key}`,
          ...(isForm ? {} : { "content-type": "application/json" })
        },
        body: isForm ? body : JSON.stringify(body)
      })
      const bytes = await answer.arrayBuffer().then(
        (whole) => Buffer.from(whole),
        () => null
      )
      return { status: answer.status, type: answer.headers.get("content-type") ?? "", bytes }
    })
  )

const speak = (who: Customer, json: object = {}) =>
  order(who, "speech", { model: "voice", input: INPUT, voice: "Cherry", ...json })

const SOUND_BYTES = Buffer.from(makeSound("wav", 12_345))
const SOUND = `data:audio/wav;base64,${SOUND_BYTES.toString("base64")}`

/** How the simulator records a file of a request. */
const recordOf = (bytes: Buffer) => ({
  bytes: bytes.byteLength,
  media_type: "audio/wav",
  sha256: createHash("sha256").update(bytes).digest("hex")
})

const transcribe = (who: Customer, json: object = {}, path = "transcriptions") =>
  order(who, path, { model: "listen", file: SOUND, ...json })

const textOf = ({ bytes }: Answer): string => bytes?.toString() ?? ""

/** The bodies of the requests that the vendor got for messages. */
const messagesOf = Effect.map(
  Effect.flatMap(Gateway, ({ simulator }) => simulator.requests),
  (requests) => requests.filter(({ path }) => path === MESSAGES)
)

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`speech over dashscope (${kind})`, (it) => {
    it.effect("a text is spoken as a WAV file that plays, at exactly the quoted price", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { model: "voice", input: INPUT, voice: "Cherry", language_type: "English" }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        assert.deepInclude(quote.body, { hold: "0.002", expected_charge: "0.002" })
        const heard = yield* speak(who, json)
        assert.deepInclude(heard, { status: 200, type: "audio/wav" })
        assert.deepStrictEqual(soundLength(heard.bytes ?? Buffer.of()), {
          format: "wav",
          milliseconds: SOUND_MILLIS
        })
        // The sizes are not known when the head is written.
        assert.strictEqual(heard.bytes?.readUInt32LE(4), 0xffff_ffff)
        assert.strictEqual(heard.bytes?.readUInt32LE(40), 0xffff_ffff)
        const { headers, body } = (yield* messagesOf).at(-1) ?? {}
        assert.strictEqual(headers?.["x-dashscope-sse"], "enable")
        assert.deepStrictEqual(body, {
          model: "sim-tts",
          input: { text: INPUT, voice: "Cherry", language_type: "English" },
          parameters: {}
        })
        assert.deepInclude(yield* latestUsage(who), { charge: "0.002", output: 20 })
        yield* gateway.verify
      })
    )

    it.effect("pcm is the same sound without the head", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { response_format: "pcm", speed: 1 })
        assert.deepInclude(heard, { status: 200, type: "audio/pcm" })
        assert.isTrue(heard.bytes?.equals(makeSound("pcm", SOUND_MILLIS)))
        const wav = yield* speak(who, { response_format: "wav" })
        assert.isTrue(wav.bytes?.subarray(44).equals(makeSound("pcm", SOUND_MILLIS)))
      })
    )

    it.effect("events are those of the standard, and tokens are charged as counted", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, {
          model: "voice-tokens",
          stream_format: "sse",
          response_format: "pcm"
        })
        assert.strictEqual(heard.type, "text/event-stream")
        const events = eventsIn(textOf(heard))
        const parts = events.slice(0, -1)
        assert.isAbove(parts.length, 1)
        assert.isTrue(parts.every(({ type }) => type === "speech.audio.delta"))
        const sound = Buffer.concat(parts.map(({ audio }) => Buffer.from(audio, "base64")))
        assert.isTrue(sound.equals(makeSound("pcm", SOUND_MILLIS)))
        // 5 tokens of text, and 65 of 1.3 seconds of sound.
        assert.deepStrictEqual(events.at(-1), {
          type: "speech.audio.done",
          usage: { type: "tokens", input_tokens: 5, output_tokens: 65, total_tokens: 70 }
        })
        assert.deepInclude(yield* latestUsage(who), {
          basis: "upstream_usage",
          input: 5,
          output: 65,
          charge: toDecimal(5n * 4000n + 65n * 80_000n)
        })
        // Bytes have no place for the usage, which is charged all the same.
        yield* speak(who, { model: "voice-tokens" })
        assert.deepInclude(yield* latestUsage(who), { basis: "upstream_usage", output: 65 })
        yield* gateway.verify
      })
    )

    it.effect("instructions reach the models that take them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = {
          model: "voice-instruct",
          instructions: "Softly",
          optimize_instructions: true
        }
        assert.strictEqual((yield* speak(who, json)).status, 200)
        assert.deepNestedInclude((yield* messagesOf).at(-1)?.body, {
          "parameters.instructions": "Softly",
          "parameters.optimize_instructions": true
        })
      })
    )

    it.effect.each([
      ["mp3", { response_format: "mp3" }, "response_format", "wav or pcm"],
      ["a speed", { speed: 2 }, "speed", "1 or nothing"],
      ["instructions", { instructions: "Softly" }, "instructions", "nothing"],
      ["an unknown language", { language_type: "Klingon" }, "language_type", "Auto, Chinese"]
    ] as const)(
      "%s is refused before the hold, by the order and by its quote",
      ([, json, param, expected]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const body = { model: "voice", input: INPUT, voice: "Cherry", ...json }
          const before = (yield* messagesOf).length
          for (const path of ["/v1/audio/speech", "/v1/quotes"]) {
            const answer = yield* gateway.call(path, { key: who.key, json: body })
            assert.strictEqual(answer.status, 400)
            assert.deepNestedInclude(answer.body, {
              "error.code": "invalid_request",
              "error.param": param
            })
            assert.include(answer.text, expected)
          }
          assert.lengthOf(yield* messagesOf, before)
          assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        })
    )

    it.effect.each([
      ["the first mount's default", {}, "audio/wav"],
      ["the first mount's format", { response_format: "pcm" }, "audio/pcm"],
      ["a format that only the second mount has", { response_format: "mp3" }, "audio/mpeg"]
    ] as const)("a model of two vendors answers %s", ([, json, type]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { model: "voice-both", ...json })
        assert.deepInclude(heard, { status: 200, type })
      })
    )

    it.effect("an order fails over where the next vendor answers in the same format", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const setFault = (switches: string) =>
          Effect.promise(() =>
            fetch(`${gateway.simulator.url}/_sim/accounts/vendor-key-q`, {
              method: "PUT",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ switches })
            })
          )
        yield* Effect.gen(function* () {
          yield* setFault("sim:refuse=429")
          // Without a format the second vendor would answer mp3, after the head says WAV.
          assert.strictEqual((yield* speak(who, { model: "voice-both" })).status, 503)
          const heard = yield* speak(who, { model: "voice-both", response_format: "wav" })
          assert.deepInclude(heard, { status: 200, type: "audio/wav" })
        }).pipe(Effect.ensuring(setFault("")))
        assert.lengthOf(yield* usageOf(who), 1)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["bytes that break off", { input: "a harbour sim:breaks=1" }, null],
      ["events that break off", { input: "a sim:breaks=1", stream_format: "sse" }, undefined],
      ["an error among events", { input: "a sim:errors=1", stream_format: "sse" }, undefined]
    ] as const)("%s are charged, and the client learns that they are not whole", ([, json, end]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, json)
        assert.strictEqual(heard.status, 200)
        if (end === null) assert.isNull(heard.bytes)
        else assert.include(JSON.stringify(eventsIn(textOf(heard)).at(-1)), "upstream_error")
        assert.deepInclude(yield* latestUsage(who), { output: json.input.length })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a refusal", "sim:refuse=400", 400],
      ["a failure", "sim:http500", 502],
      ["a busy vendor", "sim:rate", 503],
      ["a vendor that hangs up", "sim:lost", 502],
      ["moderation", "sim:moderate-input", 400],
      ["a text that is too long", "a".repeat(601), 400]
    ] as const)("%s costs nothing, spoken and transcribed", ([, input, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { input })
        assert.strictEqual(heard.status, status, textOf(heard))
        if (input.startsWith("sim:")) {
          const heardText = yield* transcribe(who, { prompt: input })
          assert.strictEqual(heardText.status, status, textOf(heardText))
        }
        assert.lengthOf(yield* usageOf(who), 0)
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a sound is transcribed, and charged by the seconds that the vendor reports", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, {
          language: "en",
          prompt: "harbour",
          enable_itn: true
        })
        assert.strictEqual(answer.status, 200, textOf(answer))
        assert.deepStrictEqual(JSON.parse(textOf(answer)), {
          text: SPOKEN,
          language: "en",
          emotion: "neutral",
          usage: { type: "duration", seconds: 13 }
        })
        assert.deepStrictEqual((yield* messagesOf).at(-1)?.body, {
          model: "sim-asr",
          input: {
            messages: [
              { role: "system", content: [{ text: "harbour" }] },
              { role: "user", content: [{ audio: recordOf(SOUND_BYTES) }] }
            ]
          },
          parameters: { asr_options: { language: "en", enable_itn: true } }
        })
        assert.deepInclude(yield* latestUsage(who), {
          basis: "upstream_usage",
          unit: "second",
          output: 13,
          charge: toDecimal(13n * 100_000n)
        })
        yield* gateway.verify
      })
    )

    it.effect("text is the text alone, with the same charge", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, { response_format: "text" })
        assert.include(answer.type, "text/plain")
        assert.strictEqual(textOf(answer), `${SPOKEN}\n`)
        assert.deepInclude(yield* latestUsage(who), { basis: "upstream_usage", output: 13 })
      })
    )

    it.effect("a form is transcribed with the vendor's own field", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const form = new FormData()
        form.append("model", "listen")
        form.append("enable_itn", "false")
        form.append("prompt", "true")
        form.append("file", new Blob([Buffer.from(makeSound("wav", 2000))]), "a.wav")
        const answer = yield* order(who, "transcriptions", form)
        assert.strictEqual(answer.status, 200, textOf(answer))
        assert.deepNestedInclude((yield* messagesOf).at(-1)?.body, {
          "parameters.asr_options.enable_itn": false,
          "input.messages[0].content[0].text": "true"
        })
      })
    )

    it.effect("a streamed text comes in the standard's events, and tokens are charged", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const answer = yield* transcribe(who, {
          model: "listen-tokens",
          prompt: "harbour",
          stream: true
        })
        assert.strictEqual(answer.type, "text/event-stream")
        const events = eventsIn(textOf(answer))
        const deltas = events.slice(0, -1)
        assert.lengthOf(deltas, 6)
        assert.strictEqual(deltas.map(({ delta }) => delta).join(""), SPOKEN)
        // 309 tokens of sound, 2 of the context, and 7 of the text.
        assert.deepStrictEqual(events.at(-1), {
          type: "transcript.text.done",
          text: SPOKEN,
          usage: { type: "tokens", input_tokens: 311, output_tokens: 7, total_tokens: 318 }
        })
        assert.deepInclude(yield* latestUsage(who), {
          basis: "upstream_usage",
          input: 311,
          output: 7,
          charge: toDecimal(309n * 6000n + 2n * 2000n + 7n * 10_000n)
        })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["srt", { response_format: "srt" }, "response_format", "transcriptions"],
      ["vtt", { response_format: "vtt" }, "response_format", "transcriptions"],
      ["verbose_json", { response_format: "verbose_json" }, "response_format", "transcriptions"],
      [
        "times of words",
        { timestamp_granularities: ["word"] },
        "timestamp_granularities",
        "transcriptions"
      ],
      ["a temperature", { temperature: 0.5 }, "temperature", "transcriptions"],
      ["a vendor's field of a wrong type", { enable_itn: "yes" }, "enable_itn", "transcriptions"],
      ["a translation", {}, "model", "translations"]
    ] as const)(
      "%s is refused before the hold, by the order and by its quote",
      ([, json, param, path]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const before = (yield* messagesOf).length
          const answer = yield* transcribe(who, json, path)
          assert.strictEqual(answer.status, 400)
          assert.nestedPropertyVal(JSON.parse(textOf(answer)), "error.param", param)
          if (path === "transcriptions") {
            const quote = yield* gateway.call("/v1/quotes", {
              key: who.key,
              json: { model: "listen", seconds: 5, ...json }
            })
            assert.strictEqual(quote.status, 400)
            assert.deepNestedInclude(quote.body, { "error.param": param })
          }
          assert.lengthOf(yield* messagesOf, before)
          assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        })
    )

    it.effect.each([
      ["more than the sound has", "sim:seconds=400", "largest_plausible", 13],
      ["nothing", "sim:nousage", "formula", 13]
    ] as const)("a vendor that reports %s", ([, prompt, basis, seconds]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        yield* transcribe(who, { prompt })
        assert.deepInclude(yield* latestUsage(who), { basis, output: seconds })
        yield* gateway.verify
      })
    )
  })
}
