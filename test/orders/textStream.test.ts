import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { lateSuccesses } from "../../src/services/metrics.ts"
import { ProtocolAdapter, type TextAdapter } from "../../src/services/ProtocolAdapter.ts"
import {
  type Customer,
  Ledger,
  layerGatewayTesting,
  TestingGateway,
  whileTimePasses
} from "../../src/testing/doubles.ts"

const chunk = (content: string) => ({
  event: new TextEncoder().encode(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
  ),
  usage: null,
  outputBytes: content.length
})

/** A gateway whose vendor of text streams so. */
const layerStreaming = (stream: TextAdapter["stream"]) =>
  layerGatewayTesting({
    replacing: Layer.effect(
      ProtocolAdapter,
      Effect.map(ProtocolAdapter, (doubles) => {
        const scripted = doubles.text.get("openai")
        return scripted === undefined
          ? doubles
          : { ...doubles, text: new Map([["openai", { ...scripted, stream }]]) }
      })
    )
  })

/** What came of a stream until it ended or broke. */
const streamTo = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* TestingGateway
  return yield* Effect.promise(async () => {
    const answer = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "talk-1",
        messages: [{ role: "user", content: "hello" }],
        max_tokens: 100,
        stream: true
      })
    })
    let text = ""
    try {
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece
      }
    } catch {
      return { text, broken: true }
    }
    return { text, broken: false }
  })
})

const movements = ({ organizationId }: Customer) =>
  Effect.flatMap(Ledger, (ledger) =>
    Effect.map(ledger.journal(organizationId, { after: null, limit: 100 }), ({ data }) =>
      data.slice(0, -1).map(({ kind, amountNano }) => `${kind} ${amountNano}`)
    )
  )

const lateTexts = Effect.map(
  Metric.value(
    Metric.withAttributes(lateSuccesses, { protocol: "openai", channel: "demo-openai" })
  ),
  ({ count }) => count
)

describe("a text that is streamed", () => {
  it.effect("may take longer than a whole one, and is charged", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const { text, broken } = yield* whileTimePasses(streamTo(who), "1 minute")
      assert.isFalse(broken)
      assert.include(text, "[DONE]")
      assert.deepStrictEqual(yield* movements(who), [
        "release 812000",
        "capture 180000",
        "hold 812000"
      ])
    }).pipe(
      Effect.provide(
        layerStreaming(
          Effect.fnUntraced(function* (_account, _order, take) {
            yield* take([chunk("twelve bytes")])
            yield* Effect.sleep("40 minutes")
            const usage = { inputTokens: 10n, outputTokens: 20n }
            yield* take([{ event: null, usage, outputBytes: 0 }])
          })
        )
      )
    )
  )

  it.effect("is given up at its own deadline", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const lateBefore = yield* lateTexts
      const streaming = yield* Effect.forkChild(streamTo(who), { startImmediately: true })
      while ((yield* movements(who)).length === 0) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(yield* movements(who), ["hold 812000"])
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* movements(who), ["release 812000", "hold 812000"])
      const { text } = yield* whileTimePasses(Fiber.join(streaming), "1 minute")
      assert.include(text, "after the request had been given up")
      assert.strictEqual((yield* lateTexts) - lateBefore, 1)
    }).pipe(Effect.provide(layerStreaming(() => Effect.sleep("65 minutes"))))
  )

  it.effect("is charged by its size when our own fault breaks it off", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const { text } = yield* streamTo(who)
      assert.include(text, "twelve bytes")
      assert.notInclude(text, "[DONE]")
      assert.deepStrictEqual(yield* movements(who), [
        "release 812000",
        "capture 44000",
        "hold 812000"
      ])
    }).pipe(
      Effect.provide(
        layerStreaming((_account, _order, take) =>
          Effect.andThen(take([chunk("twelve bytes")]), Effect.die(new Error("a defect")))
        )
      )
    )
  )
})
