/**
 * openai: the common standard form of chat and embeddings. The vendor gets the values the client
 * sent, all but `model`, written as JSON again: spaces, the spelling of numbers and repeated names of
 * fields are not kept.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody } from "../domain/text/TextRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  ChannelAccount,
  ModelOrder,
  TextAdapter,
  TextAnswer
} from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import { callsOver, checkOver, judging, type Read } from "./common/adapterCalls.ts"
import {
  Count,
  chatUsage,
  type Fields,
  makeChatStream,
  piecesOf,
  wantsUsage,
  writtenIn
} from "./common/chatStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, unusable } from "./wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "./wire/vendorRequest.ts"
import { sendForEvents } from "./wire/vendorStream.ts"

// Wire schemas

const isTotal = Schema.is(Schema.Struct({ total_tokens: Count }))
const isPrompt = Schema.is(Schema.Struct({ prompt_tokens: Count }))

// To the vendor

const requestTo =
  (path: string) =>
  (account: ChannelAccount, { body, upstreamModel }: ModelOrder<Fields>) =>
    Result.succeed(
      post(standardUrl(account, path), bearer(account), { ...body, model: upstreamModel })
    )

const chatRequest = requestTo("chat/completions")

/** The gateway always has a stream counted, as it is charged by it. */
const streamRequest = (account: ChannelAccount, { body, upstreamModel }: ModelOrder<ChatBody>) =>
  chatRequest(account, {
    upstreamModel,
    body: { ...body, stream_options: { ...body.stream_options, include_usage: true } }
  })

// From the vendor

/** The answer where the list of that name has something in it, whatever stands beside it. */
const readList = (
  account: ChannelAccount,
  answer: VendorAnswer,
  list: "choices" | "data"
): Result.Result<Fields, VendorFailure> => {
  const body: Fields =
    answer.status < 300 && Predicate.isObject(answer.body) ? { ...answer.body } : {}
  const entries = body[list]
  return Array.isArray(entries) && entries.length > 0
    ? Result.succeed(body)
    : Result.fail(unusable(account, answer))
}

const readChat: Read<unknown, TextAnswer> = (account, answer) =>
  Result.map(readList(account, answer, "choices"), (result) => ({
    result,
    usage: chatUsage(result.usage),
    outputBytes: writtenIn(result)
  }))

/** What an embeddings vendor counted: the total, or the prompt where no total is told. */
const embeddingUsage = (usage: unknown): TokenCounts | null => {
  if (isTotal(usage)) return { inputTokens: BigInt(usage.total_tokens), outputTokens: 0n }
  return isPrompt(usage) ? { inputTokens: BigInt(usage.prompt_tokens), outputTokens: 0n } : null
}

const readEmbedding: Read<unknown, TextAnswer> = (account, answer) =>
  Result.map(readList(account, answer, "data"), (result) => ({
    result,
    usage: embeddingUsage(result.usage),
    outputBytes: 0
  }))

// Calls

export const makeOpenAi = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const call = callsOver(wire)
  const refusals = () => standardRefusals
  const readWhole = judging(refusals, readChat)

  const stream: TextAdapter["stream"] = Effect.fnUntraced(function* (account, order, take) {
    const chat = makeChatStream(account, order.body, limits.stream)
    const takeEvent = (event: Uint8Array): Effect.Effect<boolean> => {
      const { piece, isLast } = chat.read(event)
      return Effect.as(piece === null ? Effect.void : take(piece), isLast)
    }
    const request = yield* Effect.fromResult(streamRequest(account, order))
    const answer = yield* sendForEvents(wire, request, limits.stream, takeEvent).pipe(
      Effect.catchTag("VendorLost", (lost) =>
        chat.isComplete() ? Effect.succeed(null) : Effect.fail(lost)
      )
    )
    if (answer !== null && !answer.streamed) {
      const { result: whole } = yield* Effect.fromResult(readWhole(account, answer, order))
      const pieces = piecesOf(whole, wantsUsage(order.body))
      return yield* Effect.forEach(pieces, take, { discard: true })
    }
    const failure = chat.failure()
    if (failure !== null) return yield* Effect.fail(failure)
    if (answer !== null && !chat.isComplete()) return yield* brokenAnswer(answer)
  })

  return {
    complete: call(chatRequest, readWhole, limits.text),
    stream,
    embed: call(requestTo("embeddings"), judging(refusals, readEmbedding), limits.text),
    check: checkOver(wire, modelsCheck, limits)
  } satisfies TextAdapter
})
