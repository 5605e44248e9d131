/** A vendor that answers the largest that an order allows, and what such an answer is charged. */
import { Schema } from "effect"
import type { ReceivedRequest } from "../support/brokenVendor.ts"

const Order = Schema.Struct({
  n: Schema.optionalKey(Schema.Number),
  max_tokens: Schema.optionalKey(Schema.Number),
  logprobs: Schema.optionalKey(Schema.Boolean),
  top_logprobs: Schema.optionalKey(Schema.Number),
  stream: Schema.optionalKey(Schema.Boolean),
  input: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  dimensions: Schema.optionalKey(Schema.Number),
  encoding_format: Schema.optionalKey(Schema.String),
  response_format: Schema.optionalKey(Schema.String)
})
export type Order = typeof Order.Type

const decodeOrder = Schema.decodeUnknownSync(Schema.fromJsonString(Order))

/** What a vendor counts of an order's input, where that is one text. */
const INPUT_TOKENS = 9
/** Of as many texts as there are, one for each. */
export const inputTokensOf = ({ input = "" }: Order): number =>
  typeof input === "string" ? INPUT_TOKENS : Math.max(INPUT_TOKENS, input.length)

const WORD = " lighthouse"
const candidate = {
  token: WORD,
  logprob: -12.345678901234567,
  bytes: [...Buffer.from(WORD)]
}

const listOf = (item: string, count: number): string =>
  count === 0 ? "[]" : `[${`${item},`.repeat(count - 1)}${item}]`

const tokensOf = ({ max_tokens: tokens = 16 }: Order): number => tokens

/** One choice with every token it may have, and those that might stand in its place. */
const choiceOf = (order: Order, field: "message" | "delta"): string => {
  const tokens = tokensOf(order)
  const said = JSON.stringify({ role: "assistant", content: WORD.repeat(tokens) })
  const one = JSON.stringify(candidate)
  const entry = `${one.slice(0, -1)},"top_logprobs":${listOf(one, order.top_logprobs ?? 0)}}`
  const likelihoods = order.logprobs === true ? `{"content":${listOf(entry, tokens)}}` : "null"
  return `{"index":0,"${field}":${said},"logprobs":${likelihoods},"finish_reason":"stop"}`
}

const usageOf = (output: number): string =>
  JSON.stringify({
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: output,
    total_tokens: INPUT_TOKENS + output
  })

export const outputTokensOf = (order: Order): number => tokensOf(order) * (order.n ?? 1)

const chat = (order: Order): string => {
  const choices = listOf(choiceOf(order, "message"), order.n ?? 1)
  return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":${choices},"usage":${usageOf(outputTokensOf(order))}}`
}

/** Everything in one event. */
const streamed = (order: Order): string => {
  const head = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"'
  const choices = listOf(choiceOf(order, "delta"), order.n ?? 1)
  const counted = `{${head},"choices":[],"usage":${usageOf(outputTokensOf(order))}}`
  return `data: {${head},"choices":${choices}}\n\ndata: ${counted}\n\ndata: [DONE]\n\n`
}

const embeddings = (order: Order): string => {
  const { input = "", dimensions = 3, encoding_format } = order
  const counted = inputTokensOf(order)
  const count = typeof input === "string" ? 1 : input.length
  const vector =
    encoding_format === "base64"
      ? JSON.stringify(Buffer.alloc(dimensions * 4, 77).toString("base64"))
      : listOf("-0.012345678901234567", dimensions)
  const data = listOf(`{"object":"embedding","index":0,"embedding":${vector}}`, count)
  return `{"object":"list","data":${data},"model":"m","usage":{"prompt_tokens":${counted},"total_tokens":${counted}}}`
}

const images = ({ n = 1 }: Order, imageBytes: number): string => {
  const image = `{"b64_json":"iVBORw0KGgo${"A".repeat(imageBytes - 11)}"}`
  return `{"created":1,"data":${listOf(image, n)}}`
}

/** The body that a vendor answers an order of this path with. */
export const largestAnswer = (path: string, order: Order, imageBytes: number): string => {
  if (path.endsWith("/embeddings")) return embeddings(order)
  if (path.endsWith("/images/generations")) return images(order, imageBytes)
  return order.stream === true ? streamed(order) : chat(order)
}

/** The same over HTTP. */
export const largestReply = (
  { target, body }: Pick<ReceivedRequest, "target" | "body">,
  imageBytes: number
) => {
  const order = decodeOrder(body)
  return {
    headers: { "content-type": order.stream === true ? "text/event-stream" : "application/json" },
    body: Buffer.from(largestAnswer(target, order, imageBytes))
  }
}
