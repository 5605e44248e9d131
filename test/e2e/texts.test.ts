import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { Completion, dataOf, talk, textCatalog, textOf } from "../support/textCatalog.ts"
import { ask, latestUsage } from "../support/texts.ts"

/** At 2 and 8 a million, in currency units. */
const costOf = (input: number, output: number) => ((input * 2 + output * 8) / 1e6).toString()

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`chat and embeddings (${kind})`, (it) => {
    it.effect("a text is charged by the vendor's count, input and output at their own prices", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* ask(who, talk("a lighthouse at dusk"))
        assert.strictEqual(answer.status, 200, answer.text)
        const { choices, usage } = yield* bodyAs(Completion, answer)
        assert.strictEqual(choices[0]?.message.role, "assistant")
        const input = usage?.prompt_tokens ?? 0
        const output = usage?.completion_tokens ?? 0
        assert.isAbove(input * output, 0)
        assert.deepStrictEqual(yield* latestUsage(who), {
          modality: "chat",
          input,
          output,
          unit: "token",
          unit_price: "0.000008",
          input_unit_price: "0.000002",
          charge: costOf(input, output),
          basis: "upstream_usage"
        })
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )

    it.effect("a stream brings the same text, the usage only to those who ask", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const whole = yield* bodyAs(Completion, yield* ask(who, talk("the same")))
        for (const wanted of [false, true]) {
          const options = wanted ? { stream_options: { include_usage: true } } : {}
          const answer = yield* ask(who, talk("the same", { stream: true, ...options }))
          assert.strictEqual(answer.headers.get("content-type"), "text/event-stream")
          assert.strictEqual(answer.headers.get("cache-control"), "no-store")
          const data = dataOf(answer.text)
          assert.strictEqual(data.at(-1), "[DONE]")
          assert.strictEqual(textOf(data), whole.choices[0]?.message.content)
          assert.strictEqual(answer.text.includes("usage"), wanted, answer.text)
          const used = yield* latestUsage(who)
          assert.strictEqual(used?.output, whole.usage?.completion_tokens)
          assert.strictEqual(used?.basis, "upstream_usage")
        }
        yield* gateway.verify
      })
    )

    it.effect("every field goes to the vendor unchanged but for the model", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        yield* gateway.simulator.clearRequests
        const order = talk("hello", {
          temperature: 0.2,
          tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
          seed: null
        })
        yield* ask(who, order)
        yield* ask(who, { ...order, stream: true, stream_options: { other: 1 } })
        const seen = yield* gateway.simulator.requests
        const sent = { ...order, model: "vendor-talk-1" }
        assert.deepStrictEqual(
          seen.map(({ body }) => body),
          [sent, { ...sent, stream: true, stream_options: { other: 1, include_usage: true } }]
        )
      })
    )

    it.effect("a model of image understanding takes images as content", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const content = [
          { type: "text", text: "what is this?" },
          { type: "image_url", image_url: { url: "https://media.test/a.png", detail: "low" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }
        ]
        const answer = yield* ask(who, { ...talk(content), model: "look-1" })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepInclude(yield* latestUsage(who), { modality: "vlm", input: 177 })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a text", "a lighthouse at dusk", 5],
      ["texts", ["one", "two"], 2],
      ["tokens", [1, 2, 3], 3],
      ["lists of tokens", [[1, 2, 3], [4]], 4]
    ] as const)("%s become vectors, charged by their tokens", ([, input, tokens]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* gateway.call("/v1/embeddings", {
          key: who.key,
          json: { model: "vector-1", input }
        })
        assert.deepNestedInclude(answer.body, { "data[0].object": "embedding" })
        assert.deepStrictEqual(yield* latestUsage(who), {
          modality: "embedding",
          input: tokens,
          output: 0,
          unit: "token",
          unit_price: "0.0000005",
          input_unit_price: "0.0000005",
          charge: ((tokens * 0.5) / 1e6).toFixed(7).replace(/0+$/, ""),
          basis: "upstream_usage"
        })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["sim:nousage", false],
      ["sim:nousage", true],
      ["sim:usage=-1", false],
      ["sim:usage=1.5", true],
      ["sim:usage=1e309", false],
      ["sim:usage=0", true]
    ] as const)(
      "a vendor's count that cannot be right (%s, stream %s) gives way to the formula",
      ([word, stream]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const prompt = `count ${word}`
          const answer = yield* ask(who, talk(prompt, { stream }))
          const text = stream
            ? textOf(dataOf(answer.text))
            : ((yield* bodyAs(Schema.Struct({ choices: Completion.fields.choices }), answer))
                .choices[0]?.message.content ?? "")
          assert.isAbove(text.length, 0)
          const input = 4 + Math.ceil(prompt.length / 3)
          const output = Math.ceil(text.length / 3)
          assert.deepInclude(yield* latestUsage(who), {
            input,
            output,
            charge: costOf(input, output),
            basis: "formula"
          })
          yield* gateway.verify
        })
    )

    it.effect.each([false, true])(
      "the most that an order can have is charged where the vendor counts more (stream %s)",
      (stream) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const prompt = "count sim:usage=9900000"
          yield* ask(who, talk(prompt, { stream, max_tokens: 100 }))
          const [input, output] = [1024 + 16 + prompt.length, 100 + 16]
          assert.deepInclude(yield* latestUsage(who), {
            input,
            output,
            charge: costOf(input, output),
            basis: "largest_plausible"
          })
          yield* gateway.verify
        })
    )

    it.effect("text beyond the client's bound is charged where the vendor does not count it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const order = talk("long sim:nousage", { stream: true, max_tokens: 1 })
        const text = textOf(dataOf((yield* ask(who, order)).text))
        assert.isAbove(text.length, 3)
        assert.deepInclude(yield* latestUsage(who), {
          output: Math.ceil(text.length / 3),
          basis: "formula"
        })
        yield* gateway.verify
      })
    )

    it.effect("what is not paid for is refused as for every other order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const before = (yield* gateway.simulator.book).length
        const poor = yield* gateway.customer("0.0001")
        const few = yield* ask(poor, talk("hello"))
        assert.strictEqual(few.status, 402, few.text)
        const capped = yield* gateway.customer("1", { monthlyCap: "0.0001" })
        const over = yield* ask(capped, talk("hello", { stream: true }))
        assert.strictEqual(over.status, 429, over.text)
        assert.deepNestedInclude(over.body, { "error.code": "member_cap_exceeded" })
        assert.strictEqual((yield* gateway.simulator.book).length, before)
      })
    )

    it.effect("an answer is repeated for its key, and a stream only told to have been", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const order = talk("once")
        const first = yield* ask(who, order, { "idempotency-key": "k-1" })
        const again = yield* ask(who, order, { "idempotency-key": "k-1" })
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        const other = yield* ask(who, talk("twice"), { "idempotency-key": "k-1" })
        assert.strictEqual(other.status, 422)

        const stream = talk("once", { stream: true })
        yield* ask(who, stream, { "idempotency-key": "k-2" })
        const { balance } = yield* gateway.balance(who)
        const told = yield* ask(who, stream, { "idempotency-key": "k-2" })
        assert.strictEqual(told.status, 409, told.text)
        assert.strictEqual(told.headers.get("x-should-retry"), "false")
        assert.strictEqual((yield* gateway.balance(who)).balance, balance)

        const vector = { model: "vector-1", input: "x" }
        const options = { key: who.key, json: vector, headers: { "idempotency-key": "k-3" } }
        const made = yield* gateway.call("/v1/embeddings", options)
        assert.strictEqual((yield* gateway.call("/v1/embeddings", options)).text, made.text)
        yield* gateway.verify
      })
    )
  })
}
