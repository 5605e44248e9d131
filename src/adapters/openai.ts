/**
 * openai: the common standard form of chat and embeddings. The vendor gets the values the client
 * sent, all but `model`, written as JSON again: spaces, the spelling of numbers and repeated names of
 * fields are not kept.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { ChatBody } from "../domain/text/TextRequest.ts"
import { chatAnswerSize } from "../domain/text/textAnswerSize.ts"
import { chatOutput } from "../domain/text/textEstimate.ts"
import { type VendorFailure, VendorLost } from "../domain/VendorOutcome.ts"
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
  uncharged,
  wantsUsage,
  writtenIn
} from "./common/chatStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { decodedWhole, type VendorAnswer } from "./wire/vendorAnswer.ts"
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

/** Events up to this length are read whatever was ordered. */
const LEAST_EVENT_BYTES = 16 * 1024 * 1024

/** A vendor may say all that was ordered in one event. */
const eventBytesOf = (body: ChatBody): number =>
  LEAST_EVENT_BYTES + chatAnswerSize(body, chatOutput(body)).bytes

/** A list of an answer, and how its vendor counts. */
interface Dialect {
  readonly list: "choices" | "data"
  readonly usageOf: (usage: unknown) => TokenCounts | null
}

/** Why an answer is of no use; where it tells what was counted, it is charged by that. */
const failureOf = (
  account: ChannelAccount,
  answer: VendorAnswer,
  usage: TokenCounts | null
): VendorFailure => {
  const failure = unusable(account, answer)
  return failure._tag === "VendorLost" && usage !== null
    ? new VendorLost({ ...failure, message: failure.message, usage })
    : failure
}

/** The answer where its list has something in it, whatever stands beside it. */
const readList = (
  account: ChannelAccount,
  answer: VendorAnswer,
  { list, usageOf }: Dialect
): Result.Result<Pick<TextAnswer, "result" | "usage">, VendorFailure> => {
  const result: Fields =
    answer.status < 300 && Predicate.isObject(answer.body) ? { ...answer.body } : {}
  const usage = usageOf(result.usage)
  const entries = result[list]
  return Array.isArray(entries) && entries.length > 0
    ? Result.succeed({ result, usage })
    : Result.fail(failureOf(account, answer, usage))
}

/** The whole answer, where only an outline of it was read. */
const rawOf = ({ large }: VendorAnswer) => (large === undefined ? {} : { raw: large.raw })

/** The field in which a vector stands, in numbers or in base64. */
const vectors: ReadonlySet<string> = new Set(["embedding"])

const chats: Dialect = { list: "choices", usageOf: chatUsage }

const readChat: Read<unknown, TextAnswer> = (account, answer) =>
  Result.map(readList(account, answer, chats), ({ result, usage }) => ({
    result,
    usage,
    outputBytes: writtenIn(result),
    ...rawOf(answer)
  }))

/** What an embeddings vendor counted: the total, or the prompt where no total is told. */
const embeddingUsage = (usage: unknown): TokenCounts | null => {
  if (isTotal(usage)) return { inputTokens: BigInt(usage.total_tokens), outputTokens: 0n }
  return isPrompt(usage) ? { inputTokens: BigInt(usage.prompt_tokens), outputTokens: 0n } : null
}

const embeddings: Dialect = { list: "data", usageOf: embeddingUsage }

const readEmbedding: Read<unknown, TextAnswer> = (account, answer) =>
  Result.map(readList(account, answer, embeddings), ({ result, usage }) => ({
    result,
    usage,
    outputBytes: 0,
    ...rawOf(answer)
  }))

// Calls

export const makeOpenAi = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const call = callsOver(wire)
  const refusals = () => standardRefusals
  /** What was to come as a stream and came whole. */
  const readWhole = judging(refusals, (account, answer) =>
    readList(account, decodedWhole(answer), chats)
  )

  const stream: TextAdapter["stream"] = Effect.fnUntraced(function* (account, order, take) {
    const chat = makeChatStream(account, order.body, limits.stream)
    const takeEvent = (event: Uint8Array): Effect.Effect<boolean> => {
      const { piece, isLast } = chat.read(event)
      return Effect.as(piece === null ? Effect.void : take(piece), isLast)
    }
    const request = yield* Effect.fromResult(streamRequest(account, order))
    const options = {
      ...limits.stream,
      eventBytes: Math.min(limits.stream.maxBytes, eventBytesOf(order.body)),
      passesOver: uncharged
    }
    const answer = yield* sendForEvents(wire, request, options, takeEvent).pipe(
      Effect.catchTag("VendorLost", (lost) =>
        chat.isComplete() ? Effect.succeed(null) : Effect.fail(lost)
      )
    )
    if (answer !== null && !answer.streamed) {
      const { result } = yield* Effect.fromResult(readWhole(account, answer, order))
      const pieces = piecesOf(result, wantsUsage(order.body))
      return yield* Effect.forEach(pieces, take, { discard: true })
    }
    const failure = chat.failure()
    if (failure !== null) return yield* Effect.fail(failure)
    if (answer !== null && !chat.isComplete()) return yield* brokenAnswer(answer)
  })

  return {
    complete: call(chatRequest, judging(refusals, readChat), {
      ...limits.text,
      passesOver: uncharged
    }),
    stream,
    embed: call(requestTo("embeddings"), judging(refusals, readEmbedding), {
      ...limits.text,
      passesOver: vectors
    }),
    check: checkOver(wire, modelsCheck, limits)
  } satisfies TextAdapter
})
