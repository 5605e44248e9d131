import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { issueFaults } from "../../../src/domain/requestFields.ts"
import { ResponsesBody } from "../../../src/domain/responses/ResponsesRequest.ts"

const decode = Schema.decodeUnknownResult(ResponsesBody)

const firstFault = (fields: object) => {
  const decoded = decode({ model: "m", input: "x", ...fields })
  assert(Result.isFailure(decoded))
  return issueFaults(decoded.failure.issue)[0]
}

const item = (value: unknown) => ({ input: [value] })
const part = (value: object) => item({ role: "user", content: [value] })

const anyItem = "Expected an item of type message, function_call, function_call_output"
const anyPart =
  "Expected a part of type input_text, input_image, input_file, output_text or refusal"
const required = "This field is required"

describe("a request of a response is refused by its field:", () => {
  it.each([
    ["no input", { input: undefined }, "input", "Expected a text or an array of items"],
    ["input of another type", { input: 3 }, "input", "Expected a text or an array of items"],
    ["an unknown item", item({ type: "web_search_call", id: "x" }), "input[0].type", anyItem],
    ["an item that is a text", item("hello"), "input[0]", anyItem],
    [
      "a message without a role",
      item({ type: "message", content: "x" }),
      "input[0].role",
      required
    ],
    ["an unknown role", item({ role: "bot", content: "x" }), "input[0].role", "Expected"],
    ["a message without content", item({ role: "user" }), "input[0].content", required],
    ["a part of a chat", part({ type: "text", text: "x" }), "input[0].content[0]", anyPart],
    ["sound", part({ type: "input_audio", data: "x" }), "input[0].content[0]", anyPart],
    ["a part without its text", part({ type: "input_text" }), "input[0].content[0].text", required],
    [
      "a picture of an account",
      part({ type: "input_image", file_id: "file_1" }),
      "input[0].content[0].file_id",
      "Expected image_url, as vendors' own files are not shared"
    ],
    ["no picture", part({ type: "input_image" }), "input[0].content[0].image_url", required],
    [
      "a picture at a strange address",
      part({ type: "input_image", image_url: "ftp://x" }),
      "input[0].content[0].image_url",
      "Expected an http, https or data URL"
    ],
    [
      "a file of an account",
      part({ type: "input_file", file_id: "file_1" }),
      "input[0].content[0].file_id",
      "Expected file_data, as vendors' own files are not shared"
    ],
    [
      "a file that is none",
      part({ type: "input_file" }),
      "input[0].content[0].file_data",
      "Expected either file_data or file_url"
    ],
    [
      "arguments that are no text",
      item({ type: "function_call", name: "f", arguments: {}, call_id: "c" }),
      "input[0].arguments",
      "Expected string"
    ],
    [
      "an output of another type",
      item({ type: "function_call_output", output: 3, call_id: "c" }),
      "input[0].output",
      "Expected a text or an array of parts"
    ],
    [
      "an output without its call",
      item({ type: "function_call_output", output: "x" }),
      "input[0].call_id",
      required
    ],
    ["a reference to nothing", item({ type: "item_reference" }), "input[0].id", required],
    [
      "a tool of the vendor",
      { tools: [{ type: "web_search" }] },
      "tools[0]",
      "Expected a tool of type function or custom, which the client runs"
    ],
    [
      "a tool in a chat's form",
      { tools: [{ type: "function", function: { name: "f" } }] },
      "tools[0].name",
      required
    ],
    [
      "an unknown choice",
      { tool_choice: "any" },
      "tool_choice",
      'Expected "none" | "auto" | "required"'
    ],
    [
      "the choice of a vendor's tool",
      { tool_choice: { type: "web_search" } },
      "tool_choice.type",
      "Expected none, auto, required, or an object of type function, custom or allowed_tools"
    ],
    [
      "a choice in a chat's form",
      { tool_choice: { type: "function", function: { name: "f" } } },
      "tool_choice.name",
      required
    ],
    [
      "an unknown mode",
      { tool_choice: { type: "allowed_tools", mode: "x", tools: [] } },
      "tool_choice.mode",
      'Expected "auto" | "required"'
    ],
    [
      "an unknown format",
      { text: { format: { type: "xml" } } },
      "text.format.type",
      "Expected a format of type text, json_object or json_schema"
    ],
    [
      "a format without a name",
      { text: { format: { type: "json_schema", schema: {} } } },
      "text.format.name",
      required
    ],
    ["an unknown verbosity", { text: { verbosity: "x" } }, "text.verbosity", 'Expected "low"'],
    [
      "what cannot be included",
      { include: ["file_search_call.results"] },
      "include[0]",
      "Expected"
    ],
    ["a conversation that is shortened", { truncation: "auto" }, "truncation", "Expected disabled"],
    [
      "effort in numbers",
      { reasoning: { effort: 3 } },
      "reasoning.effort",
      "Expected an effort such as low"
    ],
    [
      "a length in words",
      { max_output_tokens: "3" },
      "max_output_tokens",
      "Expected a whole number"
    ],
    ["a stream in words", { stream: "true" }, "stream", "Expected true or false"],
    ["too many logprobs", { top_logprobs: 21 }, "top_logprobs", "Expected"],
    ["instructions in items", { instructions: [{}] }, "instructions", "Expected a text"],
    ["a job", { background: true }, "background", "Expected false"],
    ["a conversation", { conversation: "conv_1" }, "conversation", "Expected previous_response_id"],
    ["a prompt", { prompt: { id: "pmpt_1" } }, "prompt", "Expected input and instructions"],
    ["several choices", { n: 2 }, "n", "n is the field"],
    [
      "sound in the answer",
      { modalities: ["audio"] },
      "modalities",
      "modalities may have text alone"
    ],
    ["another tier", { service_tier: "priority" }, "service_tier", "Orders are billed"],
    [
      "a vendor's search",
      { web_search_options: {} },
      "web_search_options",
      "What a vendor's own tools"
    ],
    ["unpriced work inside", { extra_body: { n: 3 } }, "extra_body.n", "n is the field"],
    ["messages of a chat", { messages: [] }, "messages", "Expected input"],
    [
      "a chat's length",
      { max_completion_tokens: 1 },
      "max_completion_tokens",
      "Expected max_output_tokens"
    ],
    ["a chat's format", { response_format: {} }, "response_format", "Expected text.format"],
    ["another spelling", { Model: "x" }, "Model", "model is the field"]
  ])("%s", (_, fields, path, message) => {
    const fault = firstFault(fields)
    assert.strictEqual(fault?.path, path)
    assert.isTrue(fault?.message.startsWith(message), fault?.message)
  })

  it("what changes nothing is taken", () => {
    const fields = { background: false, conversation: null, service_tier: "auto", n: 1 }
    const input = [{ id: "msg_1" }, { type: "item_reference", id: "msg_2" }]
    assert.isTrue(Result.isSuccess(decode({ model: "m", input, ...fields })))
  })
})
