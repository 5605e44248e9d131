import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ChatBody } from "../../src/domain/text/TextRequest.ts"
import type { TextPiece } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, closedPort, type Reply } from "../support/brokenVendor.ts"
import { heldStream } from "../support/heldStream.ts"
import { failureOf, lost, refused } from "./failures.ts"
import {
  API_KEY,
  accountAt,
  layerOverSockets,
  limitSeconds,
  MAX_BYTES,
  named,
  runOutOfTime,
  textAdapter
} from "./support.ts"

const adapter = textAdapter("openai")
const chat: ChatBody = { model: "our-model", messages: [{ role: "user", content: "hello" }] }
const order = { upstreamModel: "m-1", body: chat }

const said = { index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }
const good = { id: "c-1", choices: [said], usage: { prompt_tokens: 3, completion_tokens: 2 } }

const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({ id: "c-1", choices: [{ index: 0, delta, finish_reason: null }], ...more })
const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
const counted = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })
const events = (...data: ReadonlyArray<string>) => data.map((one) => `data: ${one}\n\n`).join("")

const sse = (body: string): Reply => ({
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  body
})

const bytesOf = (pieces: ReadonlyArray<TextPiece>) =>
  pieces.map(({ event }) => (event === null ? "" : Buffer.from(event).toString())).join("")

/** The pieces of a stream, and what became of it. */
const streamFrom = Effect.fnUntraced(function* (baseUrl: string, more: Partial<ChatBody> = {}) {
  const pieces: Array<TextPiece> = []
  const result = yield* Effect.result(
    (yield* adapter).stream(
      accountAt(baseUrl),
      { upstreamModel: "m-1", body: { ...chat, stream: true, ...more } },
      (piece) => Effect.sync(() => void pieces.push(piece))
    )
  )
  return {
    pieces,
    text: bytesOf(pieces),
    failure: result._tag === "Failure" ? failureOf(result.failure) : null
  }
})

const streamOf = (reply: Reply, more: Partial<ChatBody> = {}) =>
  Effect.flatMap(brokenVendor(reply), ({ url }) => streamFrom(url, more))

layer(layerOverSockets)("streams of openai", (it) => {
  it.effect("a stream comes byte for byte, and the usage nobody asked for is left out", () =>
    Effect.gen(function* () {
      const first = `data: ${chunk({ role: "assistant", content: "" })}\r\n\r\n`
      const before = `:\n\n${first}`
      const spoken = events(chunk({ content: "hé" }), "{}", "no json")
      const reply = sse(
        `: wait\r\n\r\n${first}${spoken}${events(chunk({ content: "y" }, { usage: null }), finish, counted, "[DONE]")}`
      )
      const plain = yield* streamOf(reply)
      assert.isNull(plain.failure)
      assert.strictEqual(plain.text, `${before}${spoken}${events(chunk({ content: "y" }), finish)}`)
      const asked = yield* streamOf(reply, { stream_options: { include_usage: true } })
      assert.strictEqual(
        asked.text,
        `${before}${spoken}${events(chunk({ content: "y" }, { usage: null }), finish, counted)}`
      )
      for (const { pieces } of [plain, asked]) {
        assert.strictEqual(
          pieces.reduce((sum, { outputBytes }) => sum + outputBytes, 0),
          4 + "data: no json\n\n".length
        )
        assert.deepStrictEqual(
          pieces.flatMap(({ usage }) => usage ?? []),
          [{ inputTokens: 3n, outputTokens: 2n }]
        )
      }
    })
  )

  const usage = { prompt_tokens: 1, completion_tokens: 1 }
  const ending = (index: number, more: object = {}) =>
    JSON.stringify({ choices: [{ index, delta: {}, finish_reason: "stop" }], ...more })
  const speaking = (index: number, more: object = {}) =>
    JSON.stringify({ choices: [{ index, delta: { content: "y" } }], ...more })

  it.effect("usage beside an event of the client's is taken out of it alone", () =>
    Effect.gen(function* () {
      const counting = events(speaking(0, { usage }), ending(0, { usage }), "[DONE]")
      const { pieces, text } = yield* streamOf(sse(counting))
      assert.strictEqual(text, events(speaking(0), ending(0)))
      assert.deepStrictEqual(
        pieces.map((piece) => piece.usage),
        [null, { inputTokens: 1n, outputTokens: 1n }]
      )
    })
  )

  it.effect.each(
    named([
      { says: "beside words", said: [speaking(0, { usage }), ending(0)], counts: [false, false] },
      { says: "beside the end", said: [speaking(0), ending(0, { usage })], counts: [false, true] },
      {
        says: "after the end",
        said: [speaking(0), ending(0), JSON.stringify({ choices: [{ index: 0 }], usage })],
        counts: [false, false, true]
      },
      { says: "alone", said: [speaking(0), ending(0), counted], counts: [false, false, true] },
      {
        says: "beside the end of one of two choices",
        said: [speaking(0), speaking(1), ending(0, { usage }), ending(1, { usage })],
        counts: [false, false, false, true]
      }
    ])
  )("usage %s counts where nothing more can be written", ([, { said, counts }]) =>
    Effect.gen(function* () {
      const { pieces } = yield* streamOf(sse(events(...said, "[DONE]")))
      assert.deepStrictEqual(
        pieces.map((piece) => piece.usage !== null),
        counts
      )
    })
  )

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

  it.effect("the end is not waited on, and the connection closed when nothing follows it", () =>
    Effect.gen(function* () {
      const vendor = yield* heldStream
      const streaming = yield* Effect.forkChild(streamFrom(vendor.url))
      yield* vendor.write(events(chunk({ content: "y" }), finish, "[DONE]"))
      assert.isNull((yield* Fiber.join(streaming)).failure)
      yield* TestClock.adjust("250 millis")
      yield* vendor.closed
    })
  )

  it.effect("a connection whose answer ends soon after its end is used again", () =>
    Effect.gen(function* () {
      const vendor = yield* heldStream
      const ask = Effect.gen(function* () {
        const streaming = yield* Effect.forkChild(streamFrom(vendor.url))
        yield* vendor.write(events(chunk({ content: "y" }), finish, "[DONE]"))
        yield* Fiber.join(streaming)
        const port = yield* vendor.clientPort
        yield* vendor.end
        return port
      })
      const first = yield* ask
      yield* Effect.repeat(ask, { until: (port) => port === first })
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
        (yield* adapter).stream(accountAt(vendor.url, "sk-1"), order, (piece) =>
          Effect.sync(() => void pieces.push(piece))
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

  it.effect("a text that comes whole is delivered as events, and counted by its usage", () =>
    Effect.gen(function* () {
      const calls = [{ id: "call-1", type: "function", function: { name: "f", arguments: "{}" } }]
      const message = { role: "assistant", content: "hello", tool_calls: calls }
      const whole = { ...good, object: "chat.completion", choices: [{ ...said, message }] }
      for (const reply of [{ body: whole }, sse(JSON.stringify(whole))]) {
        const { pieces, text, failure } = yield* streamOf(reply)
        assert.isNull(failure)
        const delta = { ...message, tool_calls: [{ index: 0, ...calls[0] }] }
        assert.deepStrictEqual(text.split("\n\n"), [
          `data: ${JSON.stringify({
            id: "c-1",
            object: "chat.completion.chunk",
            choices: [{ index: 0, finish_reason: "stop", delta }]
          })}`,
          ""
        ])
        assert.deepStrictEqual(
          pieces.map(({ usage }) => usage),
          [{ inputTokens: 3n, outputTokens: 2n }]
        )
        const { text: counting } = yield* streamOf(reply, {
          stream_options: { include_usage: true }
        })
        assert.include(counting, JSON.stringify(good.usage))
      }
    })
  )

  it.effect("events are known by what they begin with, whatever they are said to be", () =>
    Effect.gen(function* () {
      const body = events(chunk({ content: "a" }), finish, "[DONE]")
      const types = [{}, { "content-type": "application/json" }, { "content-type": "text/plain" }]
      for (const headers of types) {
        for (const before of ["", "\uFEFF", "\n\n", ": hello\n\n"]) {
          const { pieces, failure } = yield* streamOf({ headers, body: `${before}${body}` })
          assert.isNull(failure)
          assert.strictEqual(
            pieces.reduce((sum, { outputBytes }) => sum + outputBytes, 0),
            1
          )
        }
      }
    })
  )

  it.effect("lines may end with CR, LF or both", () =>
    Effect.gen(function* () {
      const body = events(
        chunk({ content: "a" }),
        chunk({ content: "b" }),
        finish,
        counted,
        "[DONE]"
      )
      for (const end of ["\n", "\r", "\r\n"]) {
        const { pieces, failure } = yield* streamOf(sse(body.replaceAll("\n", end)))
        assert.isNull(failure)
        assert.deepStrictEqual(
          pieces.map(({ outputBytes }) => outputBytes),
          [1, 1, 0, 0]
        )
      }
    })
  )

  it.effect("what is no text as we know it counts by its size, unless it says nothing", () =>
    Effect.gen(function* () {
      const strange = [
        "no json",
        JSON.stringify({ type: "response.output_text.delta", delta: "abc" }),
        `{"choices":${"[".repeat(100)}${"]".repeat(100)}}`
      ]
      const silent = ["{}", JSON.stringify({ type: "ping" })]
      const body = events(...strange, ...silent, finish, "[DONE]")
      const { pieces, failure } = yield* streamOf(sse(body))
      assert.isNull(failure)
      assert.deepStrictEqual(
        pieces.map(({ outputBytes }) => outputBytes),
        [...strange.map((data) => events(data).length), 0, 0, 0]
      )
    })
  )

  it.effect("names of events and comments are not handed on, as they may be text", () =>
    Effect.gen(function* () {
      const said = chunk({ content: "a" })
      const body = `event: more text\n: and more\ndata: ${said}\n\n${events(finish, "[DONE]")}`
      const { text } = yield* streamOf(sse(body))
      assert.strictEqual(text, events(said, finish))
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

  it.effect("a code 0 is no error, and a request's name is no text", () =>
    Effect.gen(function* () {
      const ok = chunk({ content: "a" }, { error: { code: 0, message: "" }, request_id: "r-1" })
      const { pieces, failure } = yield* streamOf(sse(events(ok, finish, "[DONE]")))
      assert.isNull(failure)
      assert.deepStrictEqual(
        pieces.map(({ outputBytes }) => outputBytes),
        [1, 0]
      )
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
      { says: "a cut answer", reply: "cut" as const, failure: lost("connection_lost") }
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

  it.effect("a vendor that keeps a stream waiting is lost at its limit", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor("hang")
      const { stream } = yield* adapter
      const failure = yield* runOutOfTime(
        stream(accountAt(vendor.url), order, () => Effect.void),
        vendor,
        limitSeconds.streamBegin
      )
      assert.deepStrictEqual(failureOf(failure), lost("timeout"))
    })
  )

  /** A stream that writes a word every so many seconds, until so many seconds are over. */
  const slowly = Effect.fnUntraced(function* (pauseSeconds: number, totalSeconds: number) {
    const vendor = yield* heldStream
    let taken = 0
    const { stream } = yield* adapter
    const streaming = yield* Effect.forkChild(
      Effect.result(
        stream(accountAt(vendor.url), order, () =>
          Effect.sync(() => {
            taken += 1
          })
        )
      )
    )
    const speak = Effect.fnUntraced(function* (text: string) {
      const before = taken
      yield* vendor.write(text)
      while (taken === before && streaming.pollUnsafe() === undefined) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
    })
    yield* speak(events(chunk({ content: "a" })))
    for (let seconds = pauseSeconds; seconds <= totalSeconds; seconds += pauseSeconds) {
      yield* TestClock.adjust(Duration.seconds(pauseSeconds))
      yield* speak(events(chunk({ content: "b" })))
    }
    return { vendor, streaming }
  })

  it.effect("a stream may take longer than a whole answer while it goes on", () =>
    Effect.gen(function* () {
      const { vendor, streaming } = yield* slowly(2, 26)
      yield* vendor.write(events(finish, "[DONE]"))
      const result = yield* Fiber.join(streaming)
      assert.strictEqual(result._tag, "Success")
    })
  )

  it.effect.each(
    named([
      { says: "goes silent", pause: 2, total: 4, last: limitSeconds.streamIdle },
      { says: "never ends", pause: 2, total: 28, last: 1 }
    ])
  )("a stream that %s is lost at its limit", ([, { pause, total, last }]) =>
    Effect.gen(function* () {
      const { streaming } = yield* slowly(pause, total)
      yield* TestClock.adjust(Duration.millis(last * 1000 - 1))
      assert.isUndefined(streaming.pollUnsafe())
      yield* TestClock.adjust("1 milli")
      const failure = yield* Effect.flip(Effect.fromResult(yield* Fiber.join(streaming)))
      assert.deepStrictEqual(failureOf(failure), lost("timeout"))
    })
  )

  it.effect("the time a client takes is not the vendor's", () =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(sse(events(chunk({ content: "a" }), finish, "[DONE]")))
      const { stream } = yield* adapter
      const fiber = yield* Effect.forkChild(
        stream(accountAt(vendor.url), order, () => Effect.sleep("1 hour"))
      )
      yield* vendor.replied
      while (fiber.pollUnsafe() === undefined) {
        yield* TestClock.adjust("1 hour")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      yield* Fiber.join(fiber)
    })
  )
})
