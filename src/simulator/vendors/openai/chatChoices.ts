/** The choices of a chat: texts, JSON and tool calls. The same chat always gives the same choices. */
import { Effect, type Schema } from "effect"
import { numberFrom, sha256 } from "../../digest.ts"
import { jsonSample } from "../../jsonSample.ts"
import { isOn, readSwitches } from "../../switches.ts"
import type { Refusal } from "../../Vendor.ts"
import { invalid } from "../standardErrors.ts"
import { type Chat, lastUserText, promptOf, type Tool } from "./chats.ts"

const lexicon = ["the", "lamp", "turns", "over", "grey", "water", "and", "waits", "for", "morning"]
const shortest = 8
const longest = 24

/** The maximum number of tokens of JSON when the chat sets none. */
const DEFAULT_MAX_TOKENS = 4096

interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: ReadonlyArray<number>
}

export interface TokenLogprob extends Logprob {
  readonly top_logprobs: ReadonlyArray<Logprob>
}

interface ToolCall {
  readonly id: string
  readonly type: Tool["type"]
  readonly name: string
  /** The arguments or, of a custom tool, the input. */
  readonly tokens: ReadonlyArray<string>
}

export interface ChatChoice {
  /** The visible reasoning before the text, where the chat sets an effort. */
  readonly thoughts: ReadonlyArray<string>
  /** The text, which is empty beside tool calls. */
  readonly tokens: ReadonlyArray<string>
  /** Whether the text says that the model declines to answer, as with `sim:declines`. */
  readonly isRefusal: boolean
  /** One for each token of the text; null when the chat did not request them. */
  readonly logprobs: ReadonlyArray<TokenLogprob> | null
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly finish: "stop" | "length" | "tool_calls"
}

/** The tokens of JSON and names: 4 characters each. */
const piecesOf = (text: string): ReadonlyArray<string> => text.match(/.{1,4}/gsu) ?? []

/** The number of tokens of a choice. A call counts its name and its arguments. */
export const countTokens = ({ thoughts, tokens, toolCalls }: ChatChoice): number =>
  toolCalls.reduce(
    (sum, call) => sum + piecesOf(call.name).length + call.tokens.length,
    thoughts.length + tokens.length
  )

export const choicesOf = Effect.fnUntraced(function* (
  chat: Chat
): Effect.fn.Return<ReadonlyArray<ChatChoice>, Refusal> {
  if (chat.top_logprobs !== undefined && chat.logprobs !== true) {
    return yield* invalid("top_logprobs", "top_logprobs requires logprobs")
  }
  const tools = yield* calledTools(chat)
  return yield* Effect.forEach(Array.from({ length: chat.n ?? 1 }).keys(), (choice) => {
    const seed = `${promptOf(chat)} ${choice}`
    return tools.length > 0 ? callTools(chat, tools, seed) : writeText(chat, seed)
  })
})

/**
 * The tools that the chat calls. With `auto`, tools are called exactly when the last message is the
 * user's: those that it names or, when it names none, the first.
 */
const calledTools = Effect.fnUntraced(function* (
  chat: Chat
): Effect.fn.Return<ReadonlyArray<Tool>, Refusal> {
  const { tools = [], tool_choice = "auto" } = chat
  if (typeof tool_choice === "string") return yield* toolsOfMode(chat, tool_choice, tools)
  if (tool_choice.type === "allowed_tools") {
    const { mode, tools: allowed } = tool_choice.allowed_tools
    const names = allowed.map((tool) => nameOf(tool))
    return yield* toolsOfMode(
      chat,
      mode,
      tools.filter((tool) => names.includes(nameOf(tool)))
    )
  }
  const named = tools.filter((tool) => nameOf(tool) === nameOf(tool_choice)).slice(0, 1)
  if (named.length > 0) return named
  return yield* invalid("tool_choice", `tools has no tool named ${nameOf(tool_choice)}`)
})

const toolsOfMode = (
  chat: Chat,
  mode: "none" | "auto" | "required",
  tools: ReadonlyArray<Tool>
): Effect.Effect<ReadonlyArray<Tool>, Refusal> => {
  if (mode === "required" && tools.length === 0) {
    return invalid("tool_choice", "tool_choice required needs tools")
  }
  const isCalling =
    mode === "required" || (mode === "auto" && chat.messages.at(-1)?.role === "user")
  if (!isCalling) return Effect.succeed([])
  const text = lastUserText(chat)
  const named = tools.filter((tool) => text.includes(nameOf(tool)))
  const called = named.length > 0 ? named : tools.slice(0, 1)
  return Effect.succeed(chat.parallel_tool_calls === false ? called.slice(0, 1) : called)
}

const nameOf = (
  tool:
    | { readonly type: "function"; readonly function: { readonly name: string } }
    | { readonly type: "custom"; readonly custom: { readonly name: string } }
): string => (tool.type === "function" ? tool.function.name : tool.custom.name)

const maxTokensOf = (chat: Chat, fallback: number): number =>
  chat.max_completion_tokens ?? chat.max_tokens ?? fallback

/** Calls the tools in order, until the chat's tokens are used up. */
const callTools = Effect.fnUntraced(function* (
  chat: Chat,
  tools: ReadonlyArray<Tool>,
  seed: string
): Effect.fn.Return<ChatChoice, Refusal> {
  let left = maxTokensOf(chat, DEFAULT_MAX_TOKENS)
  let isCut = false
  const toolCalls: Array<ToolCall> = []
  for (const [index, tool] of tools.entries()) {
    const name = nameOf(tool)
    const callSeed = `${seed} ${name} ${index}`
    const tokens = yield* argumentsOf(chat, tool, callSeed)
    left -= piecesOf(name).length
    isCut = left < tokens.length
    if (left >= 0) {
      const id = `call_${sha256(callSeed).slice(0, 24)}`
      toolCalls.push({ id, type: tool.type, name, tokens: tokens.slice(0, left) })
    }
    if (isCut) break
    left -= tokens.length
  }
  return {
    thoughts: thoughtsOf(chat, seed),
    tokens: [],
    isRefusal: false,
    logprobs: null,
    toolCalls,
    finish: isCut ? "length" : "tool_calls"
  }
})

const argumentsOf = Effect.fnUntraced(function* (
  chat: Chat,
  tool: Tool,
  seed: string
): Effect.fn.Return<ReadonlyArray<string>, Refusal> {
  if (tool.type === "custom") return wordsOf(seed)
  const place = `tools[${(chat.tools ?? []).indexOf(tool)}].function.parameters`
  return yield* jsonTokens({ type: "object", ...tool.function.parameters }, seed, place)
})

const jsonTokens = (schema: Schema.Json, seed: string, place: string) => {
  const value = jsonSample(schema, seed)
  return value === undefined
    ? Effect.fail(invalid(place, `${place} is a schema for which no JSON can be generated`))
    : Effect.succeed(piecesOf(JSON.stringify(value)))
}

const wordsOf = (seed: string): ReadonlyArray<string> =>
  Array.from({ length: shortest + numberFrom(seed, longest - shortest) }, (_, index) =>
    [index === 0 ? "" : " ", lexicon[numberFrom(`${seed} ${index}`, lexicon.length)] ?? ""].join("")
  )

/** What the model shows of its reasoning; an effort of `none` needs none. */
const thoughtsOf = ({ reasoning_effort = "none" }: Chat, seed: string): ReadonlyArray<string> =>
  reasoning_effort === "none" ? [] : wordsOf(`${seed} thought`)

/** Writes words or, where the chat's `response_format` says so, JSON. */
const writeText = Effect.fnUntraced(function* (
  chat: Chat,
  seed: string
): Effect.fn.Return<ChatChoice, Refusal> {
  const desired = yield* contentOf(chat, seed)
  const bounded = desired.slice(0, maxTokensOf(chat, DEFAULT_MAX_TOKENS))
  const stopped = tokensBefore(bounded, typeof chat.stop === "string" ? [chat.stop] : chat.stop)
  const tokens = stopped ?? bounded
  const count = chat.top_logprobs ?? 0
  const isRefusal = isOn(readSwitches(promptOf(chat)), "declines")
  return {
    thoughts: thoughtsOf(chat, seed),
    tokens,
    isRefusal,
    logprobs:
      chat.logprobs === true && !isRefusal
        ? tokens.map((token, index) => logprobOf(token, `${seed} ${index} logprob`, count))
        : null,
    toolCalls: [],
    finish: stopped === undefined && bounded.length < desired.length ? "length" : "stop"
  }
})

const contentOf = (chat: Chat, seed: string): Effect.Effect<ReadonlyArray<string>, Refusal> => {
  const format = chat.response_format
  switch (format?.type) {
    case "json_schema":
      return jsonTokens(
        format.json_schema.schema ?? { type: "object" },
        seed,
        "response_format.json_schema.schema"
      )
    case "json_object":
      return Effect.succeed(piecesOf(JSON.stringify({ answer: wordsOf(seed).join("") })))
    default:
      return Effect.succeed(wordsOf(seed))
  }
}

/** The tokens before the first stop sequence; undefined when none occurs. */
const tokensBefore = (
  tokens: ReadonlyArray<string>,
  stops: ReadonlyArray<string> = []
): ReadonlyArray<string> | undefined => {
  const text = tokens.join("")
  const ends = stops.map((stop) => text.indexOf(stop)).filter((end) => end >= 0)
  if (ends.length === 0) return undefined
  const keptTokens: Array<string> = []
  let left = Math.min(...ends)
  for (const token of tokens) {
    if (left <= 0) break
    keptTokens.push(token.slice(0, left))
    left -= token.length
  }
  return keptTokens
}

const alternatives = [...lexicon.map((word) => ` ${word}`), ...lexicon]

/** The token's log probability, which is above that of all other tokens at its place. */
const logprobOf = (token: string, seed: string, count: number): TokenLogprob => {
  const probability = 0.5 + numberFrom(seed, 45) / 100
  const chosen = logprob(token, probability)
  const others = alternatives
    .filter((other) => other !== token)
    .map((other, index) => logprob(other, (1 - probability) / 2 ** (index + 1)))
  return { ...chosen, top_logprobs: [chosen, ...others].slice(0, count) }
}

const logprob = (token: string, probability: number): Logprob => ({
  token,
  logprob: Number(Math.log(probability).toFixed(6)),
  bytes: [...Buffer.from(token)]
})
