/** The simulated ElevenLabs: what it takes, what it refuses, and the sounds it makes. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { soundLength } from "../../src/domain/audio/soundLength.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { ELEVEN_VOICE as VOICE } from "../support/elevenVoice.ts"
import { booked, json, send } from "./support.ts"

const streamed = `/elevenlabs/v1/text-to-speech/${VOICE}/stream`
const whole = `/elevenlabs/v1/text-to-speech/${VOICE}`
const withKey = { authorization: null, headers: { "xi-api-key": "key-of-the-test" } }

const speak = (path: string, body: unknown) => send("POST", path, { ...withKey, body })

const TEXT = "The harbour is calm at dawn."
const MILLIS = TEXT.length * 65

layer(layerSimulator({ port: 0 }))("the simulated ElevenLabs", (it) => {
  it.effect.each([
    ["mp3 where no format is named", streamed, "audio/mpeg", 24],
    ["mp3", `${streamed}?output_format=mp3_44100_128`, "audio/mpeg", 24],
    ["opus", `${streamed}?output_format=opus_48000_128`, "audio/ogg", 0],
    ["wav, as a whole", `${whole}?output_format=wav_24000`, "audio/wav", 0]
  ] as const)("makes %s", ([, path, type, longerMs]) =>
    Effect.gen(function* () {
      const { status, headers, bytes } = yield* speak(path, { text: TEXT })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), type)
      assert.strictEqual(headers.get("character-cost"), String(TEXT.length))
      assert.isNotEmpty(headers.get("request-id"))
      const { milliseconds = 0 } = soundLength(Buffer.from(bytes)) ?? {}
      assert.isAtLeast(milliseconds, MILLIS)
      assert.isBelow(milliseconds, MILLIS + longerMs + 1)
    })
  )

  it.effect("makes pcm as long as the speed says", () =>
    Effect.gen(function* () {
      const path = `${streamed}?output_format=pcm_24000`
      const usual = yield* speak(path, { text: TEXT })
      assert.strictEqual(usual.bytes.length, MILLIS * 48)
      const slow = yield* speak(path, { text: TEXT, voice_settings: { speed: 0.8 } })
      assert.strictEqual(slow.bytes.length, (MILLIS * 48) / 0.8)
    })
  )

  it.effect("books each sound", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      yield* speak(streamed, { text: TEXT, model_id: "eleven_v3" })
      const entries = (yield* booked).slice(before)
      assert.deepStrictEqual(
        entries.map(({ event, model, protocol }) => ({ event, model, protocol })),
        ["accepted", "succeeded"].map((event) => ({
          event,
          model: "eleven_v3",
          protocol: "elevenlabs"
        }))
      )
    })
  )

  const refused: ReadonlyArray<readonly [string, string, unknown, number, string]> = [
    [
      "an unknown voice",
      "/elevenlabs/v1/text-to-speech/alloy/stream",
      { text: TEXT },
      404,
      "voice_not_found"
    ],
    [
      "a sound in a format that is not streamed",
      `${streamed}?output_format=wav_24000`,
      { text: TEXT },
      400,
      "invalid_output_format"
    ],
    ["an unknown model", streamed, { text: TEXT, model_id: "x" }, 400, "model_not_found"],
    [
      "a language for a model that finds it out",
      streamed,
      { text: TEXT, language_code: "en" },
      400,
      "unsupported_language"
    ],
    [
      "a speed out of bounds",
      streamed,
      { text: TEXT, voice_settings: { speed: 1.3 } },
      400,
      "invalid_voice_settings"
    ],
    [
      "a text that is too long",
      streamed,
      { text: "a".repeat(5001), model_id: "eleven_v3" },
      400,
      "max_character_limit_exceeded"
    ],
    ["moderation", streamed, { text: "sim:moderate-input" }, 400, "content_against_policy"],
    ["a busy vendor", streamed, { text: "sim:rate" }, 429, "too_many_concurrent_requests"],
    ["a failure", streamed, { text: "sim:http500" }, 500, "something_went_wrong"]
  ]
  it.effect.each(refused)("refuses by its code %s", ([, path, body, status, code]) =>
    Effect.gen(function* () {
      const before = yield* booked
      const answer = yield* speak(path, body)
      assert.strictEqual(answer.status, status)
      assert.deepNestedInclude(json(answer), { "detail.code": code, "detail.status": code })
      assert.deepStrictEqual(yield* booked, before)
    })
  )

  it.effect("refuses a body of a wrong shape with its place", () =>
    Effect.gen(function* () {
      const answer = yield* speak(streamed, { model_id: "eleven_v3" })
      assert.strictEqual(answer.status, 422)
      assert.deepNestedInclude(json(answer), {
        "detail[0].loc": ["body", "text"],
        "detail[0].type": "missing"
      })
    })
  )

  it.effect.each([
    ["a missing key", {}, "needs_authorization"],
    ["a wrong key", { "xi-api-key": "bad-key" }, "invalid_api_key"],
    ["a key in another header", { authorization: "Bearer k" }, "needs_authorization"]
  ] as const)("refuses %s", ([, headers, code]) =>
    Effect.gen(function* () {
      for (const path of [streamed, "/elevenlabs/v1/models"]) {
        const method = path === streamed ? "POST" : "GET"
        const answer = yield* send(method, path, { authorization: null, headers })
        assert.strictEqual(answer.status, 401)
        assert.deepNestedInclude(json(answer), { "detail.code": code })
      }
    })
  )

  it.effect("shows its requests without their key", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      yield* simulator.clearRequests
      yield* speak(streamed, { text: TEXT })
      const [request] = yield* simulator.requests
      assert.deepNestedInclude(request, { key_hint: "test", "headers.xi-api-key": "" })
    })
  )

  it.effect("lists its models, of which one speaks no text", () =>
    Effect.gen(function* () {
      const list = json(yield* send("GET", "/elevenlabs/v1/models", withKey))
      assert.deepInclude(list, {
        model_id: "eleven_v3",
        name: "eleven_v3",
        can_do_text_to_speech: true,
        can_do_voice_conversion: false
      })
      assert.deepInclude(list, {
        model_id: "eleven_multilingual_sts_v2",
        name: "eleven_multilingual_sts_v2",
        can_do_text_to_speech: false,
        can_do_voice_conversion: true
      })
    })
  )
})
