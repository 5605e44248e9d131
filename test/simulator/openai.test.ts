import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { booked, json, read, send, unanswered } from "./support.ts"

const path = "/openai/v1/chat/completions"
const chat = (content: unknown, more: object = {}) => ({
  model: "m-1",
  messages: [{ role: "user", content }],
  ...more
})

const lookUp = { type: "function", function: { name: "look_up" } }
const impossible = {
  type: "function",
  function: { name: "look_up", parameters: { properties: { a: false }, required: ["a"] } }
}

const Counts = Schema.Struct({
  prompt_tokens: Schema.Int,
  completion_tokens: Schema.Int,
  total_tokens: Schema.Int
})
const Answer = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  choices: Schema.Array(
    Schema.Struct({
      message: Schema.Struct({ content: Schema.String }),
      finish_reason: Schema.String
    })
  ),
  usage: Schema.optionalKey(Counts)
})
const Vectors = Schema.Struct({
  data: Schema.Array(Schema.Struct({ embedding: Schema.Array(Schema.Number) })),
  usage: Schema.Struct({ prompt_tokens: Schema.Int })
})

const ask = (body: object) =>
  Effect.map(send("POST", path, { body }), (answer) => read(Answer, answer))

layer(layerSimulator({ port: 0 }), { excludeTestServices: true })("openai", (it) => {
  it.effect("the same prompt is answered the same, and counted in whole", () =>
    Effect.gen(function* () {
      const [first, again] = [yield* ask(chat("a boat")), yield* ask(chat("a boat"))]
      assert.deepStrictEqual(first.choices, again.choices)
      assert.notStrictEqual(first.id, again.id)
      const { usage } = first
      assert.strictEqual(usage?.prompt_tokens, 5)
      assert.strictEqual(
        usage?.completion_tokens,
        first.choices[0]?.message.content.split(" ").length
      )
      assert.strictEqual(usage?.total_tokens, 5 + (usage?.completion_tokens ?? 0))
    })
  )

  it.effect("a bound cuts every choice off", () =>
    Effect.gen(function* () {
      const { choices, usage } = yield* ask(chat("a boat", { n: 2, max_tokens: 3 }))
      assert.deepStrictEqual(
        choices.map(({ finish_reason }) => finish_reason),
        ["length", "length"]
      )
      assert.strictEqual(usage?.completion_tokens, 6)
    })
  )

  it.effect("a stream says the same, and counts when it is asked to", () =>
    Effect.gen(function* () {
      const whole = yield* ask(chat("a boat"))
      for (const include_usage of [true, false]) {
        const body = chat("a boat", { stream: true, stream_options: { include_usage } })
        const { text, headers } = yield* send("POST", path, { body })
        assert.strictEqual(headers.get("content-type"), "text/event-stream")
        const events = text.split("\n\n").map((event) => event.replace(/^data: /, ""))
        assert.deepStrictEqual(events.slice(-2), ["[DONE]", ""])
        const said = events.map((event) => /"delta":\{"content":"([^"]*)"/.exec(event)?.[1] ?? "")
        assert.strictEqual(said.join(""), whole.choices[0]?.message.content)
        assert.strictEqual(text.includes('"choices":[],"usage":{'), include_usage)
      }
    })
  )

  it.effect("a stop sequence ends the text before it", () =>
    Effect.gen(function* () {
      const [whole] = (yield* ask(chat("a boat"))).choices
      const text = whole?.message.content ?? ""
      for (const [stop, end] of [
        [text.slice(6, 9), 6],
        [["never", text.slice(9, 12), text.slice(4, 6)], 4],
        ["never", text.length]
      ] as const) {
        const { choices, usage } = yield* ask(chat("a boat", { stop }))
        assert.strictEqual(choices[0]?.message.content, text.slice(0, end))
        assert.strictEqual(choices[0]?.finish_reason, "stop")
        assert.strictEqual(usage?.completion_tokens, text.slice(0, end).trimEnd().split(" ").length)
      }
      const bounded = yield* ask(chat("a boat", { stop: text.slice(10), max_tokens: 2 }))
      assert.strictEqual(bounded.choices[0]?.finish_reason, "length")
    })
  )

  it.effect("an input is a vector, whatever its form", () =>
    Effect.gen(function* () {
      const rows = [
        ["a boat", 1, 2],
        [["a boat", "two"], 2, 3],
        [[1, 2, 3], 1, 3],
        [[[1, 2], [3]], 2, 3]
      ] as const
      for (const [input, vectors, tokens] of rows) {
        const body = { model: "m-1", input, dimensions: 4 }
        const { data, usage } = read(
          Vectors,
          yield* send("POST", "/openai/v1/embeddings", { body })
        )
        assert.deepStrictEqual(
          data.map(({ embedding }) => embedding.length),
          Array.from({ length: vectors }, () => 4)
        )
        assert.strictEqual(usage.prompt_tokens, tokens)
      }
    })
  )

  it.effect("a vector longer than any model's is refused, not made", () =>
    Effect.gen(function* () {
      const body = { model: "m-1", input: "a boat", dimensions: 2 ** 31 }
      const answer = yield* send("POST", "/openai/v1/embeddings", { body })
      assert.strictEqual(answer.status, 400)
    })
  )

  it.effect.each([
    [{ model: "m-1" }, 400, "messages"],
    [{ ...chat("x"), messages: [{ role: "poet", content: "x" }] }, 400, "messages[0].role"],
    [chat("x", { n: 0 }), 400, "n"],
    [chat("x", { top_logprobs: 2 }), 400, "top_logprobs"],
    [chat("x", { tool_choice: "required" }), 400, "tool_choice"],
    [
      chat("x", { tools: [lookUp], tool_choice: { type: "function", function: { name: "no" } } }),
      400,
      "tool_choice"
    ],
    [chat("x", { tools: [impossible] }), 400, "tools[0].function.parameters"],
    [
      chat("x", { response_format: { type: "json_schema", json_schema: { schema: false } } }),
      400,
      "response_format.json_schema.schema"
    ],
    [chat("x", { model: "missing-m" }), 404, "model"]
  ] as const)("%j is refused with %i", ([body, status, param]) =>
    Effect.gen(function* () {
      const answer = yield* send("POST", path, { body })
      assert.strictEqual(answer.status, status)
      assert.deepNestedInclude(json(answer), { "error.param": param })
    })
  )

  it.effect("a wrong key is refused and books nothing", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const answer = yield* send("POST", path, {
        body: chat("x"),
        authorization: "Bearer bad-key"
      })
      assert.strictEqual(answer.status, 401)
      assert.strictEqual((yield* booked).length, before)
    })
  )

  it.effect("switches break an answer off, and the job is booked all the same", () =>
    Effect.gen(function* () {
      const before = (yield* booked).length
      const stream = (word: string) => chat(`x ${word}`, { stream: true })
      assert.isTrue(yield* unanswered(path, chat("x sim:lost")))
      assert.isTrue(yield* unanswered(path, stream("sim:breaks=2")))
      const told = yield* send("POST", path, { body: stream("sim:errors=2") })
      assert.match(told.text, /"error":\{[^}]*\}\}\n\n$/)
      assert.isTrue(yield* unanswered(path, stream("sim:stalls=2"), AbortSignal.timeout(200)))
      const entries = (yield* booked).slice(before)
      assert.deepStrictEqual(
        entries.map(({ event, kind }) => `${event} ${kind}`),
        Array.from({ length: 4 }, () => ["accepted text", "succeeded text"]).flat()
      )
    })
  )

  it.effect("a count may be left out or be nonsense", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* ask(chat("x sim:nousage"))).usage)
      const { text } = yield* send("POST", path, { body: chat("x sim:usage=1e309") })
      assert.include(text, '"completion_tokens":1e309')
    })
  )

  it.effect("the request is kept as it came", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      yield* simulator.clearRequests
      const body = chat("a boat", { seed: 7 })
      yield* send("POST", path, { body })
      assert.deepStrictEqual((yield* simulator.requests)[0]?.body, body)
    })
  )
})
