/** What dashscope's answers mean: sounds, texts and usage, and errors in frames of events. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { SpeechBody } from "../../src/domain/speech/SpeechRequest.ts"
import type { TranscriptionBody } from "../../src/domain/transcription/TranscriptionRequest.ts"
import type { VendorFailure } from "../../src/domain/VendorOutcome.ts"
import { ProtocolAdapter, type WorkPiece } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { accountAt, layerOverSockets } from "./support.ts"

const adapter = Effect.flatMap(ProtocolAdapter, ({ audio }) =>
  Effect.orDie(Effect.fromNullishOr(audio?.get("dashscope")))
)

const frame = (event: "result" | "error", status: number, data: unknown): string =>
  `id:1\nevent:${event}\n:HTTP_STATUS/${status}\ndata:${JSON.stringify(data)}\n\n`

const sse = (...frames: ReadonlyArray<string>): Reply => ({
  headers: { "content-type": "text/event-stream;charset=UTF-8" },
  body: frames.join("")
})

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const soundOf = (data: string, finish_reason = "null", more: object = {}) =>
  frame("result", 200, {
    output: { audio: { data, id: "audio_1", expires_at: 1 }, finish_reason },
    ...more
  })

const textOf = (text: string, finish_reason = "null", more: object = {}) =>
  frame("result", 200, {
    output: { choices: [{ finish_reason, message: { role: "assistant", content: [{ text }] } }] },
    ...more
  })

/** What came of a stream: the bytes for the client, and the failure that ended it. */
const collected = Effect.fnUntraced(function* (
  run: (
    take: (pieces: ReadonlyArray<WorkPiece>) => Effect.Effect<void>
  ) => Effect.Effect<void, VendorFailure>
) {
  const pieces: Array<WorkPiece> = []
  const exit = yield* Effect.result(
    run((arrived) => Effect.sync(() => void pieces.push(...arrived)))
  )
  return {
    pieces,
    bytes: Buffer.concat(pieces.flatMap(({ bytes }) => bytes ?? [])),
    failure: exit._tag === "Failure" ? failureOf(exit.failure) : null,
    proof:
      exit._tag === "Failure" && exit.failure._tag === "VendorRefused" ? exit.failure.proof : null
  }
})

const speak = Effect.fnUntraced(function* (reply: Reply, more: Partial<SpeechBody> = {}) {
  const vendor = yield* brokenVendor(reply)
  const { speech } = yield* adapter
  const body: SpeechBody = { model: "voice", input: "a", voice: "Cherry", ...more }
  const order = { upstreamModel: "qwen3-tts-flash", body }
  return yield* collected((take) =>
    speech === undefined ? Effect.void : speech.speak(accountAt(vendor.url), order, take)
  )
})

const heardBody = { model: "listen", file: "data:audio/wav;base64,AAAA" } as const
const transcriptionOf = (more: Partial<TranscriptionBody> = {}) => ({
  upstreamModel: "qwen3-asr-flash",
  body: { ...heardBody, ...more },
  sound: heardBody.file,
  isTranslation: false
})

const hear = Effect.fnUntraced(function* (reply: Reply) {
  const vendor = yield* brokenVendor(reply)
  const { transcription } = yield* adapter
  const order = transcriptionOf({ stream: true })
  return yield* collected((take) =>
    transcription === undefined
      ? Effect.void
      : transcription.stream(accountAt(vendor.url), order, take)
  )
})

const transcribe = Effect.fnUntraced(function* (reply: Reply) {
  const vendor = yield* brokenVendor(reply)
  const { transcription } = yield* adapter
  return yield* Effect.flatMap(Effect.orDie(Effect.fromNullishOr(transcription)), (one) =>
    one.transcribe(accountAt(vendor.url), transcriptionOf())
  )
})

const error = { code: "InvalidParameter", message: "Range of input length", request_id: "r-1" }
const throttled = { code: "Throttling.RateQuota", message: "slow down", request_id: "r-2" }

layer(layerOverSockets)("the sounds of dashscope", (it) => {
  it.effect("comments and empty parts add nothing to the bytes of a sound", () =>
    Effect.gen(function* () {
      const heard = yield* speak(
        sse(
          ":\n\n",
          soundOf(""),
          soundOf(base64("ab")),
          soundOf(base64("cd")),
          soundOf("", "stop")
        ),
        { response_format: "pcm" }
      )
      assert.isNull(heard.failure)
      assert.strictEqual(heard.bytes.toString(), "abcd")
    })
  )

  it.effect("the head of a WAV file stands once, before the first part", () =>
    Effect.gen(function* () {
      const heard = yield* speak(
        sse(soundOf(base64("ab")), soundOf(base64("cd"), "stop", { usage: { characters: 1 } }))
      )
      assert.isNull(heard.failure)
      assert.strictEqual(heard.bytes.toString("latin1", 0, 4), "RIFF")
      assert.strictEqual(heard.bytes.toString("latin1", 36, 40), "data")
      assert.strictEqual(heard.bytes.subarray(44).toString(), "abcd")
      assert.isTrue(heard.pieces.every(({ usage }) => usage === null))
    })
  )

  it.effect("the tokens of the last event are those of the order", () =>
    Effect.gen(function* () {
      const usage = { input_tokens: 3, output_tokens: 50, total_tokens: 53 }
      const heard = yield* speak(sse(soundOf(base64("ab")), soundOf("", "stop", { usage })))
      assert.deepStrictEqual(heard.pieces.at(-1)?.usage, { inputTokens: 3n, outputTokens: 50n })
    })
  )

  it.effect.each([
    ["a sound without its end", sse(soundOf(base64("ab")))],
    ["an end without a sound", sse(soundOf("", "stop"))],
    ["no sound at all", sse(frame("result", 200, { output: {} }))]
  ] as const)("%s is not whole", ([, reply]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* speak(reply)).failure, lost("broken_answer", 200))
    })
  )

  it.effect("a first event that is an error proves that nothing was made", () =>
    Effect.gen(function* () {
      const heard = yield* speak(sse(frame("error", 429, throttled)))
      assert.strictEqual(heard.bytes.byteLength, 0)
      assert.strictEqual(heard.proof, "rate_limited")
      assert.deepInclude(heard.failure, { effectiveStatus: 429, message: "slow down" })
    })
  )

  it.effect("an error after a part of the sound proves nothing", () =>
    Effect.gen(function* () {
      const { failure, proof } = yield* speak(
        sse(soundOf(base64("ab")), frame("error", 429, throttled)),
        {
          response_format: "pcm"
        }
      )
      assert.deepInclude(failure, { _tag: "VendorRefused", effectiveStatus: 502 })
      assert.isUndefined(proof)
    })
  )

  it.effect.each(["application/json", "text/event-stream"])(
    "a refusal in the frame of an event, as %s, is read",
    (contentType) =>
      Effect.gen(function* () {
        const { failure, proof } = yield* speak({
          status: 400,
          headers: { "content-type": contentType },
          body: frame("error", 400, error)
        })
        assert.strictEqual(proof, "refused")
        assert.deepStrictEqual(failure, refused(400, error, { message: error.message }))
      })
  )
})

layer(layerOverSockets)("the texts of dashscope", (it) => {
  const heard = (content: ReadonlyArray<object>, more: object = {}) => ({
    body: {
      output: { choices: [{ finish_reason: "stop", message: { role: "assistant", content } }] },
      ...more
    }
  })

  it.effect("a silent sound has an empty text, which is a transcript", () =>
    Effect.gen(function* () {
      const answer = yield* transcribe(heard([], { usage: { seconds: 2 } }))
      assert.deepStrictEqual(answer, {
        result: { text: "", usage: { type: "duration", seconds: 2 } },
        usage: null,
        seconds: 2,
        outputBytes: 0
      })
    })
  )

  it.effect("tokens of the sound are told apart from those of the text", () =>
    Effect.gen(function* () {
      const usage = {
        input_tokens: 30,
        output_tokens: 4,
        input_tokens_details: { audio_tokens: 25, text_tokens: 5 }
      }
      const answer = yield* transcribe(heard([{ text: "hé" }, { text: "y" }], { usage }))
      assert.deepInclude(answer, {
        usage: {
          inputTokens: 30n,
          outputTokens: 4n,
          separate: { cachedInput: 0n, audioInput: 25n, audioOutput: 0n }
        },
        outputBytes: 4
      })
      assert.propertyVal(answer.result, "text", "héy")
    })
  )

  it.effect.each([
    ["no choices", { output: { choices: [] } }],
    ["a text of another service", { output: { text: "a" } }]
  ] as const)("an answer with %s cannot be read", ([, body]) =>
    Effect.gen(function* () {
      const failure = failureOf(yield* Effect.flip(transcribe({ body })))
      assert.deepStrictEqual(failure, lost("broken_answer", 200))
    })
  )

  it.effect("a streamed text is the sum of its events, and its end repeats it", () =>
    Effect.gen(function* () {
      const { bytes, pieces, failure } = yield* hear(
        sse(textOf("a "), textOf("b"), textOf("", "stop", { usage: { seconds: 3 } }))
      )
      assert.isNull(failure)
      assert.deepStrictEqual(
        bytes
          .toString()
          .trim()
          .split("\n\n")
          .map((event) => JSON.parse(event.slice("data: ".length))),
        [
          { type: "transcript.text.delta", delta: "a " },
          { type: "transcript.text.delta", delta: "b" },
          {
            type: "transcript.text.done",
            text: "a b",
            usage: { type: "duration", seconds: 3 }
          }
        ]
      )
      assert.strictEqual(pieces.at(-1)?.seconds, 3)
      assert.strictEqual(
        pieces.reduce((sum, { outputBytes }) => sum + outputBytes, 0),
        3
      )
    })
  )

  it.effect("a streamed text without its end is not whole", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* hear(sse(textOf("a")))).failure, lost("broken_answer", 200))
    })
  )
})
