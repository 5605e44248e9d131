import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Orphans } from "../../src/services/Orphans.ts"
import { ProtocolAdapter, type TextAnswer } from "../../src/services/ProtocolAdapter.ts"
import { Ledger, layerGatewayTesting, TestingGateway } from "../../src/testing/doubles.ts"
import { openOrphans } from "../support/filters.ts"

/** What comes of an order of a text whose vendor answers so. */
const answered = (made: TextAnswer) => {
  const replacing = Layer.effect(
    ProtocolAdapter,
    Effect.map(ProtocolAdapter, (doubles) => {
      const scripted = doubles.text.get("openai")
      const complete = () => Effect.succeed(made)
      return scripted === undefined
        ? doubles
        : { ...doubles, text: new Map([["openai", { ...scripted, complete }]]) }
    })
  )
  return Effect.gen(function* () {
    const gateway = yield* TestingGateway
    const ledger = yield* Ledger
    const who = yield* gateway.customer()
    const { status } = yield* gateway.call("/v1/chat/completions", {
      key: who.key,
      json: { model: "talk-1", messages: [{ role: "user", content: "hello" }], max_tokens: 100 }
    })
    const { data } = yield* ledger.journal(who.organizationId, { after: null, limit: 100 })
    const orphans = yield* (yield* Orphans).list(openOrphans, { after: null, limit: 10 })
    return {
      status,
      movements: data.slice(0, -1).map(({ kind }) => kind),
      orphans: orphans.data.map(({ reason }) => reason)
    }
  }).pipe(Effect.provide(layerGatewayTesting({ replacing })), Effect.scoped)
}

const ended = (finish_reason: string, content: string) => ({
  choices: [{ index: 0, finish_reason, message: { role: "assistant", content } }]
})

describe("a vendor's answer that says it failed", () => {
  it.effect("costs nothing where it has neither words nor a count, and leaves an orphan", () =>
    Effect.gen(function* () {
      const outcome = yield* answered({ result: ended("error", ""), usage: null, outputBytes: 0 })
      assert.deepStrictEqual(outcome, {
        status: 502,
        movements: ["release", "hold"],
        orphans: ["vendor_error"]
      })
    })
  )

  it.effect.each([
    ["some words", { result: ended("error", "hel"), usage: null, outputBytes: 3 }],
    [
      "a count",
      {
        result: ended("error", ""),
        usage: { inputTokens: 9n, outputTokens: 0n },
        outputBytes: 0
      }
    ],
    ["an end that is none", { result: ended("stop", ""), usage: null, outputBytes: 0 }]
  ] as const)("is answered and charged with %s", ([, made]) =>
    Effect.gen(function* () {
      const outcome = yield* answered(made)
      assert.deepStrictEqual(outcome, {
        status: 200,
        movements: ["release", "capture", "hold"],
        orphans: []
      })
    })
  )
})
