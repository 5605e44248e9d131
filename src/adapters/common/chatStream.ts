/**
 * Reads chat answers in the common standard form, complete or streamed: the size of the text, the
 * token counts, and the end.
 */
import { Predicate, Schema } from "effect"
import type { SeparateTokens, TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { silentFields, writtenBytes } from "../../domain/text/textSize.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount, TextPiece } from "../../services/ProtocolAdapter.ts"
import { isErrorText } from "../wire/errorText.ts"
import { eventOf, heartbeat, isDone, readEvent } from "../wire/eventBlocks.ts"
import { judgeStreamFailure } from "../wire/refusalTable.ts"
import {
  boundsOf,
  eventHead,
  LARGE_BYTES,
  parseBody,
  parsePruned,
  partialAnswer,
  type SendOptions
} from "../wire/vendorAnswer.ts"
import { refusal } from "../wire/vendorFailures.ts"
import { standardRefusals } from "./standardErrors.ts"

export type Fields = Readonly<Record<string, unknown>>

// Reading answers

export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const isChatUsage = Schema.is(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count }))

const isCount = Schema.is(Count)

/** A count that may be missing, or written as digits in a text; 0 for every unknown form. */
const countIn = (fields: unknown, name: string): bigint => {
  const value = Predicate.isObject(fields) ? fields[name as keyof typeof fields] : undefined
  return isCount(value) || (typeof value === "string" && /^\d{1,15}$/.test(value))
    ? BigInt(value)
    : 0n
}

/**
 * The tokens that the vendor counts separately: cached and audio tokens, which the totals include.
 * Some vendors report cached tokens beside the totals.
 */
export const separateTokens = (usage: Fields): { readonly separate?: SeparateTokens } => {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage
  const cachedInput = countIn(input, "cached_tokens")
  const separate: SeparateTokens = {
    cachedInput: cachedInput === 0n ? countIn(usage, "prompt_cache_hit_tokens") : cachedInput,
    audioInput: countIn(input, "audio_tokens"),
    audioOutput: countIn(output, "audio_tokens")
  }
  return Object.values(separate).some((count) => count > 0n) ? { separate } : {}
}

/** The vendor's token counts; null unless both are whole numbers. */
export const chatUsage = (usage: unknown): TokenCounts | null =>
  isChatUsage(usage)
    ? {
        inputTokens: BigInt(usage.prompt_tokens),
        outputTokens: BigInt(usage.completion_tokens),
        ...separateTokens({ ...usage })
      }
    : null

const choicesOf = (body: Fields): ReadonlyArray<Fields> =>
  Array.isArray(body.choices) ? body.choices.filter(Predicate.isObject) : []

/** Fields of a large answer that do not affect the charge. */
export const unchargedFields: ReadonlySet<string> = new Set(["logprobs", "prompt_logprobs"])

/** Fields that describe the text of an answer or a choice but contain none of it. */
const textErrorParams: ReadonlySet<string> = new Set([
  ...silentFields,
  "choices",
  "content_filter_results",
  "created",
  "finish_reason",
  "logprobs",
  "model",
  "native_finish_reason",
  "object",
  "obfuscation",
  "prompt_filter_results",
  "provider",
  "request_id",
  "service_tier",
  "stop_reason",
  "system_fingerprint",
  "trace_id",
  "usage"
])

/** The number of bytes of text in an answer or a chunk, in any of its fields. */
export const textBytesIn = (body: Fields): number =>
  [body.choices]
    .flat()
    .reduce<number>(
      (sum, choice) =>
        sum + writtenBytes(choice, Predicate.isObject(choice) ? textErrorParams : silentFields),
      writtenBytes(body, textErrorParams)
    )

// Events for the client

/** Removes the usage that only the gateway requested; null if nothing remains for the client. */
const clientEvent = (
  event: Uint8Array,
  chunk: Fields,
  isUsageWanted: boolean
): Uint8Array | null => {
  if (isUsageWanted || !("usage" in chunk)) return event
  const { usage, ...withoutUsage } = chunk
  const isUsageEvent =
    Predicate.isObject(usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
  return isUsageEvent ? null : eventOf(JSON.stringify(withoutUsage))
}

/**
 * A chunk of an unknown form counts as text with its whole size. Data without text are forwarded
 * without the event's name and comments, which might contain text.
 */
const unknownPiece = (event: Uint8Array, fields: Fields | null): TextPiece =>
  fields === null || textBytesIn(fields) > 0
    ? { event, usage: null, outputBytes: event.byteLength }
    : dataPiece(fields)

/** Forwards only the data of the event, whose text is counted. */
const dataPiece = (fields: Fields): TextPiece => ({
  event: eventOf(JSON.stringify(fields)),
  usage: null,
  outputBytes: textBytesIn(fields)
})

const isToolCalls = (value: unknown): value is ReadonlyArray<object> =>
  Array.isArray(value) && value.every(Predicate.isObject)

/** Converts a complete message to a delta, in which tool calls are numbered. */
const deltaOf = (message: unknown): unknown => {
  if (!Predicate.isObject(message)) return {}
  const delta: Fields = { ...message }
  return isToolCalls(delta.tool_calls)
    ? { ...delta, tool_calls: delta.tool_calls.map((call, index) => ({ index, ...call })) }
    : delta
}

/** Converts a complete answer to events, for a client that requested a stream. */
export const piecesOf = (answer: Fields, isCounted: boolean): ReadonlyArray<TextPiece> => {
  const { usage, choices: _, ...head } = answer
  const object = "chat.completion.chunk"
  const choices = choicesOf(answer).map(({ message, ...choice }) => ({
    ...choice,
    delta: deltaOf(message)
  }))
  const contentPiece: TextPiece = {
    event: eventOf(JSON.stringify({ ...head, object, choices })),
    usage: chatUsage(usage),
    outputBytes: textBytesIn(answer)
  }
  const usageChunk = { ...head, object, choices: [], usage }
  return isCounted && usage !== undefined
    ? [
        { ...contentPiece, usage: null },
        { ...contentPiece, event: eventOf(JSON.stringify(usageChunk)), outputBytes: 0 }
      ]
    : [contentPiece]
}

// Reading streams

const parseChunk = (data: Buffer, options: SendOptions): Fields | null => {
  const isLarge = data.length > LARGE_BYTES
  const value = isLarge
    ? parsePruned(data, unchargedFields, boundsOf(options))
    : parseBody(data, boundsOf(options))
  return Predicate.isObject(value) ? value : null
}

/** The chunk with all fields, including those skipped in a large chunk. */
const parseFully = (data: Buffer, chunk: Fields): Fields => {
  if (data.length <= LARGE_BYTES) return chunk
  const value: unknown = JSON.parse(data.toString())
  return Predicate.isObject(value) ? value : chunk
}

/**
 * Tracks the progress of a stream. The order may be complete even if the vendor sends no proper
 * end; the tracker also knows which token counts cover the whole answer.
 */
const makeProgress = (choices: number) => {
  const startedChoices = new Set<unknown>()
  const finishedChoices = new Set<unknown>()
  let isCounted = false
  let isDone = false
  return {
    observe: (chunk: Fields) => {
      const outputBytes = textBytesIn(chunk)
      const choicesInChunk = choicesOf(chunk)
      for (const { index, finish_reason } of choicesInChunk) {
        startedChoices.add(index)
        if (typeof finish_reason === "string" && finish_reason !== "") finishedChoices.add(index)
      }
      const isLast = choicesInChunk.length === 0 || finishedChoices.size === startedChoices.size
      const usage = isLast ? chatUsage(chunk.usage) : null
      if (outputBytes > 0) isCounted = false
      isCounted ||= choicesInChunk.length === 0 && usage !== null
      return { usage, outputBytes }
    },
    /** Records that the vendor sent the final event of the stream. */
    end: (): void => {
      isDone = true
    },
    isComplete: (): boolean =>
      startedChoices.size > 0 && (isDone || isCounted || finishedChoices.size >= choices)
  }
}

/** The handling of an event; `piece` is null if nothing of the event is sent to the client. */
interface SeenEvent {
  readonly piece: TextPiece | null
  readonly isLast: boolean
}

export const includesUsage = ({ stream_options }: ChatBody): boolean =>
  stream_options?.include_usage === true

/** Reads the events of one stream in order. */
export const makeChatStream = (account: ChannelAccount, body: ChatBody, options: SendOptions) => {
  const progress = makeProgress(body.n ?? 1)
  let failure: VendorFailure | null = null
  let isFirst = true
  const isWanted = includesUsage(body)
  const toSeenEvent = (piece: TextPiece): SeenEvent => ({ piece, isLast: false })

  /** Text in the same event as an error is still sent to the client. */
  const readError = (chunk: Fields, bytes: number): SeenEvent => {
    const { error: _, ...content } = chunk
    const answer = partialAnswer(eventHead, chunk, bytes)
    failure = judgeStreamFailure(standardRefusals, answer, refusal(account, answer), isFirst)
    return { piece: textBytesIn(content) === 0 ? null : dataPiece(content), isLast: true }
  }

  const readOne = (event: Buffer): SeenEvent => {
    const { data, isDataOnly } = readEvent(event)
    if (data === null) return toSeenEvent({ event: heartbeat, usage: null, outputBytes: 0 })
    if (isDone(data)) {
      progress.end()
      return { piece: null, isLast: true }
    }
    const chunk = parseChunk(data, options)
    if (chunk !== null && isErrorText(chunk)) return readError(chunk, event.byteLength)
    isFirst = false
    if (chunk === null || (!Array.isArray(chunk.choices) && chatUsage(chunk.usage) === null)) {
      return toSeenEvent(unknownPiece(event, chunk))
    }
    const counts = progress.observe(chunk)
    if (isDataOnly && (isWanted || !("usage" in chunk))) return toSeenEvent({ event, ...counts })
    const fullChunk = parseFully(data, chunk)
    return toSeenEvent({
      event: clientEvent(eventOf(JSON.stringify(fullChunk)), fullChunk, isWanted),
      ...counts
    })
  }

  /** Reads events that arrived together, until the last one of the stream. */
  const read = (events: ReadonlyArray<Buffer>) => {
    const pieces: Array<TextPiece> = []
    for (const event of events) {
      const { piece, isLast } = readOne(event)
      if (piece !== null) pieces.push(piece)
      if (isLast) return { pieces, isLast }
    }
    return { pieces, isLast: false }
  }

  return {
    read,
    isComplete: progress.isComplete,
    /** The error of an event, if there was one. */
    failure: (): VendorFailure | null => failure
  }
}
