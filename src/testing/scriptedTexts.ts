/** Scripted vendors of text without a socket. */
import { Clock, Effect } from "effect"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  AudioAdapter,
  RerankAdapter,
  TextAdapter,
  TextAnswer,
  TextPiece
} from "../services/ProtocolAdapter.ts"
import type { FailureScript, ReceivedText, TextOutput } from "./vendorScripts.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

/** The number of inputs, at least 1, so that each input of an order has a vector. */
const inputsOf = (input: unknown): number => (Array.isArray(input) ? Math.max(input.length, 1) : 1)

const chunk = (model: string, choices: ReadonlyArray<unknown>, extraFields = {}): Uint8Array =>
  utf8(
    `data: ${JSON.stringify({ id: "chatcmpl-test", object: "chat.completion.chunk", model, choices, ...extraFields })}\n\n`
  )

const usageOf = ({ inputTokens, outputTokens }: TokenCounts) => ({
  prompt_tokens: Number(inputTokens),
  completion_tokens: Number(outputTokens),
  total_tokens: Number(inputTokens + outputTokens)
})

const usageField = (usage: TokenCounts | null) => (usage === null ? {} : { usage: usageOf(usage) })

/**
 * The events of a streamed chat: one for each word, one for the end, and one with the usage where
 * the client requested it.
 */
const piecesOf = (model: string, script: TextOutput, includesUsage: boolean): Array<TextPiece> => {
  const tokens = script.content.match(/\S+\s*/g) ?? []
  const contentPieces = tokens.map((content, index) => ({
    event: chunk(model, [
      { index: 0, delta: index === 0 ? { role: "assistant", content } : { content } }
    ]),
    usage: null,
    outputBytes: utf8(content).length
  }))
  const end = {
    event: chunk(model, [{ index: 0, delta: {}, finish_reason: "stop" }]),
    usage: null,
    outputBytes: 0
  }
  const last = {
    event: includesUsage ? chunk(model, [], usageField(script.usage)) : null,
    usage: script.usage,
    outputBytes: 0
  }
  return [...contentPieces, end, last]
}

type Decide = (request: ReceivedText) => Effect.Effect<TextOutput | FailureScript>

const scriptsOf =
  (decide: Decide) =>
  (request: ReceivedText): Effect.Effect<TextOutput, VendorFailure> =>
    Effect.flatMap(decide(request), (script) =>
      script._tag === "Failing" ? Effect.fail(script.failure) : Effect.succeed(script)
    )

const withoutOutput = (usage: TokenCounts | null): TokenCounts | null =>
  usage === null ? null : { inputTokens: usage.inputTokens, outputTokens: 0n }

/** An adapter that records each order and then responds with the script that `decide` returns. */
export const makeScriptedText = (protocol: string, decide: Decide): TextAdapter => {
  const nextScript = scriptsOf(decide)

  return {
    complete: Effect.fnUntraced(function* (account, order) {
      const script = yield* nextScript({ kind: "chat", protocol, account, order })
      const createdSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const message = { role: "assistant", content: script.content }
      return {
        result: {
          id: "chatcmpl-test",
          object: "chat.completion",
          created: createdSeconds,
          model: order.upstreamModel,
          choices: [{ index: 0, message, finish_reason: "stop" }],
          ...usageField(script.usage)
        },
        usage: script.usage,
        outputBytes: utf8(script.content).length
      } satisfies TextAnswer
    }),
    stream: Effect.fnUntraced(function* (account, order, take) {
      const script = yield* nextScript({ kind: "chat", protocol, account, order })
      const includesUsage = order.body.stream_options?.include_usage === true
      const pieces = piecesOf(order.upstreamModel, script, includesUsage)
      yield* Effect.forEach(pieces, (piece) => take([piece]), { discard: true })
    }),
    embed: Effect.fnUntraced(function* (account, order) {
      const script = yield* nextScript({ kind: "embedding", protocol, account, order })
      const usage = withoutOutput(script.usage)
      return {
        result: {
          object: "list",
          model: order.upstreamModel,
          data: Array.from({ length: inputsOf(order.body.input) }, (_, index) => ({
            object: "embedding",
            index,
            embedding: [index, 0.5, -0.5]
          })),
          ...usageField(usage)
        },
        usage,
        outputBytes: 0
      } satisfies TextAnswer
    })
  }
}

/** The same for rankings: the documents in their order, each less relevant than the one before. */
export const makeScriptedRerank = (protocol: string, decide: Decide): RerankAdapter => {
  const nextScript = scriptsOf(decide)
  return {
    rerank: Effect.fnUntraced(function* (account, order) {
      const script = yield* nextScript({ kind: "rerank", protocol, account, order })
      const usage = withoutOutput(script.usage)
      const { documents, top_n } = order.body
      return {
        result: {
          model: order.upstreamModel,
          results: documents
            .slice(0, top_n ?? documents.length)
            .map((_, index) => ({ index, relevance_score: 1 / (index + 1) })),
          ...usageField(usage)
        },
        usage,
        outputBytes: 0
      } satisfies TextAnswer
    })
  }
}

/** The same for speech: the sound is the bytes of the script's text. */
export const makeScriptedAudio = (protocol: string, decide: Decide): AudioAdapter => {
  const nextScript = scriptsOf(decide)
  return {
    speech: {
      speak: Effect.fnUntraced(function* (account, order, take) {
        const script = yield* nextScript({ kind: "speech", protocol, account, order })
        yield* take([
          {
            bytes: utf8(script.content),
            hasProduct: true,
            usage: script.usage,
            outputBytes: 0
          }
        ])
      })
    }
  }
}
