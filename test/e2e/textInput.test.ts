/** What chat, embeddings and the reserved endpoints refuse, before any vendor hears of it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"

const chat = "chat/completions"
const part = (url: unknown) => talk([{ type: "image_url", image_url: url }])
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

type Row = readonly [
  says: string,
  path: string,
  json: unknown,
  status: number,
  code: string,
  param: string | null
]

const invalid = (says: string, path: string, json: unknown, param: string | null): Row => [
  says,
  path,
  json,
  400,
  "invalid_request",
  param
]

const rows: ReadonlyArray<Row> = [
  invalid("no object", chat, [], null),
  invalid("no model", chat, { messages: [] }, "model"),
  invalid("no messages", chat, { model: "talk-1" }, "messages"),
  invalid("an empty conversation", chat, { model: "talk-1", messages: [] }, "messages"),
  invalid(
    "a message of nobody",
    chat,
    { model: "talk-1", messages: [{ content: "x" }] },
    "messages[0].role"
  ),
  invalid("a content that is a number", chat, talk(7), "messages[0].content"),
  invalid("a part without a type", chat, talk([{ text: "x" }]), "messages[0].content[0].type"),
  invalid(
    "an image from a file",
    chat,
    part({ url: "file:///etc/passwd" }),
    "messages[0].content[0].image_url.url"
  ),
  invalid("an image from gopher", chat, part("gopher://x"), "messages[0].content[0].image_url"),
  invalid("a stream that is a word", chat, talk("x", { stream: "yes" }), "stream"),
  invalid("no output", chat, talk("x", { max_tokens: 0 }), "max_tokens"),
  invalid("half a token", chat, talk("x", { max_completion_tokens: 1.5 }), "max_completion_tokens"),
  invalid("no choice", chat, talk("x", { n: 0 }), "n"),
  invalid("a body nobody can read", chat, talk("x", { tools: nested(70) }), null),
  invalid("no input", "embeddings", { model: "vector-1" }, "input"),
  invalid("an empty input", "embeddings", { model: "vector-1", input: [] }, "input"),
  invalid("a mixed input", "embeddings", { model: "vector-1", input: ["x", 1] }, "input[1]"),
  invalid("half a token of input", "embeddings", { model: "vector-1", input: [1.5] }, "input[0]"),
  ["an unknown model", chat, talk("x", { model: "nope" }), 404, "model_not_found", "model"],
  ["an image model", chat, talk("x", { model: "paint-1" }), 400, "modality_mismatch", "model"],
  ["a vector model", chat, talk("x", { model: "vector-1" }), 400, "modality_mismatch", "model"],
  [
    "a chat model for vectors",
    "embeddings",
    { model: "talk-1", input: "x" },
    400,
    "modality_mismatch",
    "model"
  ],
  ["a reserved model", chat, talk("x", { model: "rank-1" }), 400, "modality_not_ready", "model"],
  [
    "a strange protocol",
    chat,
    talk("x", { model: "talk-strange" }),
    503,
    "channel_unavailable",
    "model"
  ],
  ["no mount", chat, talk("x", { model: "talk-unmounted" }), 503, "channel_unavailable", "model"],
  ["no price", chat, talk("x", { model: "talk-unpriced" }), 400, "billing_unavailable", "model"],
  [
    "no output price",
    chat,
    talk("x", { model: "talk-half-priced" }),
    400,
    "billing_unavailable",
    "model"
  ],
  ["a vendor that is down", chat, talk("x", { model: "talk-held" }), 502, "upstream_error", null],
  ...(
    [
      "chat/completions",
      "embeddings",
      "videos/generations",
      "images/generations",
      "rerank",
      "audio/speech",
      "audio/transcriptions"
    ] as const
  ).map(
    (path): Row => [
      "an omni model",
      path,
      { ...talk("x"), model: "omni-1", input: "x", prompt: "x" },
      400,
      "modality_not_ready",
      "model"
    ]
  ),
  ...(
    [
      ["rerank", "rank-1"],
      ["audio/speech", "speak-1"],
      ["audio/transcriptions", "listen-1"]
    ] as const
  ).flatMap(
    ([path, model]): ReadonlyArray<Row> => [
      ["its own model", path, { model, anything: 1 }, 400, "modality_not_ready", "model"],
      ["an open model", path, { model: "talk-1" }, 400, "modality_mismatch", "model"],
      ["an unknown model", path, { model: "nope" }, 404, "model_not_found", "model"],
      invalid("no model", path, {}, "model")
    ]
  )
]

/** Nothing here changes an account, so one is enough. */
const account: { known: Customer | null } = { known: null }
const somebody = Effect.gen(function* () {
  account.known ??= yield* (yield* Gateway).customer("1")
  return account.known
})

const settings = { ...quickSettings, maxMediaBodyBytes: 200_000 }

layer(layerTestGateway("embedded", settings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("bad input to text and reserved endpoints", (it) => {
  it.effect.each(rows)("%s to %s", ([, path, json, status, code, param]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* somebody
      const before = (yield* gateway.simulator.book).length
      const answer = yield* gateway.call(`/v1/${path}`, { key: who.key, json })
      assert.strictEqual(answer.status, status, answer.text)
      assert.deepNestedInclude(answer.body, { "error.code": code, "error.param": param })
      assert.strictEqual((yield* gateway.simulator.book).length, before)
      assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
    })
  )

  it.effect("a channel that cannot be called names the protocol that is not supported", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* somebody
      const json = talk("x", { model: "talk-strange" })
      const { text } = yield* gateway.call("/v1/chat/completions", { key: who.key, json })
      assert.include(text, "is called by other, which is not a supported chat protocol")
    })
  )

  it.effect("more output than money can count is refused", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* somebody
      const json = talk("x", { max_tokens: 10_000_000, n: 128, stream: true })
      const answer = yield* gateway.call("/v1/chat/completions", { key: who.key, json })
      assert.strictEqual(answer.status, 402, answer.text)
      const more = { ...json, max_tokens: 10_000_001 }
      const over = yield* gateway.call("/v1/chat/completions", { key: who.key, json: more })
      assert.deepNestedInclude(over.body, { "error.param": "max_tokens" })
    })
  )

  it.effect.each([
    ["chat/completions", "embeddings"],
    ["embeddings", "chat"],
    ["rerank", "chat"],
    ["audio/speech", "chat"],
    ["audio/transcriptions", "chat"]
  ] as const)("%s is closed to a key with the scope %s alone, and to no key", ([path, scope]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1", { key: { scopes: [scope] } })
      const denied = yield* gateway.call(`/v1/${path}`, { key: who.key, json: {} })
      assert.strictEqual(denied.status, 403, denied.text)
      const nobody = yield* gateway.call(`/v1/${path}`, { json: {} })
      assert.strictEqual(nobody.status, 401)
    })
  )

  const boundary = "----the-border"
  const form = (parts: ReadonlyArray<readonly [head: string, body: string]>) => ({
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: `${parts
      .map(
        ([head, body]) =>
          `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
      )
      .join("")}--${boundary}--\r\n`
  })
  const file = (bytes: number) =>
    ['name="file"; filename="a.wav"\r\nContent-Type: audio/wav', "x".repeat(bytes)] as const
  const named = (model: string) => ['name="model"', model] as const

  it.effect.each([
    [
      "its model before the file",
      form([named("listen-1"), file(50_000)]),
      400,
      "modality_not_ready"
    ],
    [
      "its model behind the file",
      form([file(150_000), named("listen-1")]),
      400,
      "modality_not_ready"
    ],
    ["an open model", form([named("talk-1"), file(10)]), 400, "modality_mismatch"],
    ["no model", form([file(10)]), 400, "invalid_request"],
    ["too large a file", form([named("listen-1"), file(300_000)]), 413, "payload_too_large"],
    [
      "no border",
      { headers: { "content-type": "multipart/form-data" }, body: "x" },
      400,
      "invalid_request"
    ]
  ] as const)("a transcription may come as a form: %s", ([, options, status, code]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* somebody
      const answer = yield* gateway.call("/v1/audio/transcriptions", { key: who.key, ...options })
      assert.strictEqual(answer.status, status, answer.text)
      assert.deepNestedInclude(answer.body, { "error.code": code })
    })
  )

  it.effect.each([
    "chat/completions",
    "embeddings",
    "rerank",
    "audio/speech",
    "images/generations"
  ])("%s takes no form", (path) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* somebody
      const options = form([named("talk-1")])
      const answer = yield* gateway.call(`/v1/${path}`, { key: who.key, ...options })
      assert.strictEqual(answer.status, 415, answer.text)
      assert.deepNestedInclude(answer.body, { "error.code": "unsupported_media_type" })
    })
  )
})
