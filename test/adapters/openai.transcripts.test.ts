/** A transcript in an error was made, and nobody gets it for nothing. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { accountAt, layerOverSockets } from "./support.ts"

const SOUND = "data:audio/wav;base64,AAAA"

/** The failure of a transcription that is answered so. */
const failureAt = Effect.fnUntraced(function* (status: number, body: object) {
  const vendor = yield* brokenVendor({ status, body })
  const { audio } = yield* ProtocolAdapter
  const { transcription } = yield* Effect.orDie(Effect.fromNullishOr(audio?.get("openai")))
  const one = yield* Effect.orDie(Effect.fromNullishOr(transcription))
  const order = {
    upstreamModel: "whisper-1",
    body: { model: "listen", file: SOUND },
    sound: SOUND,
    isTranslation: false
  }
  return failureOf(yield* Effect.flip(one.transcribe(accountAt(vendor.url), order)))
})

const error = { message: "The file was refused", type: "invalid_request_error", code: "bad_order" }

layer(layerOverSockets)("the transcripts of openai", (it) => {
  it.effect("an error alone is a refusal", () =>
    Effect.gen(function* () {
      const { message } = error
      assert.deepStrictEqual(yield* failureAt(400, { error }), refused(400, { error }, { message }))
    })
  )

  it.effect.each([
    ["beside", { error, text: "calm" }],
    ["within", { error: { ...error, data: { text: "calm", usage: { seconds: 2 } } } }],
    ["in a list of", { error, results: [{ text: "calm" }] }]
  ] as const)("a transcript %s an error is an answer that could not be read", ([, body]) =>
    Effect.gen(function* () {
      for (const status of [400, 418, 500]) {
        assert.deepStrictEqual(yield* failureAt(status, body), lost("broken_answer", status))
      }
    })
  )
})
