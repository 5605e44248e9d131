/** Spoken texts as users of the official `openai` package order them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import OpenAI, { type APIError } from "openai"
import { cutting } from "../support/aiSdk.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import {
  done,
  keyedOpenaiOf,
  openaiOf,
  rejection,
  watchedFetch
} from "../support/officialClients.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

const input = "The harbour is calm."
const order = { model: "voice-1", voice: "alloy", input } as const
/** Of a character. */
const PER_CHARACTER = 100_000n
const CHARGE = toDecimal(BigInt(input.length) * PER_CHARACTER)

const SoundEvent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("speech.audio.delta"), audio: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("speech.audio.done"),
    usage: Schema.Struct({ total_tokens: Schema.Int })
  })
])
const decodeEvent = Schema.decodeUnknownSync(Schema.fromJsonString(SoundEvent))

const eventsIn = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => decodeEvent(data))

const spent = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { balance, held } = yield* gateway.balance(who)
  assert.strictEqual(held, "0")
  return toDecimal(toNano("10") - toNano(balance))
})

const speak = async (client: OpenAI, more: Partial<OpenAI.Audio.SpeechCreateParams> = {}) => {
  const answer = await client.audio.speech.create({ ...order, ...more })
  return { type: answer.headers.get("content-type"), bytes: await answer.arrayBuffer() }
}

type ErrorClass = new (...parameters: never) => APIError

interface Refusal {
  readonly is: ErrorClass
  readonly status: number
  readonly code: string
  readonly more: Partial<OpenAI.Audio.SpeechCreateParams>
  readonly funds?: string
}

const refusals: Readonly<Record<string, Refusal>> = {
  "a closed model": {
    is: OpenAI.BadRequestError,
    status: 400,
    code: "modality_not_ready",
    more: { model: "voice-closed" }
  },
  "an unknown model": {
    is: OpenAI.NotFoundError,
    status: 404,
    code: "model_not_found",
    more: { model: "nobody" }
  },
  "a model of rankings": {
    is: OpenAI.BadRequestError,
    status: 400,
    code: "modality_mismatch",
    more: { model: "rank-searches" }
  },
  "a speed out of bounds": {
    is: OpenAI.BadRequestError,
    status: 400,
    code: "invalid_request",
    more: { speed: 9 }
  },
  "no balance": {
    is: OpenAI.APIError,
    status: 402,
    code: "insufficient_balance",
    more: {},
    funds: "0.001"
  },
  "a refusal of the vendor": {
    is: OpenAI.BadRequestError,
    status: 400,
    code: "upstream_error",
    more: { input: "sim:refuse=400" }
  },
  "a vendor that hangs up": {
    is: OpenAI.InternalServerError,
    status: 502,
    code: "upstream_error",
    more: { input: "sim:lost" }
  },
  "a busy vendor, in events": {
    is: OpenAI.InternalServerError,
    status: 503,
    code: "upstream_error",
    more: { input: "sim:rate", stream_format: "sse" }
  }
}

layer(layerTestGateway("postgres", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("speech by the openai package", (it) => {
  it.effect.each([
    [undefined, "audio/mpeg"],
    ["wav", "audio/wav"],
    ["opus", "audio/ogg"],
    ["pcm", "audio/pcm"]
  ] as const)("the format %s comes as %s, and is charged by its characters", ([format, type]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const more = format === undefined ? {} : { response_format: format }
      const sound = yield* done(() =>
        speak(client, { instructions: "slowly", speed: 0.5, ...more })
      )
      assert.strictEqual(sound.type, type)
      assert.isAbove(sound.bytes.byteLength, 100)
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("events have the same sound in parts, and what it used", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const whole = yield* done(() => speak(client))
      const streamed = yield* done(() => speak(client, { stream_format: "sse" }))
      assert.strictEqual(streamed.type, "text/event-stream")
      const events = eventsIn(Buffer.from(streamed.bytes).toString())
      const parts = events.flatMap((event) =>
        event.type === "speech.audio.delta" ? [Buffer.from(event.audio, "base64")] : []
      )
      assert.isAbove(parts.length, 1)
      assert.isTrue(Buffer.concat(parts).equals(Buffer.from(whole.bytes)))
      assert.strictEqual(events.at(-1)?.type, "speech.audio.done")
      assert.strictEqual(yield* spent(who), toDecimal(2n * toNano(CHARGE)))
    })
  )

  it.effect(
    "an answer lost on the way is asked for again under the client's key, and paid once",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const plain = yield* openaiOf(yield* gateway.customer("10"))
        const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
        const { seen, fetch } = watchedFetch()
        const baseURL = `http://127.0.0.1:${proxy.port}/v1`
        const client = yield* keyedOpenaiOf(who, { baseURL, fetch })
        const cut = yield* Effect.forkChild(proxy.cutOnce("work", input))
        const sound = yield* done(() => speak(client))
        yield* Fiber.join(cut)
        assert.deepStrictEqual(seen, ["lost", 200])
        assert.deepStrictEqual(sound, yield* done(() => speak(plain)))
        assert.strictEqual(yield* spent(who), CHARGE)
      })
  )

  it.effect("a sound that breaks off on the way can be asked for again under its key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who, { fetch: cutting(globalThis.fetch) })
      const keyed = { headers: { "Idempotency-Key": `calm-${who.memberId}` } }
      const first = yield* done(() => client.audio.speech.create(order, keyed))
      assert.match(String(yield* rejection(() => first.arrayBuffer())), /TypeError/)
      const { bytes, again } = yield* done(async () => {
        const answer = await client.audio.speech.create(order, keyed)
        return { bytes: await answer.arrayBuffer(), again: answer.headers }
      })
      assert.strictEqual(again.get("idempotency-replayed"), "true")
      assert.isAbove(bytes.byteLength, 100)
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("a sound that breaks off at the vendor fails its reader, and is charged", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* openaiOf(who)
      const broken = `${"a".repeat(600)} sim:breaks=2`
      const error = yield* rejection(() => speak(client, { input: broken }))
      assert.match(String(error), /terminated/)
      assert.strictEqual(yield* spent(who), toDecimal(BigInt(broken.length) * PER_CHARACTER))
    })
  )

  it.effect.each(Object.keys(refusals))("%s is an error of its class, and costs nothing", (name) =>
    Effect.gen(function* () {
      const { is, status, code, more, funds = "10" } = refusals[name] ?? assert.fail(name)
      const gateway = yield* Gateway
      const who = yield* gateway.customer(funds)
      const client = yield* openaiOf(who, { maxRetries: 0 })
      const error = yield* rejection(() => speak(client, more))
      assert.instanceOf(error, OpenAI.APIError)
      assert.strictEqual(error.constructor, is, error.message)
      assert.deepInclude(error, { status, code }, error.message)
      assert.match(error.requestID ?? "", /^req_/)
      assert.deepInclude(yield* gateway.balance(who), { balance: funds, held: "0" })
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
