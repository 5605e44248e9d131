import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { toDecimal } from "../support/amounts.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { quoteOf } from "../support/quotes.ts"
import { textCatalog } from "../support/textCatalog.ts"

const TextQuote = Schema.Struct({
  kind: Schema.String,
  modality: Schema.String,
  hold: Schema.String,
  expected_charge: Schema.String,
  unit_price: Schema.String,
  input_unit_price: Schema.String,
  formula: Schema.String,
  inputs: Schema.Struct({ input_tokens: Schema.Int, output_tokens: Schema.Int })
})

layer(layerTestGateway("postgres", undefined, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("quotes for text", (it) => {
  const messages = [{ role: "user", content: "Describe a lighthouse at dusk" }]
  const chat = { model: "talk-1", messages, max_tokens: 200 }

  it.effect("count input and output tokens, and are what the order holds", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const answer = yield* quoteOf(who, chat)
      assert.strictEqual(answer.status, 200, answer.text)
      const quote = yield* bodyAs(TextQuote, answer)
      assert.deepInclude(quote, {
        kind: "tokens",
        modality: "chat",
        unit_price: "0.000008",
        input_unit_price: "0.000002",
        expected_charge: quote.hold
      })
      const { input_tokens, output_tokens } = quote.inputs
      assert.strictEqual(output_tokens, 200)
      assert.strictEqual(quote.hold, toDecimal(BigInt(input_tokens * 2000 + 200 * 8000)))
      assert.strictEqual(
        quote.formula,
        `${input_tokens} input tokens x 0.000002 + 200 output tokens x 0.000008 = ${quote.hold}`
      )
      const ordered = yield* gateway.call("/v1/chat/completions", { key: who.key, json: chat })
      assert.strictEqual(ordered.status, 200, ordered.text)
      const Held = Schema.Struct({
        data: Schema.Array(Schema.Struct({ kind: Schema.String, amount: Schema.String }))
      })
      const journal = yield* bodyAs(
        Held,
        yield* gateway.admin(`/organizations/${who.organizationId}/ledger`)
      )
      const holds = journal.data.filter(({ kind }) => kind === "hold")
      assert.deepStrictEqual(holds, [{ kind: "hold", amount: quote.hold }])

      const embedding = yield* bodyAs(
        TextQuote,
        yield* quoteOf(who, { model: "vector-1", input: ["a lighthouse", "a harbour"] })
      )
      assert.deepInclude(embedding, { modality: "embedding", unit_price: "0.0000005" })
      assert.strictEqual(embedding.inputs.output_tokens, 0)
    })
  )

  it.effect("are refused as their orders are", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      for (const [path, json] of [
        ["chat/completions", { ...chat, messages: [] }],
        ["chat/completions", { ...chat, max_tokens: 0 }],
        ["chat/completions", { ...chat, model: "talk-unpriced" }],
        ["chat/completions", { ...chat, model: "talk-half-priced" }],
        ["chat/completions", { ...chat, model: "talk-strange" }],
        ["chat/completions", { ...chat, model: "talk-unmounted" }],
        ["embeddings", { model: "vector-1" }]
      ] as const) {
        const order = yield* gateway.call(`/v1/${path}`, { key: who.key, json })
        const quote = yield* quoteOf(who, json)
        assert.notStrictEqual(quote.status, 200, order.text)
        assert.deepStrictEqual([quote.status, quote.body], [order.status, order.body])
      }
      const talker = yield* gateway.customer("1", { key: { scopes: ["chat"] } })
      assert.strictEqual((yield* quoteOf(talker, chat)).status, 200)
      assert.strictEqual((yield* quoteOf(talker, { model: "vector-1", input: "x" })).status, 403)
    })
  )
})
