/**
 * openai_responses: the common standard form with the Responses API beside the chats. The vendor
 * gets the client's request with the whole conversation, and stores nothing.
 */
import { Effect, Result, Schema } from "effect"
import { nameList } from "../../domain/requestFields.ts"
import type { ResponsesBody } from "../../domain/responses/ResponsesRequest.ts"
import { eventsOfResponse } from "../../domain/responses/responseEvents.ts"
import { fieldsIn, listIn } from "../../domain/responses/responseObject.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import { silentFields, writtenBytes } from "../../domain/text/textSize.ts"
import { type VendorFailure, VendorLost } from "../../domain/VendorOutcome.ts"
import type {
  ChannelAccount,
  ModelOrder,
  ResponsesAdapter,
  TextAdapter,
  TextAnswer,
  TextPiece
} from "../../services/ProtocolAdapter.ts"
import { makeCall, type Read, withJudgement } from "../common/adapterCalls.ts"
import { Count, type Fields, separateTokens, unchargedFields } from "../common/chatStream.ts"
import { standardRefusals } from "../common/standardErrors.ts"
import { isErrorText } from "../wire/errorText.ts"
import { eventOf, heartbeat, isDone, readEvent } from "../wire/eventBlocks.ts"
import { VendorLimits } from "../wire/limits.ts"
import { judgeStreamFailure } from "../wire/refusalTable.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import {
  boundsOf,
  decodeFully,
  eventHead,
  parseBody,
  partialAnswer,
  type VendorAnswer
} from "../wire/vendorAnswer.ts"
import { brokenAnswer, refusal, unusableAnswer } from "../wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "../wire/vendorRequest.ts"
import { type StreamOptions, sendForEvents } from "../wire/vendorStream.ts"
import { makeOpenAi } from "./openai.ts"

// Wire schemas

const isUsage = Schema.is(Schema.Struct({ input_tokens: Count, output_tokens: Count }))

// To the vendor

const responseRequest = (
  account: ChannelAccount,
  { body, upstreamModel }: ModelOrder<ResponsesBody>
) =>
  Result.succeed(
    post(standardUrl(account, "responses"), bearer(account), { ...body, model: upstreamModel })
  )

// From the vendor

/** The vendor's token counts; null unless both are whole numbers. */
const usageOf = (usage: unknown): TokenCounts | null => {
  if (!isUsage(usage)) return null
  const { input_tokens_details, output_tokens_details }: Fields = usage
  return {
    inputTokens: BigInt(usage.input_tokens),
    outputTokens: BigInt(usage.output_tokens),
    ...separateTokens({
      prompt_tokens_details: input_tokens_details,
      completion_tokens_details: output_tokens_details
    })
  }
}

/** Fields of an item or an event that have none of its text. */
const silentParams: ReadonlySet<string> = new Set([
  ...silentFields,
  "call_id",
  "encrypted_content",
  "event_id",
  "item_id",
  "logprobs",
  "obfuscation",
  "response",
  "response_id",
  "status"
])

/** The number of bytes of text in an item, whose parts may repeat it as logprobs. */
const itemBytes = (item: Fields): number =>
  writtenBytes(
    Array.isArray(item.content)
      ? { ...item, content: listIn(item.content).map(({ logprobs: _, ...part }) => part) }
      : item,
    silentParams
  )

/** Fields of a response that repeat its request or describe the response. */
const describingFields: ReadonlySet<string> = new Set([
  ...silentFields,
  ...nameList(`
    background billing completed_at content_filters created_at error frequency_penalty
    incomplete_details instructions max_output_tokens max_tool_calls metadata model moderation
    object output parallel_tool_calls presence_penalty previous_response_id prompt
    prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier status store
    temperature text tool_choice tools top_logprobs top_p truncation usage user
  `)
])

/** The number of bytes of text beside the items of a response, in fields of the vendor's own. */
const otherBytes = (response: Fields): number => writtenBytes(response, describingFields)

const responseBytes = (response: Fields): number =>
  listIn(response.output).reduce<number>((sum, item) => sum + itemBytes(item), otherBytes(response))

/** Accepts a response that the vendor has written to its end, be it short of what it would say. */
const readResponse = (
  account: ChannelAccount,
  answer: VendorAnswer
): Result.Result<TextAnswer, VendorFailure> => {
  const result = answer.status < 300 ? fieldsIn(answer.body) : {}
  const usage = usageOf(result.usage)
  const { output, status } = result
  const isWritten = status === "completed" || status === "incomplete"
  if (isWritten && Array.isArray(output) && !isErrorText(result)) {
    return Result.succeed({ result, usage, outputBytes: responseBytes(result) })
  }
  if (status === "failed") return Result.fail(refusal(account, answer))
  const failure = unusableAnswer(account, answer)
  return Result.fail(
    failure._tag === "VendorLost" && usage !== null
      ? new VendorLost({ ...failure, message: failure.message, usage })
      : failure
  )
}

const readWhole: Read<unknown, TextAnswer> = (account, answer) =>
  readResponse(account, decodeFully(answer))

const lastTypes: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"])
const failedTypes: ReadonlySet<unknown> = new Set(["error", "response.failed"])

/** The name that ends the types of events with a piece of a text. */
const DELTA = ".delta"

/**
 * Counts the text of the events of a stream. Each item is sent piece by piece, and then repeated by
 * part, as a whole and within the response: of these, what no piece had is counted.
 */
const makeTextCount = () => {
  const bytesByItem = new Map<unknown, number>()
  const countUpTo = (index: unknown, bytes: number): number => {
    const before = bytesByItem.get(index) ?? 0
    bytesByItem.set(index, Math.max(before, bytes))
    return Math.max(0, bytes - before)
  }
  return (event: Fields): number => {
    const { type, output_index, delta, item, response } = event
    if (typeof type === "string" && type.endsWith(DELTA)) {
      const bytes = writtenBytes(delta)
      return countUpTo(output_index, (bytesByItem.get(output_index) ?? 0) + bytes)
    }
    const written = fieldsIn(response)
    const { item: _, part, ...others } = event
    const bytes =
      itemBytes(fieldsIn(item)) + itemBytes(fieldsIn(part)) + writtenBytes(others, silentParams)
    return listIn(written.output).reduce<number>(
      (sum, outputItem, index) => sum + countUpTo(index, itemBytes(outputItem)),
      countUpTo(output_index, bytes) + countUpTo("response", otherBytes(written))
    )
  }
}

/** The error of an event in the form of a whole answer with an error. */
const errorBodyOf = (event: Fields, { id: _, ...response }: Fields): Fields => {
  if (isErrorText(response)) return response
  const { type: __, ...error } = event
  return isErrorText(event) ? event : { error }
}

/** Reads the events of one stream in order. */
const makeResponseStream = (account: ChannelAccount, options: StreamOptions) => {
  const countText = makeTextCount()
  let failure: VendorFailure | null = null
  let isFirst = true
  let isComplete = false

  const readOne = (
    event: Buffer
  ): { readonly piece: TextPiece | null; readonly isLast: boolean } => {
    const { data } = readEvent(event)
    if (data === null) {
      return { piece: { event: heartbeat, usage: null, outputBytes: 0 }, isLast: false }
    }
    if (isDone(data)) return { piece: null, isLast: true }
    const fields = fieldsIn(parseBody(data, boundsOf(options)))
    const response = fieldsIn(fields.response)
    if (failedTypes.has(fields.type) || isErrorText(fields)) {
      const body = errorBodyOf(fields, response)
      const answer = partialAnswer(eventHead, body, event.byteLength)
      failure = judgeStreamFailure(standardRefusals, answer, refusal(account, answer), isFirst)
      return { piece: null, isLast: true }
    }
    // What is no event of a response cannot be sent to the client, and is not charged.
    if (typeof fields.type !== "string") return { piece: null, isLast: false }
    isFirst = false
    isComplete ||= lastTypes.has(fields.type)
    return {
      piece: { event, usage: usageOf(response.usage), outputBytes: countText(fields) },
      isLast: isComplete
    }
  }

  return {
    read: (events: ReadonlyArray<Buffer>) => {
      const pieces: Array<TextPiece> = []
      for (const event of events) {
        const { piece, isLast } = readOne(event)
        if (piece !== null) pieces.push(piece)
        if (isLast) return { pieces, isLast }
      }
      return { pieces, isLast: false }
    },
    isComplete: () => isComplete,
    failure: (): VendorFailure | null => failure
  }
}

/** The events of a response that its vendor did not stream. */
const piecesOf = ({ result, usage, outputBytes }: TextAnswer): ReadonlyArray<TextPiece> => {
  const events = eventsOfResponse(result)
  return events.map((event, index) => ({
    event: eventOf(JSON.stringify(event)),
    ...(index === events.length - 1 ? { usage, outputBytes } : { usage: null, outputBytes: 0 })
  }))
}

// Calls

export const makeOpenAiResponses = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits
  const chats = yield* makeOpenAi
  const readJudged = withJudgement(() => standardRefusals, readWhole)

  const stream: ResponsesAdapter["stream"] = Effect.fnUntraced(function* (account, order, take) {
    const options: StreamOptions = { ...limits.stream, eventBytes: limits.stream.maxBytes }
    const events = makeResponseStream(account, options)
    const request = yield* Effect.fromResult(responseRequest(account, order))
    const answer = yield* sendForEvents(wire, request, options, (blocks) => {
      const { pieces, isLast } = events.read(blocks)
      return Effect.as(take(pieces), isLast)
    }).pipe(
      Effect.catchTag("VendorLost", (lostAnswer) =>
        events.isComplete() ? Effect.succeed(null) : Effect.fail(lostAnswer)
      )
    )
    if (answer !== null && !answer.isStream) {
      return yield* take(piecesOf(yield* Effect.fromResult(readJudged(account, answer, order))))
    }
    const failure = events.failure()
    if (failure !== null) return yield* failure
    if (answer !== null && !events.isComplete()) return yield* brokenAnswer(answer)
  })

  return {
    ...chats,
    responses: {
      complete: makeCall(wire)(responseRequest, readJudged, {
        ...limits.text,
        skippedFields: unchargedFields
      }),
      stream
    }
  } satisfies TextAdapter
})
