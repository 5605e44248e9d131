import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

import { usualLimits } from "../../../src/domain/catalog/ModelLimits.ts"
import { ChatBody, EmbeddingBody } from "../../../src/domain/text/TextRequest.ts"
import { estimateChat, estimateEmbedding } from "../../../src/domain/text/textEstimate.ts"
import { writtenBytes } from "../../../src/domain/text/textSize.ts"
import { tokensOfBytes } from "../../../src/domain/text/tokenSize.ts"

const decodeChat = Schema.decodeUnknownResult(ChatBody)
const decodeOrThrow = Schema.decodeUnknownSync(ChatBody)
const decodeEmbedding = Schema.decodeUnknownResult(EmbeddingBody)

const chat = (content: unknown, more: object = {}, message: object = {}) =>
  Result.getOrThrow(
    decodeChat({ model: "m", messages: [{ role: "user", content, ...message }], ...more })
  )

const sound = (data: string) => ({ type: "input_audio", input_audio: { data } })
const film = { type: "video_url", video_url: "https://a.test/1" }
const image = (url: string) => ({ type: "image_url", image_url: { url } })

const otherModels = [
  "models",
  "fallbacks",
  "fallback_models",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "model_list",
  "model_id",
  "model_name",
  "engine",
  "deployment",
  "deployment_id",
  "route",
  "preset"
]
const schemas = [
  "guided_json",
  "guided_regex",
  "guided_grammar",
  "guided_choice",
  "structured_outputs",
  "json_schema",
  "format",
  "grammar"
]

describe("the tokens a chat is held for", () => {
  it.each([
    ["3 bytes", chat("abc"), 4n + 1n],
    ["a begun token", chat("abcd"), 4n + 2n],
    ["bytes of UTF-8", chat("日本語"), 4n + 3n],
    ["nothing said", chat(null), 4n],
    [
      "texts in parts",
      chat([
        { type: "text", text: "abc" },
        { type: "text", text: "def" }
      ]),
      4n + 2n
    ],
    ["an image", chat([image("https://a.test/1.png")]), 4n + 1500n],
    [
      "a large inline image",
      chat([image(`data:image/png;base64,${"A".repeat(30_000)}`)]),
      4n + 1500n
    ],
    [
      "a sound",
      chat([{ type: "input_audio", input_audio: { data: "A".repeat(30_000) } }]),
      4n + 1500n + 22_500n
    ],
    ...(
      [
        ["a film by address", { type: "video_url", video_url: { url: "https://a.test/1.mp4" } }],
        ["a film in an image's place", image("https://a.test/1.MP4?a=b")],
        ["a sound by address", { type: "audio_url", audio_url: "https://a.test/1" }],
        ["a document by address", { type: "file", file: { url: "https://a.test/1" } }],
        ["a file of the vendor's", { type: "file", file: { file_id: "file-1" } }],
        ["a bare file of the vendor's", { type: "input_file", input_file: "file-1" }],
        ["a film in a store", { type: "video", video: ["gs://a/1.mp4"] }],
        [
          "a document of an unknown form",
          { type: "document", source: { type: "url", url: "https://a.test/1" } }
        ]
      ] as const
    ).map(([says, part]) => [says, chat([part]), 1_000_000n] as const),
    ["a text with an address in it", chat([{ type: "text", text: "https://a.test/1.mp4" }]), 11n],
    ["settings", chat("abc", { temperature: 1, stream: true, seed: 7 }), 4n + 1n],
    ["a user", chat("abc", { user: "somebody" }), 4n + 1n + 3n],
    ["a field nobody knows, with its name", chat("abc", { abcd: [1234, true] }), 4n + 1n + 4n],
    ["a field nobody knows in a message", chat("abc", {}, { abcd: "ef" }), 4n + 3n],
    ["a field nobody knows in a part", chat([{ type: "text", text: "a", bc: "d" }]), 4n + 2n],
    ["text beside a medium", chat([{ ...image("https://a.test/1.png"), text: "abc" }]), 1505n],
    [
      "two media in one part",
      chat([{ ...image("https://a.test/1.png"), image: "https://a.test/2.png" }]),
      3004n
    ],
    [
      "media in an array",
      chat([{ type: "image", image: ["https://a.test/1.png", "https://a.test/2.png"] }]),
      3004n
    ],
    [
      "text inside a medium",
      chat([{ type: "file", file: { filename: "abc", file_data: "d ef" } }]),
      4n + 1500n + 3n
    ],
    ["a file with nothing in it", chat([{ type: "file", file: {} }]), 4n + 1500n + 1n],
    [
      "a file that is a text",
      chat([{ type: "file", file: { file_data: "data:text/plain;base64,QUJD" } }]),
      4n + 1500n + 9n
    ],
    [
      "a picture that is a text",
      chat([image(`data:image/svg+xml;base64,${"A".repeat(3000)}`)]),
      4n + 1500n + 1009n
    ],
    [
      "base64 of no known file",
      chat([{ type: "file", file: { file_data: "A".repeat(3000) } }]),
      4n + 1500n + 1000n
    ],
    [
      "base64 of a known file",
      chat([{ type: "file", file: { file_data: `JVBERi0${"A".repeat(3000)}` } }]),
      4n + 1500n + 2256n
    ],
    [
      "a file that says only that it is one",
      chat([{ type: "file", file: `data:image/png;base64,${"a b ".repeat(750)}` }]),
      4n + 1500n + 1008n
    ],
    [
      "a text that says it is an address",
      chat([image(`https://a.test/${"a".repeat(2048 - 15 + 300)}`)]),
      4n + 1500n + 100n
    ],
    ...["", "application/octet-stream", "application/octet-stream;name=a", ";name=a"].map(
      (type) =>
        [
          `a sound of type "${type}"`,
          chat([sound(`data:${type};base64,${"A".repeat(30_000)}`)]),
          4n + 1500n + 22_500n
        ] as const
    ),
    ...["UklGR", "IyFBTVIK", "IyFBTVIt", "AAAAIGZ0eXB"].map(
      (beginning) =>
        [
          `a known file without a type: ${beginning}`,
          chat([
            { type: "file", file: { file_data: `data:;base64,${beginning}${"A".repeat(3000)}` } }
          ]),
          4n + 1500n + BigInt(Math.ceil(((3000 + beginning.length) * 3) / 4))
        ] as const
    ),
    [
      "base64 of no known file without a type",
      chat([{ type: "file", file: { file_data: `data:;base64,${"A".repeat(2987)}` } }]),
      4n + 1500n + 1000n
    ],
    ["a sound that is a text", chat([sound("data:;base64,QUJD QUJD")]), 4n + 1500n + 8n],
    ["a sound with filling", chat([sound("QUI=")]), 4n + 1500n + 3n],
    ["a sound with more filling", chat([sound("QQ==")]), 4n + 1500n + 3n],
    ["a sound with too much filling", chat([sound("Q===")]), 4n + 1500n + 2n],
    ["a sound of filling alone", chat([sound("==")]), 4n + 1500n + 1n],
    [
      "a text that begins as an address",
      chat([{ type: "video", video: "https://a.test/1 b" }]),
      4n + 1500n + 6n
    ],
    ["a medium that is none", chat("abc", { video: "d ef" }), 4n + 1n + 3n],
    ["a schema", chat("abc", { guided_json: { ab: "cdefg" } }), 4n + 1n + 3n],
    [
      "tools, with the names of their fields",
      chat("abc", { tools: [{ ab: "cdefg" }] }),
      4n + 1n + 3n
    ]
  ] as const)("%s", (_, body, expected) => {
    assert.strictEqual(estimateChat(body).inputTokens, expected)
  })

  it("are those of every message", () => {
    const body = Result.getOrThrow(
      decodeChat({
        model: "m",
        messages: [
          { role: "system", content: "abc" },
          { role: "user", content: "def" }
        ]
      })
    )
    assert.strictEqual(estimateChat(body).inputTokens, 10n)
  })

  it.each([
    ["without a bound", {}, 4096n],
    ["of max_tokens", { max_tokens: 10 }, 10n],
    ["of max_completion_tokens", { max_completion_tokens: 10 }, 10n],
    ["of max_completion_tokens above it", { max_tokens: 10, max_completion_tokens: 20 }, 20n],
    ["of max_tokens above that", { max_tokens: 20, max_completion_tokens: 10 }, 20n],
    ["of the one bound that is set", { max_tokens: 10, max_completion_tokens: null }, 10n],
    ["for each choice", { max_tokens: 10, n: 3 }, 30n],
    ["for each choice without a bound", { n: 2 }, 8192n],
    ["of another bound above that", { max_tokens: 10, max_output_tokens: 20 }, 20n],
    ["of another bound alone", { max_new_tokens: 10 }, 4096n],
    ["of a bound in other letters", { max_tokens: 10, maxOutputTokens: "20" }, 20n],
    ["of a bound further in", { max_tokens: 10, options: { num_predict: 20 } }, 20n],
    ["of what is written at least", { max_tokens: 10, min_tokens: 20 }, 20n],
    ["of a bound without end", { max_tokens: 10, num_predict: 1e300 }, 10_000_000n],
    ["of no bound in what is no number", { max_tokens: 10, num_predict: "all" }, 10n],
    ...schemas.map(
      (name) =>
        [`of no bound in ${name}`, { max_tokens: 10, [name]: { max_length: 20 } }, 10n] as const
    ),
    ["with thoughts", { max_tokens: 10, thinking: { budget_tokens: 20 }, n: 2 }, 60n]
  ] as const)("count output %s", (_, more, expected) => {
    assert.strictEqual(estimateChat(chat("abc", more)).outputTokens, expected)
  })

  it.prop("are never below a token for every 3 bytes of a text", [Schema.String], (texts) => {
    const bytes = Buffer.byteLength(texts[0] ?? "")
    assert.isTrue(tokensOfBytes(bytes) * 3n >= BigInt(bytes))
    assert.isTrue(estimateChat(chat(texts[0])).inputTokens === 4n + tokensOfBytes(bytes))
  })
})

describe("what a vendor may count of a chat", () => {
  const bounds = (content: unknown, more: object = {}) => {
    const { leastInput, mostInput, mostOutput } = estimateChat(chat(content, more))
    return [leastInput, mostInput, mostOutput] as const
  }
  const own = 1024n + 16n

  it.each([
    ["a short text", bounds("x".repeat(40)), [1n, own + 40n, 32n * 4096n]],
    ["a long text", bounds("x".repeat(3200)), [100n, own + 3200n, 32n * 4096n]],
    ["a bound", bounds("", { max_tokens: 100 }), [0n, own, 116n]],
    [
      "choices and thoughts",
      bounds("", { max_tokens: 9, n: 2, thinking_budget: 1 }),
      [0n, own, 52n]
    ],
    ["an image", bounds([image("https://a.test/1.png")]), [0n, own + 16_384n, 32n * 4096n]],
    ["a sound", bounds([sound("A".repeat(400))]), [0n, own + 16_384n + 300n, 32n * 4096n]],
    ["a film elsewhere", bounds([film]), [0n, 10n ** 6n, 32n * 4096n]],
    ["a very long text", bounds("x".repeat(2_000_000)), [62_500n, 10n ** 6n, 32n * 4096n]]
  ] as const)("of %s", (_, found, expected) => {
    assert.deepStrictEqual(found, expected)
  })

  it("lies within the model's limits", () => {
    const limits = { ...usualLimits, input_tokens: 5000, output_tokens: 100, image_tokens: 20_000 }
    const elsewhere = estimateChat(chat([film]), limits)
    assert.deepStrictEqual([elsewhere.inputTokens, elsewhere.mostInput], [5000n, 5000n])
    const picture = estimateChat(chat([image("https://a.test/1.png")]), limits)
    assert.deepStrictEqual(
      [picture.inputTokens, picture.mostInput, picture.outputTokens, picture.mostOutput],
      [20_004n, 20_004n, 100n, 3200n]
    )
    const thinking = estimateChat(chat("a", { max_tokens: 9, n: 2 }), {
      ...limits,
      thought_tokens: 500
    })
    assert.deepStrictEqual([thinking.outputTokens, thinking.mostOutput], [18n, 18n + 32n + 1000n])
  })
})

describe("the tokens of embeddings", () => {
  it.each([
    ["a text", "abcd", 2n],
    ["texts apart", ["abcd", "a"], 3n],
    ["tokens", [5, 6, 7], 3n],
    ["lists of tokens", [[5, 6], [7]], 3n]
  ] as const)("%s", (_, input, expected) => {
    const body = Result.getOrThrow(decodeEmbedding({ model: "m", input }))
    assert.deepInclude(estimateEmbedding(body), { inputTokens: expected, outputTokens: 0n })
  })

  it("are those of fields nobody knows, too", () => {
    const settings = { dimensions: 8, encoding_format: null, instruction: "x".repeat(3000) }
    const body = Result.getOrThrow(decodeEmbedding({ model: "m", input: "abc", ...settings }))
    assert.strictEqual(estimateEmbedding(body).inputTokens, 1n + 1004n)
  })
})

describe("a text request", () => {
  it.each([
    ["best_of", { best_of: 5 }],
    ["N", { N: 5 }],
    ["num_return_sequences", { num_return_sequences: "5" }],
    ["extra_body.n", { extra_body: { n: 5 } }],
    ["generation_config.candidateCount", { generation_config: { candidateCount: 5 } }],
    ["Model", { Model: "dear" }],
    ["extra_body.model", { extra_body: { model: "dear" } }],
    ...otherModels.map((name) => [name, { [name]: ["dear"] }] as const),
    ["extra_body.fallbacks", { extra_body: { fallbacks: [{ model: "dear" }] } }],
    ["Model_Name", { Model_Name: "dear" }],
    ["route", { route: "fallback" }],
    ["mock_response", { mock_response: "x" }],
    ["plugins", { plugins: [{ id: "web" }] }],
    ["search_options", { search_options: { forced_search: true } }],
    ["search_parameters", { search_parameters: {} }],
    ["search_parameters", { search_parameters: { mode: "auto" } }],
    ["guided.n", { guided: { n: 5 } }],
    ["Stream", { Stream: true }],
    ["callback_url", { callback_url: "https://a.test" }],
    ["service_tier", { service_tier: "priority" }],
    ["web_search_options", { web_search_options: {} }],
    ["tools[1]", { tools: [{ type: "function" }, { type: "web_search" }] }],
    ["tools[0]", { tools: [{ google_search: {} }] }]
  ] as const)("may not have %s", (path, fields) => {
    const decoded = decodeChat({ model: "m", messages: [{ role: "user" }], ...fields })
    if (Result.isSuccess(decoded)) return assert.fail("it was taken")
    assert.include(String(decoded.failure), `at ["${path}"]`)
  })

  it.each([
    { best_of: 1, service_tier: "auto", async: false, web_search_options: null },
    { tools: [{ type: "function", function: { name: "n", parameters: { n: 5, model: "x" } } }] },
    { tools: [{ type: "custom", custom: { name: "best_of" } }] },
    { metadata: { n: "5", model: "x" }, response_format: { json_schema: { stream: true } } },
    { options: { model: "a name of something else", route: "a", engine: "b" } },
    { models: [], fallbacks: null, preset: "", mockup: 1 },
    { plugins: [], search_options: {}, search_parameters: { mode: "off" } },
    { plugins: "", search_options: "", search_parameters: "", web_search: "" },
    ...schemas.map((name) => ({ [name]: { properties: { n: { type: "integer" }, stream: {} } } }))
  ])("may have %j", (fields) => {
    decodeOrThrow({ model: "m", messages: [{ role: "user" }], ...fields })
  })
})

it.each([
  [{ role: "assistant", content: "abc" }, 3],
  [{ reasoning_content: "ab", content: null }, 2],
  [
    {
      tool_calls: [
        { index: 0, id: "call-1", type: "function", function: { name: "f", arguments: "{}" } }
      ]
    },
    3
  ],
  [{ content: "ä" }, 2],
  [{ audio: { id: "a", data: "AAAA", transcript: "hi" } }, 6],
  [undefined, 0]
])("%j is %i bytes of writing", (message, bytes) => {
  assert.strictEqual(writtenBytes(message), bytes)
})
