/** Chat in the common standard form, whole or as it is written: its text, its counts, its end. */
import { Predicate, Schema } from "effect"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import type { ChatBody } from "../../domain/text/TextRequest.ts"
import { writtenBytes } from "../../domain/text/textSize.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount, TextPiece } from "../../services/ProtocolAdapter.ts"
import { saysError } from "../wire/errorText.ts"
import { eventOf, heartbeat, readEvent } from "../wire/eventBlocks.ts"
import { judgedInStream } from "../wire/refusalTable.ts"
import {
  boundsOf,
  eventHead,
  LARGE_BYTES,
  parseBody,
  partOf,
  prunedText,
  type SendOptions
} from "../wire/vendorAnswer.ts"
import { refusal } from "../wire/vendorFailures.ts"
import { standardRefusals } from "./standardErrors.ts"

export type Fields = Readonly<Record<string, unknown>>

// What an answer says

export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const isChatUsage = Schema.is(Schema.Struct({ prompt_tokens: Count, completion_tokens: Count }))

/** What a chat vendor counted, when both counts are whole numbers. */
export const chatUsage = (usage: unknown): TokenCounts | null =>
  isChatUsage(usage)
    ? { inputTokens: BigInt(usage.prompt_tokens), outputTokens: BigInt(usage.completion_tokens) }
    : null

const choicesOf = (body: Fields): ReadonlyArray<Fields> =>
  Array.isArray(body.choices) ? body.choices.filter(Predicate.isObject) : []

/** Fields of a large answer that nothing is charged by. */
export const uncharged: ReadonlySet<string> = new Set(["logprobs", "prompt_logprobs"])

/** Fields of an answer and of its choices that are about the text and none of it. */
const aboutText: ReadonlySet<string> = new Set([
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

const writtenBeside = (fields: Fields): number =>
  writtenBytes(Object.fromEntries(Object.entries(fields).filter(([name]) => !aboutText.has(name))))

/** Bytes of text in an answer or a part of one, wherever they stand in it. */
export const writtenIn = (body: Fields): number =>
  [body.choices]
    .flat()
    .reduce<number>(
      (sum, choice) =>
        sum + (Predicate.isObject(choice) ? writtenBeside({ ...choice }) : writtenBytes(choice)),
      writtenBeside(body)
    )

// Pieces for the client

/** The event as the client gets it: without the usage that only the gateway asked for. */
const forClient = (event: Uint8Array, chunk: Fields, wanted: boolean): Uint8Array | null => {
  if (wanted || !("usage" in chunk)) return event
  const { usage, ...rest } = chunk
  const alone =
    Predicate.isObject(usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
  return alone ? null : eventOf(JSON.stringify(rest))
}

/**
 * What is no part of an answer as we know it is text of its own size. Data that say nothing are
 * handed on alone, since the event's name or a comment may say something.
 */
const strangePiece = (event: Uint8Array, said: Fields | null): TextPiece =>
  said === null || writtenIn(said) > 0
    ? { event, usage: null, outputBytes: event.byteLength }
    : plainPiece(said)

/** The data alone, counted by its text. */
const plainPiece = (said: Fields): TextPiece => ({
  event: eventOf(JSON.stringify(said)),
  usage: null,
  outputBytes: writtenIn(said)
})

const isToolCalls = (value: unknown): value is ReadonlyArray<object> =>
  Array.isArray(value) && value.every(Predicate.isObject)

/** A message as a piece of one: what it calls is numbered there. */
const deltaOf = (message: unknown): unknown => {
  if (!Predicate.isObject(message)) return {}
  const delta: Fields = { ...message }
  return isToolCalls(delta.tool_calls)
    ? { ...delta, tool_calls: delta.tool_calls.map((call, index) => ({ index, ...call })) }
    : delta
}

/** A whole answer as the events of one, for a client that asked for events. */
export const piecesOf = (whole: Fields, isCounted: boolean): ReadonlyArray<TextPiece> => {
  const { usage, choices: _, ...head } = whole
  const object = "chat.completion.chunk"
  const choices = choicesOf(whole).map(({ message, ...choice }) => ({
    ...choice,
    delta: deltaOf(message)
  }))
  const said: TextPiece = {
    event: eventOf(JSON.stringify({ ...head, object, choices })),
    usage: chatUsage(usage),
    outputBytes: writtenIn(whole)
  }
  const counted = { ...head, object, choices: [], usage }
  return isCounted && usage !== undefined
    ? [
        { ...said, usage: null },
        { ...said, event: eventOf(JSON.stringify(counted)), outputBytes: 0 }
      ]
    : [said]
}

// What is seen of a stream

const parsed = (data: string, options: SendOptions): Fields | null => {
  const isLarge = data.length > LARGE_BYTES
  const value = isLarge
    ? prunedText(data, uncharged, boundsOf(options))
    : parseBody(Buffer.from(data), boundsOf(options))
  return Predicate.isObject(value) ? { ...value } : null
}

/** The chunk with everything in it, where some of a large one was passed over. */
const parsedWhole = (data: string, chunk: Fields): Fields => {
  if (data.length <= LARGE_BYTES) return chunk
  const value: unknown = JSON.parse(data)
  return Predicate.isObject(value) ? { ...value } : chunk
}

/**
 * Knows when all that was ordered has been said, whether or not the vendor ends in good form, and
 * which of its counts can be of the whole.
 */
const makeProgress = (choices: number) => {
  const begun = new Set<unknown>()
  const ended = new Set<unknown>()
  let isCounted = false
  let isDone = false
  return {
    see: (chunk: Fields) => {
      const outputBytes = writtenIn(chunk)
      const said = choicesOf(chunk)
      for (const { index, finish_reason } of said) {
        begun.add(index)
        if (typeof finish_reason === "string" && finish_reason !== "") ended.add(index)
      }
      const isLast = said.length === 0 || ended.size === begun.size
      const usage = isLast ? chatUsage(chunk.usage) : null
      if (outputBytes > 0) isCounted = false
      isCounted ||= said.length === 0 && usage !== null
      return { usage, outputBytes }
    },
    /** The vendor says that this was all. */
    end: (): void => {
      isDone = true
    },
    isComplete: (): boolean => begun.size > 0 && (isDone || isCounted || ended.size >= choices)
  }
}

/** What becomes of an event; there is no piece where the client gets nothing of it. */
interface SeenEvent {
  readonly piece: TextPiece | null
  readonly isLast: boolean
}

export const wantsUsage = ({ stream_options }: ChatBody): boolean =>
  stream_options?.include_usage === true

/** Reads the events of one stream in their order. */
export const makeChatStream = (account: ChannelAccount, body: ChatBody, options: SendOptions) => {
  const progress = makeProgress(body.n ?? 1)
  let failure: VendorFailure | null = null
  let isFirst = true
  const next = (piece: TextPiece): SeenEvent => ({ piece, isLast: false })

  const read = (event: Uint8Array): SeenEvent => {
    const { data, isDataAlone } = readEvent(event)
    if (data === null) return next({ event: heartbeat, usage: null, outputBytes: 0 })
    if (data.trim() === "[DONE]") {
      progress.end()
      return { piece: null, isLast: true }
    }
    const chunk = parsed(data, options)
    if (chunk !== null && saysError(chunk)) {
      const { error: _, ...said } = chunk
      const answer = partOf(eventHead, chunk, event.byteLength)
      failure = judgedInStream(standardRefusals, answer, refusal(account, answer), isFirst)
      return { piece: writtenIn(said) === 0 ? null : plainPiece(said), isLast: true }
    }
    isFirst = false
    if (chunk === null || (!Array.isArray(chunk.choices) && chatUsage(chunk.usage) === null)) {
      return next(strangePiece(event, chunk))
    }
    const seen = progress.see(chunk)
    const isWanted = wantsUsage(body)
    if (isDataAlone && (isWanted || !("usage" in chunk))) return next({ event, ...seen })
    const said = parsedWhole(data, chunk)
    return next({ event: forClient(eventOf(JSON.stringify(said)), said, isWanted), ...seen })
  }

  return {
    read,
    isComplete: progress.isComplete,
    /** The error that an event told, if one did. */
    failure: (): VendorFailure | null => failure
  }
}
