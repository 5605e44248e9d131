/** The choices of a chat in the wire format: whole messages and the deltas of a stream. */
import type { ChatChoice, TokenLogprob } from "./chatChoices.ts"

type ToolCall = ChatChoice["toolCalls"][number]

/** A tool call with its arguments or, in a stream, with some of them. */
const callOf = ({ id, type, name }: ToolCall, content: string) =>
  type === "function"
    ? { id, type, function: { name, arguments: content } }
    : { id, type, custom: { name, input: content } }

const callDelta = ({ type }: ToolCall, content: string) =>
  type === "function" ? { function: { arguments: content } } : { custom: { input: content } }

/** A text in the field of an answer or, where the model declines, in that of a refusal. */
const wordsOf = (isRefusal: boolean, text: string) =>
  isRefusal ? { content: null, refusal: text } : { content: text }

export const wholeChoice = (choice: ChatChoice, index: number) => {
  const { thoughts, tokens, isRefusal, logprobs, toolCalls, finish } = choice
  const reasoning = thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("") }
  const isCall = toolCalls.length > 0
  const message = isCall
    ? {
        role: "assistant",
        content: null,
        ...reasoning,
        tool_calls: toolCalls.map((call) => callOf(call, call.tokens.join("")))
      }
    : { role: "assistant", ...wordsOf(isRefusal, tokens.join("")), ...reasoning }
  return {
    index,
    message,
    logprobs: logprobs === null ? null : { content: logprobs, refusal: null },
    finish_reason: finish
  }
}

const delta = (index: number, fields: object, logprob?: TokenLogprob) => ({
  index,
  delta: fields,
  logprobs: logprob === undefined ? null : { content: [logprob], refusal: null },
  finish_reason: null
})

/** The streamed choices of one choice: the role, each token and the finish reason. */
export const streamedChoice = (
  { thoughts, tokens, isRefusal, logprobs, toolCalls, finish }: ChatChoice,
  index: number
) => ({
  start: delta(index, { role: "assistant", content: toolCalls.length > 0 ? null : "" }),
  deltas: [
    ...thoughts.map((reasoning_content) => delta(index, { reasoning_content })),
    ...tokens.map((token, position) =>
      delta(index, isRefusal ? { refusal: token } : { content: token }, logprobs?.[position])
    ),
    ...toolCalls.flatMap((call, position) => [
      delta(index, { tool_calls: [{ index: position, ...callOf(call, "") }] }),
      ...call.tokens.map((token) =>
        delta(index, { tool_calls: [{ index: position, ...callDelta(call, token) }] })
      )
    ])
  ],
  end: { index, delta: {}, logprobs: null, finish_reason: finish }
})
