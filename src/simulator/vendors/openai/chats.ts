/** Chat requests and the counts of their tokens. */
import { Schema } from "effect"
import { countOf, isOn, readSwitches } from "../../switches.ts"
import { decodeBody } from "../../Vendor.ts"
import { ofFault } from "../standardErrors.ts"

const optional = Schema.optionalKey

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

const Part = Schema.Struct({
  type: Schema.String,
  text: optional(Schema.String),
  image_url: optional(Schema.Struct({ url: Schema.NonEmptyString }))
})

const FunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: Schema.NonEmptyString,
    parameters: optional(Schema.Record(Schema.String, Schema.Json))
  })
})
const CustomTool = Schema.Struct({
  type: Schema.Literal("custom"),
  custom: Schema.Struct({ name: Schema.NonEmptyString })
})
const Tool = Schema.Union([FunctionTool, CustomTool])
export type Tool = typeof Tool.Type

const ToolChoice = Schema.Union([
  Schema.Literals(["none", "auto", "required"]),
  Tool,
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    allowed_tools: Schema.Struct({
      mode: Schema.Literals(["auto", "required"]),
      tools: Schema.Array(Tool)
    })
  })
])

const ResponseFormat = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["text", "json_object"]) }),
  Schema.Struct({
    type: Schema.Literal("json_schema"),
    json_schema: Schema.Struct({ schema: optional(Schema.Json) })
  })
])

const MAX_STOPS = 4
const MAX_TOP_LOGPROBS = 20

const Chat = Schema.Struct({
  model: Schema.NonEmptyString,
  messages: Schema.NonEmptyArray(
    Schema.Struct({
      role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
      content: optional(Schema.Union([Schema.String, Schema.Array(Part)]))
    })
  ),
  stream: optional(Schema.Boolean),
  stream_options: optional(Schema.Struct({ include_usage: optional(Schema.Boolean) })),
  max_tokens: optional(Positive),
  max_completion_tokens: optional(Positive),
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 128 }))),
  stop: optional(
    Schema.Union([
      Schema.NonEmptyString,
      Schema.Array(Schema.NonEmptyString).check(Schema.isMaxLength(MAX_STOPS))
    ])
  ),
  logprobs: optional(Schema.Boolean),
  top_logprobs: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_TOP_LOGPROBS }))
  ),
  response_format: optional(ResponseFormat),
  tools: optional(Schema.Array(Tool)),
  tool_choice: optional(ToolChoice),
  parallel_tool_calls: optional(Schema.Boolean),
  reasoning_effort: optional(Schema.String)
})
export type Chat = typeof Chat.Type
type Message = Chat["messages"][number]

export const decodeChat = decodeBody(Chat, { unknownFields: "ignored", refuse: ofFault })

/**
 * Counts the tokens of a text, at 4 bytes per token; an image counts 85 tokens. Both counts are
 * low, so that a gateway's estimate should never be below them.
 */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
const imageTokens = 85
const tokensPerMessage = 3

const partsOf = (messages: ReadonlyArray<Message>) =>
  messages.flatMap(
    ({ content }): ReadonlyArray<typeof Part.Type> =>
      typeof content === "string" ? [{ type: "text", text: content }] : (content ?? [])
  )

export const imagesOf = (chat: Chat): number =>
  partsOf(chat.messages).filter(({ image_url }) => image_url !== undefined).length

const textOf = (messages: ReadonlyArray<Message>): string =>
  partsOf(messages)
    .flatMap(({ text }) => text ?? [])
    .join("\n")

export const promptOf = (chat: Chat): string => textOf(chat.messages)

/** The text of the last message of the user. */
export const lastUserText = ({ messages }: Chat): string =>
  textOf(messages.filter(({ role }) => role === "user").slice(-1))

const countPrompt = (chat: Chat): number =>
  tokensOf(promptOf(chat)) + imagesOf(chat) * imageTokens + chat.messages.length * tokensPerMessage

const usageOf = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output
})

/**
 * The usage of a chat. `sim:cached=N`, `sim:audio-input=N` and `sim:audio-output=N` in a prompt
 * make N of the tokens cached or audio tokens, even where N is more than all of them.
 */
export const chatUsage = (chat: Chat, outputTokens: number) => {
  const switches = readSwitches(promptOf(chat))
  const count = (field: string, name: string) =>
    isOn(switches, name) ? { [field]: countOf(switches, name, 0) } : {}
  const details = (name: string, fields: object) =>
    Object.keys(fields).length === 0 ? {} : { [name]: fields }
  return {
    ...usageOf(countPrompt(chat), outputTokens),
    ...details("prompt_tokens_details", {
      ...count("cached_tokens", "cached"),
      ...count("audio_tokens", "audio-input")
    }),
    ...details("completion_tokens_details", count("audio_tokens", "audio-output"))
  }
}
