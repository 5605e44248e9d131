import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  chunk,
  counted,
  ending,
  events,
  finish,
  good,
  said,
  speaking,
  sse,
  streamOf,
  usage
} from "./chatStreams.ts"
import { layerOverSockets, named } from "./support.ts"

layer(layerOverSockets)("what a stream of openai says and counts", (it) => {
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
})
