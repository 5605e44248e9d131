/** Streams of chat as a vendor writes them, and what the adapter makes of one. */
import { Effect } from "effect"
import type { ChatBody } from "../../src/domain/text/TextRequest.ts"
import type { TextPiece } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { failureOf } from "./failures.ts"
import { accountAt, textAdapter } from "./support.ts"

export const adapter = textAdapter("openai")
const chat: ChatBody = { model: "our-model", messages: [{ role: "user", content: "hello" }] }
export const order = { upstreamModel: "m-1", body: chat }

export const said = {
  index: 0,
  message: { role: "assistant", content: "hello" },
  finish_reason: "stop"
}
export const good = {
  id: "c-1",
  choices: [said],
  usage: { prompt_tokens: 3, completion_tokens: 2 }
}

export const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({ id: "c-1", choices: [{ index: 0, delta, finish_reason: null }], ...more })
export const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
export const counted = JSON.stringify({
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2 }
})
export const events = (...data: ReadonlyArray<string>) =>
  data.map((one) => `data: ${one}\n\n`).join("")

export const sse = (body: string): Reply => ({
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  body
})

export const bytesOf = (pieces: ReadonlyArray<TextPiece>) =>
  pieces.map(({ event }) => (event === null ? "" : Buffer.from(event).toString())).join("")

/** The pieces of a stream, and what became of it. */
export const streamFrom = Effect.fnUntraced(function* (
  baseUrl: string,
  more: Partial<ChatBody> = {}
) {
  const pieces: Array<TextPiece> = []
  const result = yield* Effect.result(
    (yield* adapter).stream(
      accountAt(baseUrl),
      { upstreamModel: "m-1", body: { ...chat, stream: true, ...more } },
      (taken) => Effect.sync(() => void pieces.push(...taken))
    )
  )
  return {
    pieces,
    text: bytesOf(pieces),
    failure: result._tag === "Failure" ? failureOf(result.failure) : null
  }
})

export const streamOf = (reply: Reply, more: Partial<ChatBody> = {}) =>
  Effect.flatMap(brokenVendor(reply), ({ url }) => streamFrom(url, more))

export const usage = { prompt_tokens: 1, completion_tokens: 1 }
export const ending = (index: number, more: object = {}) =>
  JSON.stringify({ choices: [{ index, delta: {}, finish_reason: "stop" }], ...more })
export const speaking = (index: number, more: object = {}) =>
  JSON.stringify({ choices: [{ index, delta: { content: "y" } }], ...more })
