/** What is asked of ElevenLabs for a spoken text, and what is read of its answers. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { SpeechBody } from "../../src/domain/speech/SpeechRequest.ts"
import type { VendorFailure } from "../../src/domain/VendorOutcome.ts"
import { ProtocolAdapter, type WorkPiece } from "../../src/services/ProtocolAdapter.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { ELEVEN_VOICE as VOICE } from "../support/elevenVoice.ts"
import { failureOf, lost } from "./failures.ts"
import { API_KEY, accountAt, layerOverSockets, layerWithSimulator, named } from "./support.ts"

const MODEL = "eleven_multilingual_v2"

type Order = Partial<SpeechBody> & Readonly<Record<string, unknown>>

const orDie = <A>(value: A | undefined) => Effect.orDie(Effect.fromNullishOr(value))

const adapterOf = Effect.flatMap(ProtocolAdapter, ({ audio }) => orDie(audio?.get("elevenlabs")))

/** Orders a sound, and gives every part of it that came. */
const speak = Effect.fnUntraced(function* (baseUrl: string, order: Order, upstreamModel = MODEL) {
  const pieces: Array<WorkPiece> = []
  const speech = yield* orDie((yield* adapterOf).speech)
  const body = { model: "voice-1", input: "a lighthouse", voice: VOICE, ...order }
  const spoken = speech.speak(accountAt(baseUrl), { upstreamModel, body }, (taken) =>
    Effect.sync(() => {
      pieces.push(...taken)
    })
  )
  const exit = yield* Effect.exit(spoken)
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes ?? Buffer.alloc(0)))
  return { exit, pieces, bytes }
})

const failureIn = (exit: Exit.Exit<void, VendorFailure>): VendorFailure | null =>
  Exit.isFailure(exit)
    ? (exit.cause.reasons.find((one) => one._tag === "Fail")?.error ?? null)
    : null

interface Sent {
  readonly says: string
  readonly order: Order
  readonly target: string
  readonly body: object
}

const base = `/v1/text-to-speech/${VOICE}`
const least = { text: "a lighthouse", model_id: MODEL }

const sent: ReadonlyArray<Sent> = [
  {
    says: "only the text",
    order: {},
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: least
  },
  {
    says: "mp3",
    order: { response_format: "mp3" },
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: least
  },
  {
    says: "opus",
    order: { response_format: "opus" },
    target: `${base}/stream?output_format=opus_48000_128`,
    body: least
  },
  {
    says: "pcm with 24,000 samples per second",
    order: { response_format: "pcm" },
    target: `${base}/stream?output_format=pcm_24000`,
    body: least
  },
  {
    says: "wav as a whole",
    order: { response_format: "wav" },
    target: `${base}?output_format=wav_24000`,
    body: least
  },
  {
    says: "events, which the vendor does not know",
    order: { stream_format: "sse" },
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: least
  },
  {
    says: "a voice of one's own",
    order: { voice: { id: "own" } },
    target: "/v1/text-to-speech/own/stream?output_format=mp3_44100_128",
    body: least
  },
  {
    says: "a voice with characters of an address",
    order: { voice: "../models?a=b#\ud800é" },
    target:
      "/v1/text-to-speech/..%2Fmodels%3Fa%3Db%23%EF%BF%BD%C3%A9/stream?output_format=mp3_44100_128",
    body: least
  },
  {
    says: "a speed",
    order: { speed: 0.8 },
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: { ...least, voice_settings: { speed: 0.8 } }
  },
  {
    says: "fields of the vendor, beside which the standard ones count",
    order: {
      speed: 1.1,
      voice_settings: { stability: 0.3, speed: 0.7 },
      language_code: "en",
      text: "another text",
      model_id: "another-model"
    },
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: { ...least, language_code: "en", voice_settings: { stability: 0.3, speed: 1.1 } }
  },
  {
    says: "fields that are null",
    order: { speed: null, response_format: null, stream_format: null, instructions: null },
    target: `${base}/stream?output_format=mp3_44100_128`,
    body: least
  }
]

const sound = Buffer.from("ID3\u0004\u0000and bytes")
const soundReply: Reply = { headers: { "content-type": "audio/mpeg" }, body: sound }

interface Refusal {
  readonly says: string
  readonly status: number
  readonly body: unknown
  readonly effectiveStatus?: number
  /** Null where the vendor may have begun. */
  readonly proof: string | null
}

const said = (status: string, message = "because") => ({ detail: { status, message } })
const coded = (type: string, code: string, status = code) => ({
  detail: { type, code, message: "because", status, request_id: "0385dc795ff84d82bcb6" }
})

/** The forms of the vendor's documents and of clients' reports, and what resembles them. */
const refusals: ReadonlyArray<Refusal> = [
  { says: "a wrong key", status: 401, body: said("invalid_api_key"), proof: "credentials_refused" },
  {
    says: "a missing key",
    status: 401,
    body: said("needs_authorization"),
    proof: "credentials_refused"
  },
  {
    says: "a key without the permission",
    status: 401,
    body: said("missing_permissions"),
    proof: "credentials_refused"
  },
  {
    says: "a used-up quota, by 401",
    status: 401,
    body: said("quota_exceeded"),
    proof: "account_empty"
  },
  {
    says: "a used-up quota, by 400",
    status: 400,
    body: coded("invalid_request", "quota_exceeded"),
    effectiveStatus: 402,
    proof: "account_empty"
  },
  {
    says: "a voice of dearer plans",
    status: 402,
    body: coded("payment_required", "paid_plan_required", "payment_required"),
    proof: "model_unknown"
  },
  {
    says: "a professional voice",
    status: 403,
    body: said("only_for_creator+"),
    proof: "model_unknown"
  },
  {
    says: "a format of dearer plans",
    status: 403,
    body: coded("authorization_error", "output_format_not_allowed"),
    proof: "model_unknown"
  },
  { says: "an unknown voice", status: 404, body: said("voice_not_found"), proof: "model_unknown" },
  {
    says: "an unknown voice, by 400",
    status: 400,
    body: said("voice_not_found"),
    proof: "refused"
  },
  {
    says: "an unknown model",
    status: 400,
    body: said("model_not_found"),
    effectiveStatus: 403,
    proof: "model_unknown"
  },
  {
    says: "a text that is too long",
    status: 400,
    body: said("max_character_limit_exceeded"),
    proof: "refused"
  },
  {
    says: "a body that it cannot read",
    status: 422,
    body: { detail: [{ loc: ["body", "text"], msg: "because", type: "missing" }] },
    proof: "refused"
  },
  {
    says: "too many requests at a time",
    status: 429,
    body: said("too_many_concurrent_requests"),
    proof: "rate_limited"
  },
  {
    says: "too many requests at a time, in the newer form",
    status: 429,
    body: coded("rate_limit_error", "concurrent_limit_exceeded"),
    proof: "rate_limited"
  },
  {
    says: "too many requests, in the newer form",
    status: 429,
    body: coded("rate_limit_error", "rate_limit_exceeded"),
    proof: "rate_limited"
  },
  { says: "a busy vendor", status: 429, body: said("system_busy"), proof: "rate_limited" },
  { says: "a busy vendor by 503", status: 503, body: said("system_busy"), proof: null },
  { says: "a 429 without a code", status: 429, body: { detail: "because" }, proof: null },
  { says: "a 429 with a code of nobody", status: 429, body: said("strange"), proof: null },
  { says: "a 401 in another form", status: 401, body: { detail: "because" }, proof: null },
  { says: "a 401 with an empty list", status: 401, body: { detail: [] }, proof: null },
  {
    says: "a 400 that names a job",
    status: 400,
    body: { detail: { status: "invalid_request", message: "because", task_id: "t-1" } },
    proof: null
  },
  { says: "a failure", status: 500, body: said("something_went_wrong"), proof: null }
]

layer(layerOverSockets)("an order at ElevenLabs", (it) => {
  it.effect.each(named(sent))("with %s", ([, { order, target, body }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(soundReply)
      const { exit } = yield* speak(`${vendor.url}/v1`, order)
      assert.isTrue(Exit.isSuccess(exit))
      const [request] = yield* vendor.requests
      assert.deepInclude(request, { method: "POST", target })
      assert.strictEqual(request?.headers["xi-api-key"], API_KEY)
      assert.isUndefined(request?.headers.authorization)
      assert.deepStrictEqual(JSON.parse(request?.body ?? ""), body)
    })
  )

  it.effect.each([
    ["a format that the vendor lacks", { response_format: "flac" }],
    ["no voice", { voice: null }]
  ] as const)("with %s is refused unsent", ([, order]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(soundReply)
      const failure = failureIn((yield* speak(vendor.url, order)).exit)
      assert.deepInclude(failure, { effectiveStatus: 400, proof: "refused" })
      assert.propertyVal(failure, "param", Object.keys(order)[0])
      assert.isEmpty(yield* vendor.requests)
    })
  )

  it.effect.each(named(refusals))("may be refused by %s", ([, { status, body, ...expected }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status, body })
      const { exit, pieces } = yield* speak(vendor.url, {})
      const failure = failureIn(exit)
      assert.isEmpty(pieces)
      if (failure?._tag !== "VendorRefused") return assert.fail(`${failure?._tag}`)
      assert.strictEqual(failure.proof ?? null, expected.proof)
      assert.strictEqual(failure.effectiveStatus, expected.effectiveStatus ?? status)
      const hasReason = /"(?:message|msg)":/.test(JSON.stringify(body))
      assert.strictEqual(
        failure.message,
        hasReason ? "because" : `The vendor answered HTTP ${status}`
      )
    })
  )

  it.effect.each([
    ["an error in an answer of success", { body: said("quota_exceeded") }],
    ["a web page", { headers: { "content-type": "text/html" }, body: "<h1>Oops</h1>" }],
    [
      "JSON under the type of a sound",
      { headers: { "content-type": "audio/mpeg" }, body: '{"a":1}' }
    ],
    ["an empty sound", { headers: { "content-type": "audio/mpeg" } }],
    ["an error with a sound", { status: 400, body: { detail: { message: "a", audio: "YQ==" } } }]
  ] as const)("is lost by %s", ([, reply]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(reply)
      for (const order of [{}, { stream_format: "sse" }] as const) {
        const { exit, pieces } = yield* speak(vendor.url, order)
        const failure = failureIn(exit)
        assert.isEmpty(pieces)
        const status = "status" in reply ? reply.status : 200
        assert.deepStrictEqual(failure && failureOf(failure), lost("broken_answer", status))
      }
    })
  )

  it.effect("keeps an error that is no JSON from the client, as it may be the sound", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({
        status: 400,
        headers: { "content-type": "audio/mpeg" },
        body: sound
      })
      assert.propertyVal(failureIn((yield* speak(vendor.url, {})).exit), "body", null)
    })
  )
})

interface Event {
  readonly type: string
  readonly audio?: string
}

const eventsIn = (bytes: Buffer): ReadonlyArray<Event> =>
  bytes
    .toString()
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)))

layer(layerWithSimulator, { excludeTestServices: true })(
  "a sound of the simulated ElevenLabs",
  (it) => {
    it.effect("comes as it was made, and in events with the same bytes", () =>
      Effect.gen(function* () {
        const { url } = yield* Simulator
        const input = "a".repeat(500)
        const { bytes, pieces } = yield* speak(`${url}/elevenlabs`, { input })
        assert.isTrue(pieces.every((piece) => piece.hasProduct))
        assert.isAbove(bytes.length, 10_000)
        const events = eventsIn(
          (yield* speak(`${url}/elevenlabs`, { input, stream_format: "sse" })).bytes
        )
        assert.deepStrictEqual(events.at(-1), { type: "speech.audio.done" })
        const deltas = events.slice(0, -1)
        assert.isTrue(deltas.every(({ type }) => type === "speech.audio.delta"))
        assert.isTrue(
          Buffer.concat(deltas.map(({ audio = "" }) => Buffer.from(audio, "base64"))).equals(bytes)
        )
      })
    )

    it.effect.each(["audio", "sse"] as const)("that breaks off in %s has no end", (stream_format) =>
      Effect.gen(function* () {
        const { url } = yield* Simulator
        const input = `${"a".repeat(500)} sim:breaks=2`
        const { exit, bytes } = yield* speak(`${url}/elevenlabs`, { input, stream_format })
        const failure = failureIn(exit)
        assert.deepStrictEqual(failure && failureOf(failure), lost("connection_lost", 200))
        assert.isAbove(bytes.length, 0)
        assert.notInclude(bytes.toString(), "speech.audio.done")
      })
    )
  }
)

const models = [
  { model_id: "eleven_v3", can_do_text_to_speech: true },
  { model_id: "voice-changer", can_do_text_to_speech: false },
  { model_id: "eleven_v4" }
]

layer(layerOverSockets)("the account at ElevenLabs", (it) => {
  it.effect("has the models that speak", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: models })
      const listModels = yield* orDie((yield* adapterOf).listModels)
      assert.deepStrictEqual(yield* listModels(accountAt(vendor.url)), ["eleven_v3", "eleven_v4"])
      const [request] = yield* vendor.requests
      assert.strictEqual(request?.target, "/v1/models")
      assert.strictEqual(request?.headers["xi-api-key"], API_KEY)
    })
  )

  it.effect.each([
    ["an object", { data: [] }],
    ["models without ids", [{ name: "eleven_v3" }]]
  ] as const)("lists no models by %s", ([, body]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body })
      const { listModels, check } = yield* adapterOf
      for (const call of [listModels, check]) {
        const failure = yield* Effect.flip((yield* orDie(call))(accountAt(vendor.url)))
        assert.deepStrictEqual(failureOf(failure), lost("broken_answer", 200))
      }
    })
  )

  it.effect("is accepted where its key may not list models", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status: 401, body: said("missing_permissions") })
      const check = yield* orDie((yield* adapterOf).check)
      yield* check(accountAt(vendor.url))
    })
  )
})
