import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { TextPiece } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, closedPort } from "../support/brokenVendor.ts"
import {
  adapter,
  bytesOf,
  chunk,
  counted,
  events,
  finish,
  good,
  order,
  speaking,
  sse,
  streamFrom,
  streamOf
} from "./chatStreams.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { API_KEY, accountAt, layerOverSockets, MAX_BYTES, named } from "./support.ts"

layer(layerOverSockets)("when a stream of openai is whole", (it) => {
  it.effect("a stream that closes in the words after a count is broken off", () =>
    Effect.gen(function* () {
      const { failure } = yield* streamOf(sse(events(counted, speaking(0))))
      assert.deepStrictEqual(failure, lost("broken_answer", 200))
    })
  )

  it.effect.each(
    named([
      { says: "a finish reason", body: events(chunk({ content: "y" }), finish) },
      { says: "a count", body: events(chunk({ content: "y" }), counted) },
      { says: "a [DONE] without its blank line", body: `${events(finish)}data: [DONE]` }
    ])
  )("a stream that closes after %s is whole", ([, { body }]) =>
    Effect.gen(function* () {
      assert.isNull((yield* streamOf(sse(body))).failure)
    })
  )

  it.effect.each(["[DONE] ", " [DONE]", "\t[DONE]\t", "[DONE]\ndata:"])(
    "an end with space around it (%j) is the end, and no event",
    (end) =>
      Effect.gen(function* () {
        const said = events(chunk({ content: "y" }))
        const { text, failure } = yield* streamOf(sse(said + events(end)))
        assert.strictEqual(text, said)
        assert.isNull(failure)
      })
  )

  it.effect("a stream is whole when each of its choices has ended", () =>
    Effect.gen(function* () {
      const one = yield* streamOf(sse(events(finish)), { n: 2 })
      assert.deepStrictEqual(one.failure, lost("broken_answer", 200))
    })
  )

  it.effect("an error event ends the stream in the vendor's words, our key hidden", () =>
    Effect.gen(function* () {
      const said = { error: { message: "no more, sk-1", code: "overloaded" } }
      const vendor = yield* brokenVendor(
        sse(events(chunk({ content: "a" }), JSON.stringify(said), chunk({ content: "b" })))
      )
      const pieces: Array<TextPiece> = []
      const failure = yield* Effect.flip(
        (yield* adapter).stream(accountAt(vendor.url, "sk-1"), order, (taken) =>
          Effect.sync(() => void pieces.push(...taken))
        )
      )
      assert.deepStrictEqual(
        failureOf(failure),
        refused(
          200,
          { error: { message: "no more, [redacted]", code: "overloaded" } },
          { effectiveStatus: 502, message: "no more, [redacted]" }
        )
      )
      assert.strictEqual(bytesOf(pieces), events(chunk({ content: "a" })))
    })
  )

  it.effect("an error beside empty choices costs nothing, and our key is not told", () =>
    Effect.gen(function* () {
      const both = chunk({ content: "" }, { error: { message: `no ${API_KEY}`, code: "x" } })
      const { pieces, failure } = yield* streamOf(sse(events(both)))
      assert.deepStrictEqual(pieces, [])
      assert.deepInclude(failure, { _tag: "VendorRefused", message: "no [redacted]" })
      const words = chunk({ content: "abc" }, { error: { message: API_KEY } })
      const { text } = yield* streamOf(sse(events(words)))
      assert.strictEqual(text, events(chunk({ content: "abc" })))
    })
  )

  it.effect("words beside an error are delivered before it", () =>
    Effect.gen(function* () {
      const both = chunk({ content: "abc" }, { error: { message: "no" } })
      const { pieces, failure } = yield* streamOf(sse(events(both)))
      assert.deepInclude(failure, { _tag: "VendorRefused", body: null })
      assert.strictEqual(pieces[0]?.outputBytes, 3)
    })
  )

  it.effect.each(
    named([
      { says: "JSON without a text", reply: { body: {} }, failure: lost("broken_answer", 200) },
      {
        says: "several texts of JSON",
        reply: sse(`${JSON.stringify(good)}\n${JSON.stringify(good)}\n`),
        failure: lost("broken_answer", 200)
      },
      {
        says: "a refusal",
        reply: { status: 400, body: { error: { message: "no" } } },
        failure: refused(400, { error: { message: "no" } }, { message: "no" })
      },
      {
        says: "an error in JSON",
        reply: { body: { error: { message: "no" } } },
        failure: refused(200, { error: { message: "no" } }, { effectiveStatus: 502, message: "no" })
      },
      {
        says: "a page",
        reply: { headers: { "content-type": "text/html" }, body: "<p>" },
        failure: lost("broken_answer", 200)
      },
      { says: "nothing", reply: sse(""), failure: lost("broken_answer", 200) },
      { says: "its end alone", reply: sse(events("[DONE]")), failure: lost("broken_answer", 200) },
      { says: "a count alone", reply: sse(events(counted)), failure: lost("broken_answer", 200) },
      {
        says: "a count and its end",
        reply: sse(events(counted, "[DONE]")),
        failure: lost("broken_answer", 200)
      },
      {
        says: "words with an empty finish reason",
        reply: sse(
          events(JSON.stringify({ choices: [{ delta: { content: "a" }, finish_reason: "" }] }))
        ),
        failure: lost("broken_answer", 200)
      },
      {
        says: "half a stream",
        reply: sse(events(chunk({ content: "a" }))),
        failure: lost("broken_answer", 200)
      },
      {
        says: "an endless line",
        reply: sse(`data: ${"x".repeat(MAX_BYTES)}`),
        failure: lost("broken_answer", 200)
      },
      { says: "a reset", reply: "reset" as const, failure: lost("connection_lost") },
      { says: "a cut answer", reply: "cut" as const, failure: lost("connection_lost", 200) }
    ])
  )("a stream that is %s fails", ([, { reply, failure }]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* streamOf(reply)).failure, failure)
    })
  )

  it.effect("nothing of a stream was sent to a closed port", () =>
    Effect.gen(function* () {
      const { failure } = yield* streamFrom(yield* closedPort)
      assert.deepStrictEqual(failure, { _tag: "VendorUnreachable" })
    })
  )
})
