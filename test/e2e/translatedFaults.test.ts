/** Requests that are translated to chats are refused by their own fields. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"
import { respond, responsesCatalog } from "../support/responses.ts"

/** More tokens than are waited for, and more than one answer may have. */
const LONG = 30_000
const MAX_ANSWER_BYTES = 20 * 1024 * 1024
const thought = { type: "reasoning", id: "rs_1", summary: [] }
const thinking = {
  role: "assistant",
  content: [{ type: "thinking", thinking: "x", signature: "" }]
}

const message = (content: unknown, more: object = {}) => ({
  model: "talk-1",
  max_tokens: 100,
  messages: [{ role: "user", content }],
  ...more
})

type Row = readonly [
  name: string,
  path: "/v1/responses" | "/v1/messages",
  json: object,
  param: string
]

const refused: ReadonlyArray<Row> = [
  ...["talk-1", "talk-own"].flatMap((model): ReadonlyArray<Row> => {
    const row = (name: string, json: object, param: string): Row => [
      `${name} (${model})`,
      "/v1/responses",
      { ...json, model },
      param
    ]
    return [
      row("a late response", respond("x", { max_output_tokens: LONG }), "max_output_tokens"),
      row(
        "a large response",
        respond("x", { max_output_tokens: 15_000, top_logprobs: 20 }),
        "max_output_tokens"
      ),
      row(
        "a bound of another name",
        respond("x", { max_output_tokens: 1, max_new_tokens: LONG }),
        "max_new_tokens"
      ),
      row("no items", respond([]), "input"),
      row("reasoning alone", respond([thought]), "input"),
      row("reasoning and instructions", respond([thought], { instructions: "x" }), "input"),
      row(
        "a wrong part",
        respond([{ role: "user", content: [{ type: "image" }] }]),
        "input[0].content[0]"
      )
    ]
  }),
  ["a late message", "/v1/messages", message("x", { max_tokens: LONG }), "max_tokens"],
  ["no messages", "/v1/messages", message("x", { messages: [] }), "messages"],
  ["thoughts alone", "/v1/messages", message("x", { messages: [thinking] }), "messages"],
  [
    "thoughts and a system",
    "/v1/messages",
    message("x", { messages: [thinking], system: "x" }),
    "messages"
  ],
  ["a message without blocks", "/v1/messages", message([]), "messages[0].content"],
  ["metadata that is a number", "/v1/messages", message("x", { metadata: 3 }), "metadata"]
]

/** Fields of chats, and the place of each in the two other bodies. */
const vendorParams = [
  ["messages[1].content[0]", "input", "messages"],
  ["max_tokens", "max_output_tokens", "max_tokens"],
  ["max_completion_tokens", "max_output_tokens", "max_tokens"],
  ["response_format.json_schema", "text.format", "output_config.format"],
  ["reasoning_effort", "reasoning.effort", "thinking"],
  ["temperature", "temperature", "temperature"]
] as const

const layerGateway = Layer.unwrap(
  Effect.map(
    // The vendor finds fault with the field that is named in what the user says.
    brokenVendor(({ body }) => {
      const param = /PARAM=([\w.[\]]+)/.exec(body)?.[1] ?? null
      const error = { message: "Not valid", type: "invalid_request_error", param, code: null }
      return { status: 400, body: { error } }
    }),
    ({ url }) =>
      layerTestGateway(
        "postgres",
        { ...quickSettings, maxAnswerBytes: MAX_ANSWER_BYTES },
        { catalogFor: responsesCatalog(url) }
      )
  )
)

layer(layerGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "faults of translated requests",
  (it) => {
    it.effect.each(refused)("%s is refused by its field", ([, path, json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const answer = yield* gateway.call(path, { key, json })
        assert.strictEqual(answer.status, 400)
        const error = yield* errorOf(answer)
        assert.strictEqual(error.param, param, answer.text)
        assert.isTrue(error.message.startsWith(`${param}: `), answer.text)
        const headers = path === "/v1/messages" ? { "anthropic-version": "2023-06-01" } : undefined
        const quote = yield* gateway.call("/v1/quotes", { key, json, ...(headers && { headers }) })
        assert.strictEqual((yield* errorOf(quote)).param, param, quote.text)
      })
    )

    it.effect.each(vendorParams)(
      "a vendor's refusal of %s names the field of the request",
      ([field, ofResponse, ofMessage]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { key } = yield* gateway.customer("1")
          const model = "talk-held"
          for (const stream of [false, true]) {
            const response = respond(`PARAM=${field}`, { model, stream })
            const one = yield* gateway.call("/v1/responses", { key, json: response })
            assert.deepNestedInclude(one.body, { "error.param": ofResponse }, one.text)
            const asked = message(`PARAM=${field}`, { model, stream })
            const other = yield* gateway.call("/v1/messages", { key, json: asked })
            assert.deepNestedInclude(other.body, { "error.param": ofMessage }, other.text)
          }
        })
    )
  }
)
