/** Translates a request of the Messages API to a chat in the common standard form. */
import { Result } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { type FieldFault, invalidFields } from "../requestFields.ts"
import { type ChatMessage, present } from "../responses/chatOfResponses.ts"
import type { Fields } from "../responses/responseObject.ts"
import type { ChatBody } from "../text/TextRequest.ts"
import { type ChatPlaces, decodeTranslated } from "../text/translatedChat.ts"
import type {
  Block,
  InputMessage,
  MessagesBody,
  OutputConfig,
  ResultBlock,
  Thinking,
  Tool,
  ToolChoice
} from "./MessagesRequest.ts"

const partOf = (block: ResultBlock): Fields => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image": {
      const { source } = block
      const url =
        source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`
      return { type: "image_url", image_url: { url } }
    }
    case "document": {
      const { source, title } = block
      if (source.type === "text") return { type: "text", text: source.data }
      const file_data = `data:${source.media_type};base64,${source.data}`
      return { type: "file", file: { filename: title ?? "document.pdf", file_data } }
    }
  }
}

/** A text alone is a text in a chat too, as some vendors take no parts. */
const contentOf = (blocks: ReadonlyArray<ResultBlock>): string | ReadonlyArray<Fields> => {
  const [first, ...others] = blocks
  if (first === undefined) return ""
  return first.type === "text" && others.length === 0 ? first.text : blocks.map(partOf)
}

const isPart = (block: Block): block is ResultBlock =>
  block.type === "text" || block.type === "image" || block.type === "document"

type PlacedBlock = readonly [block: Block, path: string]

/** The results of tools are messages of their own, which follow their calls before anything else. */
const ofUser = (
  blocks: ReadonlyArray<PlacedBlock>,
  faults: Array<FieldFault>
): ReadonlyArray<ChatMessage> => {
  const results: Array<ChatMessage> = []
  const parts: Array<ResultBlock> = []
  for (const [block, path] of blocks) {
    if (isPart(block)) {
      parts.push(block)
    } else if (block.type === "tool_result") {
      const { content = null, tool_use_id } = block
      results.push({
        role: "tool",
        tool_call_id: tool_use_id,
        content: typeof content === "string" ? content : contentOf(content ?? [])
      })
    } else {
      faults.push({
        path: `${path}.type`,
        message: "Expected text, image, document or tool_result in a message of the user"
      })
    }
  }
  return parts.length === 0 ? results : [...results, { role: "user", content: contentOf(parts) }]
}

/** A model's earlier thoughts have no place in a chat. */
const ofAssistant = (
  blocks: ReadonlyArray<PlacedBlock>,
  faults: Array<FieldFault>
): ReadonlyArray<ChatMessage> => {
  const texts: Array<string> = []
  const calls: Array<Fields> = []
  for (const [block, path] of blocks) {
    switch (block.type) {
      case "text":
        texts.push(block.text)
        break
      case "tool_use":
        calls.push({
          id: block.id,
          type: "function",
          function: { name: block.name, arguments: JSON.stringify(block.input) }
        })
        break
      case "thinking":
      case "redacted_thinking":
        break
      default:
        faults.push({
          path: `${path}.type`,
          message: "Expected text, tool_use or thinking in a message of the assistant"
        })
    }
  }
  if (texts.length === 0 && calls.length === 0) return []
  return [
    {
      role: "assistant",
      content: texts.length === 0 ? null : texts.join(""),
      ...(calls.length === 0 ? {} : { tool_calls: calls })
    }
  ]
}

const messagesOf = (
  { role, content }: InputMessage,
  path: string,
  faults: Array<FieldFault>
): ReadonlyArray<ChatMessage> => {
  if (typeof content === "string") return [{ role, content }]
  const blocks = content.map((block, index) => [block, `${path}.content[${index}]`] as const)
  return role === "user" ? ofUser(blocks, faults) : ofAssistant(blocks, faults)
}

const instructionsOf = (system: MessagesBody["system"]): ReadonlyArray<ChatMessage> => {
  const text =
    typeof system === "string" ? system : (system ?? []).map((block) => block.text).join("\n\n")
  return text === "" ? [] : [{ role: "system", content: text }]
}

const toolOf = ({ name, description, input_schema, strict }: Tool): Fields => ({
  type: "function",
  function: present({ name, description, parameters: input_schema, strict })
})

const toolChoiceOf = (choice: ToolChoice | null): unknown => {
  switch (choice?.type) {
    case undefined:
      return null
    case "any":
      return "required"
    case "tool":
      return { type: "function", function: { name: choice.name } }
    case "auto":
    case "none":
      return choice.type
  }
}

const isOneCall = (choice: ToolChoice | null): boolean =>
  choice !== null && choice.type !== "none" && choice.disable_parallel_tool_use === true

/** The least budgets of thoughts, in tokens, that are more than a low and a medium effort. */
const MEDIUM_BUDGET = 4_096
const HIGH_BUDGET = 16_384

const efforts = { low: "low", medium: "medium", high: "high", xhigh: "high", max: "high" } as const

/** The effort of a chat; null where the request leaves it to the model. */
const effortOf = (thinking: Thinking | null, output: OutputConfig | null): string | null => {
  const { effort = null } = output ?? {}
  if (effort !== null) return efforts[effort]
  if (thinking?.type !== "enabled") return null
  const { budget_tokens: budget } = thinking
  return budget < MEDIUM_BUDGET ? "low" : budget < HIGH_BUDGET ? "medium" : "high"
}

const formatOf = (output: OutputConfig | null): Fields | null => {
  const { format = null } = output ?? {}
  return format === null
    ? null
    : { type: "json_schema", json_schema: { name: "answer", schema: format.schema, strict: true } }
}

/** The places in a request of a message of what has another one in its chat. */
export const messagePlaces: ChatPlaces = new Map([
  // A chat counts its messages differently.
  ["messages", "messages"],
  ["max_completion_tokens", "max_tokens"],
  ["stop", "stop_sequences"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
  ["reasoning_effort", "thinking"],
  ["response_format", "output_config.format"]
])

/** The chat of a request. Fails where a chat cannot say it, with the fields of the request. */
export const chatOfMessages = (request: MessagesBody): Result.Result<ChatBody, InvalidRequest> => {
  const { tool_choice = null, thinking = null, output_config = null, stop_sequences } = request
  const faults: Array<FieldFault> = []
  const isStreamed = request.stream === true
  const messages = request.messages.flatMap((message, index) =>
    messagesOf(message, `messages[${index}]`, faults)
  )
  if (messages.length === 0) {
    faults.push({
      path: "messages",
      message: "Expected a message that says something; thoughts are not sent to the vendor"
    })
  }
  const chat = present({
    model: request.model,
    messages: [...instructionsOf(request.system), ...messages],
    max_tokens: request.max_tokens,
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
    stop: stop_sequences?.length === 0 ? null : stop_sequences,
    temperature: request.temperature,
    top_p: request.top_p,
    tools: request.tools?.map(toolOf),
    tool_choice: toolChoiceOf(tool_choice),
    parallel_tool_calls: isOneCall(tool_choice) ? false : null,
    reasoning_effort: effortOf(thinking, output_config),
    response_format: formatOf(output_config),
    metadata: request.metadata
  })
  if (faults.length > 0) return Result.fail(invalidFields(faults))
  return decodeTranslated(chat, messagePlaces)
}
