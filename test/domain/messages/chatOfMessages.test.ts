import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { chatOfMessages } from "../../../src/domain/messages/chatOfMessages.ts"
import { MessagesBody } from "../../../src/domain/messages/MessagesRequest.ts"
import { issueFaults } from "../../../src/domain/requestFields.ts"
import { strictParsing } from "../../../src/http/api/shared.ts"

const decode = Schema.decodeUnknownResult(MessagesBody, strictParsing)

const order = (more: object = {}) => ({
  model: "talk-1",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
  ...more
})

/** The chat of a body; its model, length and messages are left out where the test is not of them. */
const chatOf = (body: object) => Result.getOrThrow(chatOfMessages(Result.getOrThrow(decode(body))))

const pathsOf = (body: object): ReadonlyArray<string> =>
  Result.match(decode(body), {
    onFailure: ({ issue }) => issueFaults(issue).map(({ path }) => path),
    onSuccess: (request) =>
      Result.match(chatOfMessages(request), {
        onFailure: ({ param, faults }) => faults?.map(({ path }) => path) ?? [param ?? ""],
        onSuccess: () => []
      })
  })

const said = (content: unknown, role = "user") => order({ messages: [{ role, content }] })

describe("a request of messages as a chat", () => {
  it("keeps the texts, the settings and the system's words", () => {
    assert.deepStrictEqual<unknown>(
      chatOf(
        order({
          system: [
            { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
            { type: "text", text: "Be kind." }
          ],
          temperature: 0.5,
          top_p: 0.9,
          stop_sequences: ["END"],
          stream: true,
          service_tier: "auto",
          metadata: { user_id: "u-1" }
        })
      ),
      {
        model: "talk-1",
        messages: [
          { role: "system", content: "Be brief.\n\nBe kind." },
          { role: "user", content: "hello" }
        ],
        max_tokens: 100,
        stream: true,
        stream_options: { include_usage: true },
        stop: ["END"],
        temperature: 0.5,
        top_p: 0.9,
        metadata: { user_id: "u-1" }
      }
    )
  })

  it("has images and documents as parts", () => {
    const { messages } = chatOf(
      said([
        { type: "text", text: "what is this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "url", url: "https://media.test/1.png" } },
        {
          type: "document",
          title: "a.pdf",
          source: { type: "base64", media_type: "application/pdf", data: "BBBB" }
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "notes" } }
      ])
    )
    assert.deepStrictEqual<unknown>(messages, [
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://media.test/1.png" } },
          {
            type: "file",
            file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" }
          },
          { type: "text", text: "notes" }
        ]
      }
    ])
  })

  it("has calls of tools and their results, and no thoughts", () => {
    const { messages } = chatOf(
      order({
        messages: [
          { role: "user", content: "the weather?" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hm", signature: "s" },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "c1", name: "weather", input: { city: "Oslo" } },
              { type: "tool_use", id: "c2", name: "time", input: {} }
            ]
          },
          {
            role: "user",
            content: [
              { type: "text", text: "and?" },
              { type: "tool_result", tool_use_id: "c1", content: "rain" },
              {
                type: "tool_result",
                tool_use_id: "c2",
                is_error: true,
                content: [{ type: "text", text: "no clock" }]
              }
            ]
          }
        ]
      })
    )
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function",
      function: { name, arguments: args }
    })
    assert.deepStrictEqual<unknown>(messages, [
      { role: "user", content: "the weather?" },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [call("c1", "weather", '{"city":"Oslo"}'), call("c2", "time", "{}")]
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
      { role: "tool", tool_call_id: "c2", content: "no clock" },
      { role: "user", content: "and?" }
    ])
  })

  it("has tools, their choice, thoughts and the format", () => {
    const schema = { type: "object", properties: {} }
    const tools = [{ name: "weather", description: "d", input_schema: schema, strict: true }]
    assert.deepInclude<unknown>(
      chatOf(order({ tools, tool_choice: { type: "any", disable_parallel_tool_use: true } })),
      {
        tools: [
          {
            type: "function",
            function: { name: "weather", description: "d", parameters: schema, strict: true }
          }
        ],
        tool_choice: "required",
        parallel_tool_calls: false
      }
    )
    assert.deepNestedInclude(chatOf(order({ tools, tool_choice: { type: "tool", name: "x" } })), {
      tool_choice: { type: "function", function: { name: "x" } }
    })
    const effortOf = (more: object) =>
      Object.entries(chatOf(order(more))).flatMap(([name, value]) =>
        name === "reasoning_effort" ? [value] : []
      )
    const thinking = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } })
    assert.deepStrictEqual(effortOf(thinking(1024)), ["low"])
    assert.deepStrictEqual(effortOf(thinking(8000)), ["medium"])
    assert.deepStrictEqual(effortOf(thinking(32_000)), ["high"])
    assert.deepStrictEqual(effortOf({ thinking: { type: "adaptive" } }), [])
    assert.deepStrictEqual(effortOf({ output_config: { effort: "max" } }), ["high"])
    assert.deepNestedInclude(
      chatOf(order({ output_config: { format: { type: "json_schema", schema } } })),
      { "response_format.json_schema.schema": schema }
    )
  })

  it.each([
    [order({ max_tokens: undefined }), "max_tokens"],
    [order({ top_k: 5 }), "top_k"],
    [order({ container: "c" }), "container"],
    [order({ mcp_servers: [] }), "mcp_servers"],
    [order({ context_management: {} }), "context_management"],
    [order({ maxtokens: 5 }), "maxtokens"],
    [order({ temperature: 1.5 }), "temperature"],
    [order({ tools: [{ type: "web_search_20250305", name: "web_search" }] }), "tools[0].type"],
    [order({ tools: [{ name: "x" }] }), "tools[0].input_schema"],
    [said([{ type: "text", text: "x", citations: [{}] }]), "messages[0].content[0].citations"],
    [said([{ type: "search_result" }]), "messages[0].content[0]"],
    [
      said([{ type: "image", source: { type: "file", file_id: "f" } }]),
      "messages[0].content[0].source"
    ],
    [
      said([{ type: "document", source: { type: "url", url: "https://a.test/1.pdf" } }]),
      "messages[0].content[0].source"
    ],
    [said([{ type: "tool_use", id: "c", name: "x", input: {} }]), "messages[0].content[0].type"],
    [
      said([{ type: "image", source: { type: "url", url: "https://a.test/1.png" } }], "assistant"),
      "messages[0].content[0].type"
    ]
  ])("names what a chat cannot say: %#", (body, path) => {
    assert.include(pathsOf(body), path)
  })
})
