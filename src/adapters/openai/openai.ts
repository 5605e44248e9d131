/**
 * openai: the common standard form of chat and embeddings. The vendor gets the client's values,
 * except `model`, re-encoded as JSON: whitespace, the spelling of numbers and duplicate field names
 * are not preserved.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { chatAnswerSize } from "../../domain/text/textAnswerSize.ts"
import { chatOutput } from "../../domain/text/textEstimate.ts"
import { type VendorFailure, VendorLost } from "../../domain/VendorOutcome.ts"
import type {
  ChannelAccount,
  ModelOrder,
  TextAdapter,
  TextAnswer
} from "../../services/ProtocolAdapter.ts"
import { modelsCheck } from "../common/accountCheck.ts"
import {
  makeCall,
  makeCheck,
  makeModelList,
  type Read,
  withJudgement
} from "../common/adapterCalls.ts"
import {
  Count,
  chatUsage,
  type Fields,
  includesUsage,
  makeChatStream,
  piecesOf,
  separateTokens,
  textBytesIn,
  unchargedFields
} from "../common/chatStream.ts"
import { standardRefusals } from "../common/standardErrors.ts"
import { VendorLimits } from "../wire/limits.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import { decodeFully, type VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer, unusableAnswer } from "../wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "../wire/vendorRequest.ts"
import { type StreamOptions, sendForEvents } from "../wire/vendorStream.ts"

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

/** The request of a stream. It always requests the usage, because the gateway charges by it. */
const streamRequest = (account: ChannelAccount, { body, upstreamModel }: ModelOrder<ChatBody>) =>
  chatRequest(account, {
    upstreamModel,
    body: { ...body, stream_options: { ...body.stream_options, include_usage: true } }
  })

// From the vendor

/** The minimum limit of an event's length in bytes, for every order. */
const MIN_EVENT_BYTES = 16 * 1024 * 1024

/** The limit of an event's length: a vendor may send the whole ordered text in one event. */
const eventBytesOf = (body: ChatBody): number =>
  MIN_EVENT_BYTES + chatAnswerSize(body, chatOutput(body)).bytes

/** The list that an answer must contain, and the reader of its usage. */
interface Dialect {
  readonly list: "choices" | "data"
  readonly usageOf: (usage: unknown) => TokenCounts | null
}

/**
 * The failure of an answer, with the reported usage if there is one, because the order is charged
 * by that usage.
 */
const failureOf = (
  account: ChannelAccount,
  answer: VendorAnswer,
  usage: TokenCounts | null
): VendorFailure => {
  const failure = unusableAnswer(account, answer)
  return failure._tag === "VendorLost" && usage !== null
    ? new VendorLost({ ...failure, message: failure.message, usage })
    : failure
}

/** Accepts an answer whose list is not empty; its other fields are not checked. */
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

/** The undecoded answer, if only an outline of it was read. */
const rawOf = ({ large }: VendorAnswer) => (large === undefined ? {} : { raw: large.raw })

/** The field that contains a vector, either as numbers or in base64. */
const vectors: ReadonlySet<string> = new Set(["embedding"])

const chats: Dialect = { list: "choices", usageOf: chatUsage }

const readChat: Read<unknown, TextAnswer> = (account, answer) =>
  Result.map(readList(account, answer, chats), ({ result, usage }) => ({
    result,
    usage,
    outputBytes: textBytesIn(result),
    ...rawOf(answer)
  }))

/** The usage of an embedding: the total, or the prompt tokens if the vendor gives no total. */
const embeddingUsage = (usage: unknown): TokenCounts | null => {
  const inputTokens = isTotal(usage)
    ? usage.total_tokens
    : isPrompt(usage)
      ? usage.prompt_tokens
      : null
  if (inputTokens === null || !Predicate.isObject(usage)) return null
  return { inputTokens: BigInt(inputTokens), outputTokens: 0n, ...separateTokens({ ...usage }) }
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

  const call = makeCall(wire)
  const refusals = () => standardRefusals
  /** Reads an answer that the vendor did not stream although a stream was requested. */
  const readWhole = withJudgement(refusals, (account, answer) =>
    readList(account, decodeFully(answer), chats)
  )

  const stream: TextAdapter["stream"] = Effect.fnUntraced(function* (account, order, take) {
    const chat = makeChatStream(account, order.body, limits.stream)
    const takeEvents = (events: ReadonlyArray<Buffer>): Effect.Effect<boolean> => {
      const { pieces, isLast } = chat.read(events)
      return Effect.as(take(pieces), isLast)
    }
    const request = yield* Effect.fromResult(streamRequest(account, order))
    const options: StreamOptions = {
      ...limits.stream,
      eventBytes: Math.min(limits.stream.maxBytes, eventBytesOf(order.body)),
      skippedFields: unchargedFields
    }
    const answer = yield* sendForEvents(wire, request, options, takeEvents).pipe(
      Effect.catchTag("VendorLost", (lostAnswer) =>
        chat.isComplete() ? Effect.succeed(null) : Effect.fail(lostAnswer)
      )
    )
    if (answer !== null && !answer.isStream) {
      const { result } = yield* Effect.fromResult(readWhole(account, answer, order))
      return yield* take(piecesOf(result, includesUsage(order.body)))
    }
    const failure = chat.failure()
    if (failure !== null) return yield* failure
    if (answer !== null && !chat.isComplete()) return yield* brokenAnswer(answer)
  })

  return {
    complete: call(chatRequest, withJudgement(refusals, readChat), {
      ...limits.text,
      skippedFields: unchargedFields
    }),
    stream,
    embed: call(requestTo("embeddings"), withJudgement(refusals, readEmbedding), {
      ...limits.text,
      skippedFields: vectors
    }),
    check: makeCheck(wire, modelsCheck, limits),
    listModels: makeModelList(wire, limits)
  } satisfies TextAdapter
})
