import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type AnswerBody,
  recallAnswer,
  type StoredRequest
} from "../../src/services/IdempotencyKeys.ts"

const key = { key: "k", fingerprint: "f" }
const remembered: AnswerBody = { choices: [] }
const kept = (streamed: boolean): StoredRequest => ({
  fingerprint: "f",
  holdId: "tx_1",
  answer: { _tag: "Text", streamed },
  holdIsOpen: false,
  taskState: null
})

it.effect("a text is answered again while it is remembered", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* recallAnswer(kept(false), key, remembered), {
      _tag: "Text",
      result: remembered
    })
  })
)

it.effect.each([
  ["a text nobody remembers", false, null],
  ["a stream, whatever an earlier request of the key was answered", true, remembered]
] as const)("%s is told to have been made", ([, streamed, answer]) =>
  Effect.gen(function* () {
    const recalled = yield* recallAnswer(kept(streamed), key, answer)
    assert(recalled._tag === "ChargedText")
    assert.strictEqual(recalled.orderId, "tx_1")
    assert.strictEqual(recalled.refusal._tag, "idempotency_conflict")
    assert.include(recalled.refusal.message, "made and charged, and is not kept")
  })
)
