import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { chatOfResponses } from "../../../src/domain/responses/chatOfResponses.ts"
import { ownRequestOf, type ReasoningMaker } from "../../../src/domain/responses/ownResponses.ts"
import { type Item, ResponsesBody } from "../../../src/domain/responses/ResponsesRequest.ts"

const decode = Schema.decodeUnknownSync(ResponsesBody)

/** The request with its own items, as if it continued no other response. */
const requestOf = (fields: object) => {
  const body = decode({ model: "m", input: "hello", ...fields })
  const items =
    typeof body.input === "string"
      ? [{ role: "user", content: body.input } satisfies Item]
      : body.input.filter((item): item is Item => item.type !== "item_reference")
  return { body, items: items.map((item, index) => ({ item, path: `input[${index}]` })) }
}

const translated = (fields: object) => {
  const { body, items } = requestOf(fields)
  return Result.getOrThrow(chatOfResponses(body, items))
}

const messagesOf = (...input: ReadonlyArray<object>) => translated({ input }).body.messages

const data = "data:application/pdf;base64,JVBERi0="

describe("the chat of a response", () => {
  it.each([
    ["a text", { input: "hello" }, [{ role: "user", content: "hello" }]],
    [
      "instructions come first",
      { instructions: "be brief" },
      [
        { role: "system", content: "be brief" },
        { role: "user", content: "hello" }
      ]
    ]
  ])("%s", (_, fields, messages) => {
    assert.deepStrictEqual<unknown>(translated(fields).body.messages, messages)
  })

  it.each([
    ["user", "user"],
    ["system", "system"],
    ["developer", "system"],
    ["assistant", "assistant"]
  ])("a message of the role %s is one of %s", (role, chatRole) => {
    const said = { role: chatRole, content: "x" }
    assert.deepStrictEqual(messagesOf({ role, content: "x" }), [said])
    assert.deepStrictEqual(messagesOf({ type: "message", id: "msg_1", role, content: "x" }), [said])
  })

  it("parts of a user keep their order, and one text alone is a text", () => {
    const text = { type: "input_text", text: "look" }
    assert.deepStrictEqual(messagesOf({ role: "user", content: [text] }), [
      { role: "user", content: "look" }
    ])
    const content = [
      text,
      { type: "input_image", image_url: "https://media.test/1.png", detail: "low" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: null },
      { type: "input_file", filename: "a.pdf", file_data: data },
      { type: "input_file", file_data: data }
    ]
    assert.deepStrictEqual(messagesOf({ role: "user", content }), [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "https://media.test/1.png", detail: "low" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "file", file: { filename: "a.pdf", file_data: data } },
          { type: "file", file: { filename: "file", file_data: data } }
        ]
      }
    ])
  })

  it("an answer's parts are one text, with what the model refused", () => {
    const content = [
      { type: "output_text", text: "one ", annotations: [] },
      { type: "refusal", refusal: "no" }
    ]
    assert.deepStrictEqual(messagesOf({ role: "assistant", content }), [
      { role: "assistant", content: "one no" }
    ])
  })

  it("several calls of one turn follow its text in one message, and each has its output", () => {
    const messages = messagesOf(
      { role: "user", content: "weather?" },
      { type: "reasoning", id: "rs_1", summary: [] },
      { role: "assistant", content: "let me see" },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' },
      { type: "custom_tool_call", call_id: "c2", name: "g", input: "raw" },
      { type: "function_call_output", call_id: "c1", output: "rain" },
      {
        type: "custom_tool_call_output",
        call_id: "c2",
        output: [{ type: "input_text", text: "s" }]
      }
    )
    assert.deepStrictEqual(messages, [
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        content: "let me see",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "c2", type: "custom", custom: { name: "g", input: "raw" } }
        ]
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
      { role: "tool", tool_call_id: "c2", content: "s" }
    ])
  })

  it("calls without a text are a message of their own, one for each turn", () => {
    const call = (call_id: string) => ({
      type: "function_call",
      call_id,
      name: "f",
      arguments: "{}"
    })
    const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "x" })
    const messages = messagesOf(call("c1"), output("c1"), call("c2"), output("c2"))
    assert.deepStrictEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        ["assistant", null],
        ["tool", "x"],
        ["assistant", null],
        ["tool", "x"]
      ]
    )
  })

  it.each([
    ["max_output_tokens", { max_output_tokens: 9 }, { max_tokens: 9 }],
    ["effort", { reasoning: { effort: "low", summary: "auto" } }, { reasoning_effort: "low" }],
    ["verbosity", { text: { verbosity: "high" } }, { verbosity: "high" }],
    ["a plain format", { text: { format: { type: "text" } } }, {}],
    [
      "a format of JSON",
      { text: { format: { type: "json_object" } } },
      { response_format: { type: "json_object" } }
    ],
    [
      "a format of a schema",
      { text: { format: { type: "json_schema", name: "n", schema: { a: 1 }, strict: true } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "n", schema: { a: 1 }, strict: true }
        }
      }
    ],
    [
      "a tool of a function",
      { tools: [{ type: "function", name: "f", parameters: { type: "object" }, strict: false }] },
      {
        tools: [
          {
            type: "function",
            function: { name: "f", parameters: { type: "object" }, strict: false }
          }
        ]
      }
    ],
    [
      "a custom tool",
      {
        tools: [
          {
            type: "custom",
            name: "g",
            format: { type: "grammar", syntax: "lark", definition: "x" }
          }
        ]
      },
      {
        tools: [
          {
            type: "custom",
            custom: {
              name: "g",
              format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } }
            }
          }
        ]
      }
    ],
    ["a choice in a word", { tool_choice: "required" }, { tool_choice: "required" }],
    [
      "the choice of a function",
      { tool_choice: { type: "function", name: "f" } },
      { tool_choice: { type: "function", function: { name: "f" } } }
    ],
    [
      "the choice of a custom tool",
      { tool_choice: { type: "custom", name: "g" } },
      { tool_choice: { type: "custom", custom: { name: "g" } } }
    ],
    [
      "a choice of allowed tools",
      {
        tool_choice: {
          type: "allowed_tools",
          mode: "auto",
          tools: [{ type: "function", name: "f" }]
        }
      },
      {
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] }
        }
      }
    ],
    [
      "logprobs that are included",
      { include: ["message.output_text.logprobs"] },
      { logprobs: true }
    ],
    ["the number of logprobs", { top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    ["no logprobs", { top_logprobs: 0 }, {}],
    ["a stream", { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    ["metadata", { metadata: { a: "b" }, store: false }, { metadata: { a: "b" } }],
    [
      "fields of both forms, and of the vendor",
      { temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, user: "u", seed: 7 },
      { temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, user: "u", seed: 7 }
    ],
    [
      "null as if it was left out",
      { tools: null, tool_choice: null, text: null, reasoning: null, max_output_tokens: null },
      {}
    ]
  ])("%s", (_, fields, expected) => {
    const { messages, ...chat } = translated(fields).body
    assert.deepStrictEqual(chat, { model: "m", ...expected })
  })

  it("what a chat cannot say is told by its field, and still has its price", () => {
    const image = { type: "input_image", image_url: "https://media.test/1.png" }
    const input = [
      {
        role: "user",
        content: [
          { type: "input_text", text: "x" },
          { type: "input_file", file_url: "https://media.test/a.pdf" }
        ]
      },
      { role: "assistant", content: [{ type: "output_text", text: "y" }, image] }
    ]
    const { faults, body } = translated({ input })
    assert.deepStrictEqual(
      faults.map(({ path }) => path),
      ["input[0].content[1].file_url", "input[1].content[1].type"]
    )
    assert.include(JSON.stringify(body.messages), "a.pdf")
    assert.include(JSON.stringify(body.messages), "1.png")
  })

  it("reasoning that its vendor reads again is priced, and no part of a chat", () => {
    const { body, pricedBody } = translated({
      input: [
        { role: "user", content: "x" },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" },
        {
          type: "reasoning",
          id: "rs_2",
          summary: [],
          content: [{ type: "reasoning_text", text: "t" }]
        }
      ]
    })
    assert.lengthOf(body.messages, 1)
    assert.deepStrictEqual(pricedBody.messages.slice(1), [
      { role: "assistant", reasoning: "secret" }
    ])
  })
})

describe("the request for a vendor of responses", () => {
  const maker: ReasoningMaker = {
    wrap: (reasoning) => `own.${reasoning}`,
    unwrap: (text) => (text.startsWith("own.") ? text.slice("own.".length) : null)
  }

  it("has the whole conversation with reasoning of its own, and asks for nothing to be stored", () => {
    const { body, items } = requestOf({
      input: [
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "own.secret" },
        { type: "reasoning", id: "rs_3", summary: [], encrypted_content: "other.secret" },
        { type: "reasoning", id: "rs_4", summary: [], encrypted_content: "secret" },
        { role: "user", content: "x" }
      ],
      previous_response_id: "resp_1",
      metadata: { a: "b" },
      reasoning: { effort: "low" },
      store: true,
      top_k: 3
    })
    assert.deepStrictEqual(ownRequestOf(body, items, maker), {
      model: "m",
      input: [
        { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "secret" },
        { role: "user", content: "x" }
      ],
      reasoning: { effort: "low" },
      include: ["reasoning.encrypted_content"],
      store: false,
      top_k: 3
    })
  })
})
