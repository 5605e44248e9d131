/** Texts that ElevenLabs speaks: the forms of the sound, what it lacks, its charge and its refusals. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { soundLength } from "../../src/domain/audio/soundLength.ts"
import { databasesInTurn } from "../support/databases.ts"
import { ELEVEN_VOICE } from "../support/elevenVoice.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { latestUsage, usageOf } from "../support/usage.ts"

const INPUT = "The harbour is calm."
const MILLIS = INPUT.length * 65

const speak = (who: Customer, json: object) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async () => {
      const answer = await fetch(`${url}/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "voice-eleven", voice: ELEVEN_VOICE, input: INPUT, ...json })
      })
      const bytes = await answer.arrayBuffer().then(
        (whole) => Buffer.from(whole),
        () => null
      )
      return {
        status: answer.status,
        type: answer.headers.get("content-type"),
        headers: answer.headers,
        bytes
      }
    })
  )

const requestsDuring = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { simulator } = yield* Gateway
    yield* simulator.clearRequests
    const result = yield* call
    const requests = yield* simulator.requests
    return { result, requests: requests.filter(({ protocol }) => protocol === "elevenlabs") }
  })

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: speechCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`ElevenLabs (${kind})`, (it) => {
    it.effect.each([
      [undefined, "audio/mpeg", 24],
      ["mp3", "audio/mpeg", 24],
      ["opus", "audio/ogg", 0],
      ["wav", "audio/wav", 0]
    ] as const)("%s comes as %s with the whole text", ([response_format, type, longerMs]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { response_format })
        assert.deepInclude(heard, { status: 200, type })
        const { milliseconds = 0 } = (heard.bytes && soundLength(heard.bytes)) ?? {}
        assert.isAtLeast(milliseconds, MILLIS)
        assert.isBelow(milliseconds, MILLIS + longerMs + 1)
        assert.deepInclude(yield* latestUsage(who), {
          charge: "0.002",
          unit: "character",
          output: INPUT.length,
          basis: "requested_characters"
        })
        yield* gateway.verify
      })
    )

    it.effect("pcm has 24,000 samples per second, at the ordered speed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { response_format: "pcm", speed: 0.8 })
        assert.deepInclude(heard, { status: 200, type: "audio/pcm" })
        assert.strictEqual(heard.bytes?.length, (MILLIS * 48) / 0.8)
      })
    )

    it.effect("events are those of the standard form, and have the same sound", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const inBytes = yield* speak(who, {})
        const inEvents = yield* speak(who, { stream_format: "sse" })
        assert.deepInclude(inEvents, { status: 200, type: "text/event-stream" })
        const events = (inEvents.bytes?.toString() ?? "")
          .split("\n\n")
          .filter((event) => event.startsWith("data: {"))
          .map((event) => JSON.parse(event.slice("data: ".length)))
        assert.deepStrictEqual(events.at(-1), { type: "speech.audio.done" })
        const sound = events.slice(0, -1).map(({ audio }) => Buffer.from(audio, "base64"))
        assert.isTrue(inBytes.bytes?.equals(Buffer.concat(sound)))
        assert.lengthOf(yield* usageOf(who), 2)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a missing voice", { voice: null }, "voice"],
      ["a voice that leads to another address", { voice: ".." }, "voice"],
      ["a format that it lacks", { response_format: "flac" }, "response_format"],
      ["instructions", { instructions: "Whisper" }, "instructions"],
      ["a speed below its bounds", { speed: 0.5 }, "speed"],
      ["a speed above its bounds", { speed: 1.5 }, "speed"]
    ] as const)("%s is refused before the hold", ([, json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const { result, requests } = yield* requestsDuring(
          gateway.call("/v1/audio/speech", {
            key: who.key,
            json: { model: "voice-eleven", voice: ELEVEN_VOICE, input: INPUT, ...json }
          })
        )
        assert.strictEqual(result.status, 400)
        assert.deepNestedInclude(result.body, {
          "error.code": "invalid_request",
          "error.param": param
        })
        assert.isEmpty(requests)
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
      })
    )

    it.effect(
      "fields of the vendor are sent with the gateway's key and no field that it lacks",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const { result, requests } = yield* requestsDuring(
            speak(who, { voice_settings: { stability: 0.4 }, language_code: "en", speed: 1.1 })
          )
          assert.strictEqual(result.status, 200)
          const [{ path, query, body } = {}] = requests
          assert.strictEqual(path, `/elevenlabs/v1/text-to-speech/${ELEVEN_VOICE}/stream`)
          assert.deepStrictEqual(query, { output_format: "mp3_44100_128" })
          assert.deepStrictEqual(body, {
            text: INPUT,
            model_id: "eleven_flash_v2_5",
            language_code: "en",
            voice_settings: { stability: 0.4, speed: 1.1 }
          })
        })
    )

    it.effect.each([
      ["an unknown voice", { voice: "alloy" }, 404, true],
      ["a field of the wrong type", { voice_settings: { stability: "much" } }, 422, true],
      ["a refusal", { input: "sim:refuse=400" }, 400, true],
      ["moderation", { input: "sim:moderate-input" }, 400, true],
      ["a busy vendor", { input: "sim:rate" }, 503, true],
      ["a failure", { input: "sim:http500" }, 502, false],
      ["a vendor that hangs up", { input: "sim:lost" }, 502, false]
    ] as const)(
      "%s costs nothing, and only a proof lets it be repeated",
      ([, json, status, isProved]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("20")
          const heard = yield* speak(who, json)
          assert.strictEqual(heard.status, status, heard.bytes?.toString())
          assert.strictEqual(heard.headers.get("x-should-retry") === "false", !isProved)
          assert.lengthOf(yield* usageOf(who), 0)
          assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
          yield* gateway.verify
        })
    )

    it.effect("a sound that breaks off is charged, and its connection is closed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const input = `${"a".repeat(600)} sim:breaks=2`
        const heard = yield* speak(who, { input })
        assert.strictEqual(heard.status, 200)
        assert.isNull(heard.bytes)
        assert.deepInclude(yield* latestUsage(who), { output: input.length })
        yield* gateway.verify
      })
    )
  })
}
