/** What the clients of the Messages API promise, over a vendor that has chats alone. */
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { usesAiModel, Weather } from "../support/aiModels.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { done, rejection } from "../support/officialClients.ts"

const model = "talk-1"
const weatherTool = {
  name: "weather",
  description: "The weather of a city",
  input_schema: {
    type: "object" as const,
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"]
  }
}
const question = { role: "user" as const, content: "the weather?" }

/** The package with nothing but an address and a key, and what the test says. */
const anthropicOf = (who: Customer, options: ClientOptions = {}) =>
  Effect.map(Gateway, ({ url }) => new Anthropic({ baseURL: url, apiKey: who.key, ...options }))

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ charge: Schema.String, model: Schema.String }))
})

const chargesOf = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    Effect.flatMap(gateway.call("/v1/usage", { key: who.key }), (answer) =>
      Effect.map(bodyAs(Usage, answer), ({ data }) => data.map(({ charge }) => charge))
    )
  )

layer(layerTestGateway("embedded", quickSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the clients of messages", (it) => {
  it.effect("anthropic writes a text, whole and as a stream, for the price of a chat", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* anthropicOf(who)
      const order = {
        model,
        max_tokens: 100,
        system: "Be brief",
        messages: [{ role: "user" as const, content: "a lighthouse at dusk" }],
        metadata: { user_id: "u-1" }
      }
      const whole = yield* done(() => client.messages.create(order))
      assert.deepInclude(whole, { type: "message", role: "assistant", stop_reason: "end_turn" })
      assert.match(whole.id, /^msg_[0-9a-f]{32}$/)
      assert.isAbove(whole.usage.output_tokens, 0)
      const { types, text, final } = yield* done(async () => {
        const stream = client.messages.stream(order)
        const types: Array<string> = []
        let text = ""
        stream.on("text", (piece) => {
          text += piece
        })
        for await (const event of stream) types.push(event.type)
        return { types, text, final: await stream.finalMessage() }
      })
      assert.deepStrictEqual([types[0], types.at(-1)], ["message_start", "message_stop"])
      assert.deepStrictEqual(
        final.content.map((block) => (block.type === "text" ? block.text : "")),
        [text]
      )
      assert.deepStrictEqual(final.content, whole.content)
      assert.deepInclude(final.usage, { ...whole.usage })
      const chat = yield* gateway.call("/v1/chat/completions", {
        key: who.key,
        json: {
          model,
          max_tokens: 100,
          messages: [{ role: "system", content: "Be brief" }, ...order.messages]
        }
      })
      assert.strictEqual(chat.status, 200)
      const charges = yield* chargesOf(who)
      assert.lengthOf(charges, 3)
      assert.lengthOf(new Set(charges), 1)
      const tagged = yield* gateway.call("/v1/usage?tag=user_id%3Du-1", { key: who.key })
      assert.lengthOf((yield* bodyAs(Usage, tagged)).data, 2)
    })
  )

  it.effect("anthropic calls tools with thoughts, and sends their results and pictures", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* anthropicOf(yield* gateway.customer("10"))
      const order = {
        model,
        max_tokens: 4096,
        tools: [weatherTool],
        thinking: { type: "enabled" as const, budget_tokens: 1024 }
      }
      const called = yield* done(() =>
        client.messages.stream({ ...order, messages: [question] }).finalMessage()
      )
      assert.strictEqual(called.stop_reason, "tool_use")
      assert.deepStrictEqual(
        called.content.map(({ type }) => type),
        ["thinking", "tool_use"]
      )
      const call = called.content.find((block) => block.type === "tool_use")
      Weather.parse(call?.input)
      const whole = yield* done(() =>
        client.messages.create({ ...order, messages: [question], tool_choice: { type: "any" } })
      )
      assert.deepStrictEqual(
        whole.content.map((block) => (block.type === "tool_use" ? block.input : block.type)),
        ["thinking", call?.input]
      )
      const answer = yield* done(() =>
        client.messages.create({
          ...order,
          messages: [
            question,
            { role: "assistant", content: called.content },
            {
              role: "user",
              content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "rain" }]
            }
          ]
        })
      )
      assert.strictEqual(answer.stop_reason, "end_turn")
      const image = { type: "url" as const, url: "https://media.test/1.png" }
      const seen = yield* done(() =>
        client.messages.create({
          model,
          max_tokens: 100,
          messages: [{ role: "user", content: [{ type: "image", source: image }] }]
        })
      )
      assert.isAbove(seen.usage.input_tokens, 85)
      const cut = yield* done(() =>
        client.messages.create({ model, max_tokens: 3, messages: [question] })
      )
      assert.strictEqual(cut.stop_reason, "max_tokens")
    })
  )

  it.effect("anthropic raises its own errors, which have the gateway's fields", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("0.000001")
      const client = yield* anthropicOf(who)
      const order = { model, max_tokens: 100, messages: [question] }
      const errorOf = (start: () => PromiseLike<unknown>) =>
        Effect.map(rejection(start), (error) => {
          assert.instanceOf(error, Anthropic.APIError)
          return error
        })
      const poor = yield* errorOf(() => client.messages.create(order))
      assert.deepNestedInclude(poor, {
        status: 402,
        "error.type": "error",
        "error.error.type": "billing_error",
        "error.error.code": "insufficient_balance"
      })
      const unknown = yield* errorOf(() => client.messages.create({ ...order, model: "none" }))
      assert.instanceOf(unknown, Anthropic.NotFoundError)
      assert.deepNestedInclude(unknown, { "error.error.type": "not_found_error" })
      const refused = yield* errorOf(() =>
        client.messages.create({
          ...order,
          tools: [{ type: "web_search_20250305", name: "web_search" }]
        })
      )
      assert.instanceOf(refused, Anthropic.BadRequestError)
      assert.deepNestedInclude(refused, { "error.error.param": "tools[0].type" })
      const stranger = yield* anthropicOf({ ...who, key: "mg_none" })
      assert.instanceOf(
        yield* errorOf(() => stranger.messages.create(order)),
        Anthropic.AuthenticationError
      )
      const bearer = yield* anthropicOf(who, { apiKey: null, authToken: who.key })
      assert.deepInclude(yield* errorOf(() => bearer.messages.create(order)), { status: 402 })
      // Whoever does not name that API's version reads errors as on every other route.
      const json = { ...order, max_tokens: 0 }
      const own = yield* gateway.call("/v1/messages", { key: who.key, json })
      assert.notProperty(own.body, "type")
      assert.deepNestedInclude(own.body, {
        "error.type": "invalid_request_error",
        "error.param": "max_tokens"
      })
      // The header is of this route alone.
      const elsewhere = yield* gateway.call("/v1/chat/completions", {
        json: order,
        headers: { "x-api-key": who.key }
      })
      assert.strictEqual(elsewhere.status, 401)
      assert.deepStrictEqual(yield* chargesOf(who), [])
    })
  )

  it.effect("a stream that breaks off ends with an error, and is charged for its text", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* anthropicOf(who, { maxRetries: 0 })
      const messages = [{ role: "user" as const, content: "x sim:breaks=8" }]
      let text = ""
      const error = yield* rejection(() =>
        client.messages
          .stream({ model, max_tokens: 100, messages })
          .on("text", (piece) => {
            text += piece
          })
          .finalMessage()
      )
      assert.isNotEmpty(text)
      assert.deepNestedInclude(error, {
        "error.type": "error",
        "error.error.type": "api_error",
        "error.error.code": "upstream_error"
      })
      assert.lengthOf(yield* chargesOf(who), 1)
      yield* gateway.verify
    })
  )

  it.effect("a message is quoted as it is charged, and ordered once by its key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const json = { model, max_tokens: 50, system: "Be brief", messages: [question] }
      const Quote = Schema.Struct({ hold: Schema.String })
      const quote = yield* bodyAs(Quote, yield* gateway.call("/v1/quotes", { key: who.key, json }))
      const { system, messages, ...rest } = json
      const chat = { ...rest, messages: [{ role: "system", content: system }, ...messages] }
      assert.deepStrictEqual(
        quote,
        yield* bodyAs(Quote, yield* gateway.call("/v1/quotes", { key: who.key, json: chat }))
      )
      const order = (json: object) =>
        gateway.call("/v1/messages", { key: who.key, json, headers: { "idempotency-key": "k" } })
      const first = yield* order(json)
      const again = yield* order(json)
      assert.deepStrictEqual([first.status, again.status], [200, 200], first.text)
      assert.deepStrictEqual(again.body, first.body)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.lengthOf(yield* chargesOf(who), 1)
      assert.strictEqual((yield* order({ ...json, max_tokens: 51 })).status, 422)
    })
  )

  it.effect("the AI SDK's model of Anthropic calls tools, streams, and makes objects", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("10")
      const anthropic = createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: key })
      yield* usesAiModel(anthropic(model))
    })
  )
})
