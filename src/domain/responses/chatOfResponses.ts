/**
 * Translates a request of the Responses API to a chat in the common standard form, for vendors that
 * have only the latter. The chat is also what an order of a response is priced by.
 */
import { Result } from "effect"
import type { InvalidRequest } from "../Errors.ts"
import { type FieldFault, invalidFields } from "../requestFields.ts"
import type { ChatBody } from "../text/TextRequest.ts"
import { type ChatPlaces, decodeTranslated } from "../text/translatedChat.ts"
import type {
  Item,
  Message,
  Part,
  ResponsesBody,
  TextFormat,
  Tool,
  ToolChoice
} from "./ResponsesRequest.ts"

/** An item of the conversation with its place in the request, for errors. */
export interface PlacedItem {
  readonly item: Item
  /** `previous_response_id` for an item of a stored response. */
  readonly path: string
}

export interface TranslatedChat {
  readonly body: ChatBody
  /** The chat with the encrypted reasoning that a vendor of responses gets as well. */
  readonly pricedBody: ChatBody
  /** What a chat cannot say. A vendor with a Responses API of its own may still take it. */
  readonly faults: ReadonlyArray<FieldFault>
}

type Fields = Readonly<Record<string, unknown>>

/** A message of a chat, as the chat of another form is built from it. */
export interface ChatMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<Fields> | null
  readonly tool_calls?: ReadonlyArray<Fields>
  readonly tool_call_id?: string
}

type Call = Extract<Item, { readonly type: "function_call" | "custom_tool_call" }>

const filePart = (
  { file_data, file_url, filename }: Extract<Part, { readonly type: "input_file" }>,
  path: string,
  faults: Array<FieldFault>
): Fields => {
  if (file_url !== undefined && file_url !== null) {
    faults.push({
      path: `${path}.file_url`,
      message: "Expected file_data, as the vendors of this model load no files from addresses"
    })
    return { type: "file", file_url }
  }
  return { type: "file", file: { filename: filename ?? "file", file_data: file_data ?? "" } }
}

const partOf = (part: Part, path: string, faults: Array<FieldFault>): Fields => {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: part.text }
    case "refusal":
      return { type: "text", text: part.refusal }
    case "input_image": {
      const { image_url, detail } = part
      const hasDetail = detail !== undefined && detail !== null
      return {
        type: "image_url",
        image_url: { url: image_url ?? "", ...(hasDetail ? { detail } : {}) }
      }
    }
    case "input_file":
      return filePart(part, path, faults)
  }
}

type TextPart = Extract<Part, { readonly type: "input_text" | "output_text" | "refusal" }>

const isText = (part: Part): part is TextPart =>
  part.type !== "input_image" && part.type !== "input_file"

/** The text of a model, which wrote its parts as one. Null where there are other parts than texts. */
const writtenText = (content: Message["content"]): string | null => {
  if (typeof content === "string") return content
  return content.every(isText)
    ? content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("")
    : null
}

const ofAssistant = (
  content: ReadonlyArray<Part>,
  path: string,
  faults: Array<FieldFault>
): ReadonlyArray<Fields> =>
  content.map((part, index) => {
    const place = `${path}[${index}]`
    if (!isText(part)) {
      const message = "Expected output_text or refusal, as an assistant says texts alone"
      faults.push({ path: `${place}.type`, message })
    }
    return partOf(part, place, faults)
  })

const contentOf = (
  content: string | ReadonlyArray<Part>,
  path: string,
  faults: Array<FieldFault>
) => {
  if (typeof content === "string") return content
  const [first, ...others] = content
  if (first?.type === "input_text" && others.length === 0) return first.text
  return content.map((part, index) => partOf(part, `${path}[${index}]`, faults))
}

const messageOf = (
  { role, content }: Message,
  path: string,
  faults: Array<FieldFault>
): ChatMessage => {
  if (role === "assistant") {
    const text = writtenText(content)
    if (text !== null || typeof content === "string") return { role, content: text }
    return { role, content: ofAssistant(content, `${path}.content`, faults) }
  }
  const isInstruction = role === "developer" || role === "system"
  return {
    role: isInstruction ? "system" : role,
    content: contentOf(content, `${path}.content`, faults)
  }
}

const toolCallOf = (call: Call): Fields =>
  call.type === "function_call"
    ? {
        id: call.call_id,
        type: "function",
        function: { name: call.name, arguments: call.arguments }
      }
    : { id: call.call_id, type: "custom", custom: { name: call.name, input: call.input } }

/** Calls that the model made one after the other are calls of one message in a chat. */
const addCall = (messages: Array<ChatMessage>, call: Call): void => {
  const last = messages.at(-1)
  if (last?.role === "assistant") {
    messages[messages.length - 1] = {
      ...last,
      tool_calls: [...(last.tool_calls ?? []), toolCallOf(call)]
    }
  } else {
    messages.push({ role: "assistant", content: null, tool_calls: [toolCallOf(call)] })
  }
}

/** The messages of a conversation. A model's earlier reasoning has no place in a chat. */
const messagesOf = (
  items: ReadonlyArray<PlacedItem>,
  faults: Array<FieldFault>
): ReadonlyArray<ChatMessage> => {
  const messages: Array<ChatMessage> = []
  for (const { item, path } of items) {
    switch (item.type) {
      case undefined:
      case "message":
        messages.push(messageOf(item, path, faults))
        break
      case "function_call":
      case "custom_tool_call":
        addCall(messages, item)
        break
      case "function_call_output":
      case "custom_tool_call_output":
        messages.push({
          role: "tool",
          tool_call_id: item.call_id,
          content: contentOf(item.output, `${path}.output`, faults)
        })
        break
      case "reasoning":
        break
    }
  }
  return messages
}

/** Reasoning that its vendor reads again, outside the text that every vendor counts. */
const reasoningOf = (
  items: ReadonlyArray<PlacedItem>
): ReadonlyArray<ChatBody["messages"][number]> =>
  items.flatMap(({ item }) =>
    item.type === "reasoning" && typeof item.encrypted_content === "string"
      ? [{ role: "assistant", reasoning: item.encrypted_content }]
      : []
  )

const toolOf = (tool: Tool): Fields => {
  if (tool.type === "function") {
    const { type, ...definition } = tool
    return { type, function: definition }
  }
  const { type, format, ...definition } = tool
  if (format === undefined || format === null) return { type, custom: definition }
  const { type: kind, ...grammar } = format
  return {
    type,
    custom: { ...definition, format: kind === "grammar" ? { type: kind, grammar } : { type: kind } }
  }
}

const namedTool = ({ type, name }: { readonly type: string; readonly name: string }): Fields => ({
  type,
  [type]: { name }
})

const toolChoiceOf = (choice: ToolChoice): unknown => {
  if (typeof choice === "string") return choice
  if (choice.type !== "allowed_tools") return namedTool(choice)
  const { type, mode, tools } = choice
  return { type, allowed_tools: { mode, tools: tools.map(namedTool) } }
}

const formatOf = (format: TextFormat): Fields => {
  if (format.type !== "json_schema") return { type: format.type }
  const { type, ...schema } = format
  return { type, json_schema: schema }
}

/** The fields that have a value. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  )

/** The places in a request of a response of what has another one in its chat. */
export const responsePlaces: ChatPlaces = new Map([
  ["messages", "input"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["response_format", "text.format"],
  ["verbosity", "text.verbosity"],
  ["reasoning_effort", "reasoning.effort"],
  ["logprobs", "top_logprobs"]
])

const noConversation = invalidFields([
  { path: "input", message: "Expected an item beside reasoning, which alone is no conversation" }
])

/**
 * The chat of a request with the whole conversation. Fields that are the same in both forms and
 * fields of the vendor are kept. Fails where no vendor may be asked.
 */
export const chatOfResponses = (
  request: ResponsesBody,
  items: ReadonlyArray<PlacedItem>
): Result.Result<TranslatedChat, InvalidRequest> => {
  const {
    input: _input,
    instructions,
    previous_response_id: _previous,
    include,
    store: _store,
    stream,
    stream_options: _streamOptions,
    max_output_tokens,
    tools,
    tool_choice,
    text,
    reasoning,
    top_logprobs,
    truncation: _truncation,
    metadata,
    ...sameFields
  } = request
  if (items.every(({ item }) => item.type === "reasoning")) return Result.fail(noConversation)
  const faults: Array<FieldFault> = []
  const hasInstructions = instructions !== undefined && instructions !== null
  const format = text?.format
  const hasLogprobs = include?.includes("message.output_text.logprobs") || (top_logprobs ?? 0) > 0
  const chat = present({
    ...sameFields,
    messages: [
      ...(hasInstructions ? [{ role: "system", content: instructions }] : []),
      ...messagesOf(items, faults)
    ],
    ...(stream === true ? { stream, stream_options: { include_usage: true } } : {}),
    max_tokens: max_output_tokens,
    tools: tools?.map(toolOf),
    tool_choice:
      tool_choice === undefined || tool_choice === null ? null : toolChoiceOf(tool_choice),
    response_format:
      format === undefined || format === null || format.type === "text" ? null : formatOf(format),
    verbosity: text?.verbosity,
    reasoning_effort: reasoning?.effort,
    ...(hasLogprobs ? { logprobs: true, top_logprobs } : {}),
    metadata
  })
  return Result.map(decodeTranslated(chat, responsePlaces), (body) => {
    const [first, ...others] = body.messages
    const messages = [first, ...others, ...reasoningOf(items)] as const
    return { body, pricedBody: { ...body, messages }, faults }
  })
}
