/** Chat requests and their responses. The same prompt always gives the same words and counts. */
import { Schema } from "effect"
import { numberFrom } from "../../digest.ts"
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
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 128 })))
})
export type Chat = typeof Chat.Type

export const decodeChat = decodeBody(Chat, { unknownFields: "ignored", refuse: ofFault })

/**
 * Counts the tokens of a text, at 4 bytes per token; an image counts 85 tokens. Both counts are
 * low, so that a gateway's estimate should never be below them.
 */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
const imageTokens = 85
const tokensPerMessage = 3

const partsOf = (chat: Chat) =>
  chat.messages.flatMap(
    ({ content }): ReadonlyArray<typeof Part.Type> =>
      typeof content === "string" ? [{ type: "text", text: content }] : (content ?? [])
  )

export const imagesOf = (chat: Chat): number =>
  partsOf(chat).filter(({ image_url }) => image_url !== undefined).length

export const promptOf = (chat: Chat): string =>
  partsOf(chat)
    .flatMap(({ text }) => text ?? [])
    .join("\n")

const countPrompt = (chat: Chat): number =>
  tokensOf(promptOf(chat)) + imagesOf(chat) * imageTokens + chat.messages.length * tokensPerMessage

const lexicon = ["the", "lamp", "turns", "over", "grey", "water", "and", "waits", "for", "morning"]
const shortest = 8
const longest = 24

interface ChatChoice {
  /** The words of the choice, each of them one token. */
  readonly tokens: ReadonlyArray<string>
  readonly finish: "stop" | "length"
}

/** Generates a choice; the same prompt and choice always give the same words. */
const choiceOf = (chat: Chat, choice: number): ChatChoice => {
  const seed = `${promptOf(chat)} ${choice}`
  const desiredLength = shortest + numberFrom(seed, longest - shortest)
  const maxLength = chat.max_completion_tokens ?? chat.max_tokens ?? longest
  const tokens = Array.from({ length: Math.min(desiredLength, maxLength) }, (_, index) =>
    [index === 0 ? "" : " ", lexicon[numberFrom(`${seed} ${index}`, lexicon.length)] ?? ""].join("")
  )
  return { tokens, finish: desiredLength > maxLength ? "length" : "stop" }
}

export const choicesOf = (chat: Chat): ReadonlyArray<ChatChoice> =>
  Array.from({ length: chat.n ?? 1 }, (_, choice) => choiceOf(chat, choice))

const usageOf = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output
})

/**
 * The usage of a chat. `sim:cached=N`, `sim:audio-input=N` and `sim:audio-output=N` in a prompt
 * make N of the tokens cached or audio tokens, even where N is more than all of them.
 */
export const chatUsage = (chat: Chat) => {
  const switches = readSwitches(promptOf(chat))
  const count = (field: string, name: string) =>
    isOn(switches, name) ? { [field]: countOf(switches, name, 0) } : {}
  const details = (name: string, fields: object) =>
    Object.keys(fields).length === 0 ? {} : { [name]: fields }
  return {
    ...usageOf(
      countPrompt(chat),
      choicesOf(chat).reduce((sum, { tokens }) => sum + tokens.length, 0)
    ),
    ...details("prompt_tokens_details", {
      ...count("cached_tokens", "cached"),
      ...count("audio_tokens", "audio-input")
    }),
    ...details("completion_tokens_details", count("audio_tokens", "audio-output"))
  }
}
