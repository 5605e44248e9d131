/**
 * openai: the common standard form of chat and embeddings. The vendor gets the values the client
 * sent, all but `model`, written as JSON anew: spaces, the spelling of numbers and repeated names of
 * fields are not kept.
 */
import { Effect, Predicate } from "effect"
import { writtenBytes } from "../domain/text/TextRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  ChannelAccount,
  TextAdapter,
  TextAnswer,
  TextPiece
} from "../services/ProtocolAdapter.ts"
import { standardUrl } from "./standardUrl.ts"
import { chatUsage, embeddingUsage } from "./usage.ts"
import { saysError } from "./wire/errorText.ts"
import { dataOf, eventOf, heartbeat, isDataAlone, withData } from "./wire/eventBlocks.ts"
import { VendorLimits } from "./wire/limits.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { boundsOf, parseBody, type SendOptions, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal, unusable } from "./wire/vendorFailures.ts"
import { send } from "./wire/vendorHttp.ts"
import { bearer, post } from "./wire/vendorRequest.ts"
import { sendForEvents } from "./wire/vendorStream.ts"

type Fields = Readonly<Record<string, unknown>>

// To the vendor

const requestOf = (account: ChannelAccount, path: string, body: Fields) =>
  post(standardUrl(account.baseUrl, path), bearer(account), body)

// From the vendor

/** The answer where the list of that name has something in it, whatever stands beside it. */
const usable = (answer: VendorAnswer, list: "choices" | "data"): Fields | null => {
  if (answer.status >= 300 || !Predicate.isObject(answer.body)) return null
  const body: Fields = { ...answer.body }
  const entries = body[list]
  return Array.isArray(entries) && entries.length > 0 ? body : null
}

const choicesOf = (body: Fields): ReadonlyArray<Fields> =>
  Array.isArray(body.choices) ? body.choices.filter(Predicate.isObject) : []

const parsed = (data: string, options: SendOptions): Fields | null => {
  const value = parseBody(Buffer.from(data), boundsOf(options))
  return Predicate.isObject(value) ? { ...value } : null
}

/** The event as the client gets it: without the usage that only the gateway asked for. */
const forClient = (event: Uint8Array, chunk: Fields, wanted: boolean): Uint8Array | null => {
  if (wanted || !("usage" in chunk)) return event
  const { usage, ...rest } = chunk
  const alone =
    Predicate.isObject(usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
  return alone ? null : withData(event, JSON.stringify(rest))
}

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
const writtenIn = (body: Fields): number =>
  [body.choices]
    .flat()
    .reduce<number>(
      (sum, choice) =>
        sum + (Predicate.isObject(choice) ? writtenBeside({ ...choice }) : writtenBytes(choice)),
      writtenBeside(body)
    )

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
const piecesOf = (whole: Fields, wantsUsage: boolean): ReadonlyArray<TextPiece> => {
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
  return wantsUsage && usage !== undefined
    ? [
        { ...said, usage: null },
        { ...said, event: eventOf(JSON.stringify(counted)), outputBytes: 0 }
      ]
    : [said]
}

/** An error that came as an event, as the answer it would have been by itself. */
const answerIn = (chunk: Fields, event: Uint8Array): VendorAnswer => ({
  status: 200,
  sent: null,
  body: chunk,
  bytes: event.byteLength,
  digest: () => null,
  requestId: null,
  retryAfterSeconds: null
})

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

// Calls

export const makeOpenAi = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits
  const background = yield* Effect.scope

  const complete: TextAdapter["complete"] = Effect.fnUntraced(function* (
    account,
    { upstreamModel, body }
  ) {
    const request = requestOf(account, "chat/completions", { ...body, model: upstreamModel })
    const answer = yield* send(wire, request, limits.text)
    const result = usable(answer, "choices")
    if (result === null) return yield* Effect.fail(unusable(account, answer))
    return {
      result,
      usage: chatUsage(result.usage),
      outputBytes: writtenIn(result)
    } satisfies TextAnswer
  })

  const stream: TextAdapter["stream"] = Effect.fnUntraced(function* (
    account,
    { upstreamModel, body },
    take
  ) {
    const wantsUsage = body.stream_options?.include_usage === true
    const request = requestOf(account, "chat/completions", {
      ...body,
      model: upstreamModel,
      ...(wantsUsage ? {} : { stream_options: { ...body.stream_options, include_usage: true } })
    })
    const progress = makeProgress(body.n ?? 1)
    const end: { failure: VendorFailure | null } = { failure: null }
    const takeEvent = (event: Uint8Array): Effect.Effect<"next" | "last"> => {
      const data = dataOf(event)
      if (data === null) {
        return Effect.as(take({ event: heartbeat, usage: null, outputBytes: 0 }), "next")
      }
      if (data.trim() === "[DONE]") {
        progress.end()
        return Effect.succeed("last")
      }
      const chunk = parsed(data, limits.stream)
      if (chunk !== null && saysError(chunk)) {
        const { error: _, ...said } = chunk
        end.failure = refusal(account, answerIn(chunk, event))
        return writtenIn(said) === 0
          ? Effect.succeed("last")
          : Effect.as(take(plainPiece(said)), "last")
      }
      if (chunk === null || (!Array.isArray(chunk.choices) && chatUsage(chunk.usage) === null)) {
        return Effect.as(take(strangePiece(event, chunk)), "next")
      }
      const seen = progress.see(chunk)
      const said = isDataAlone(event) ? event : eventOf(JSON.stringify(chunk))
      return Effect.as(take({ event: forClient(said, chunk, wantsUsage), ...seen }), "next")
    }
    const answer = yield* sendForEvents(wire, request, limits.stream, takeEvent, background).pipe(
      Effect.catchTag("VendorLost", (lost) =>
        progress.isComplete() ? Effect.succeed(null) : Effect.fail(lost)
      )
    )
    if (answer !== null && !answer.streamed) {
      const whole = usable(answer, "choices")
      if (whole === null) return yield* Effect.fail(unusable(account, answer))
      return yield* Effect.forEach(piecesOf(whole, wantsUsage), take, { discard: true })
    }
    if (end.failure !== null) return yield* Effect.fail(end.failure)
    if (answer !== null && !progress.isComplete()) return yield* brokenAnswer(answer)
  })

  const embed: TextAdapter["embed"] = Effect.fnUntraced(function* (
    account,
    { upstreamModel, body }
  ) {
    const request = requestOf(account, "embeddings", { ...body, model: upstreamModel })
    const answer = yield* send(wire, request, limits.text)
    const result = usable(answer, "data")
    if (result === null) return yield* Effect.fail(unusable(account, answer))
    return { result, usage: embeddingUsage(result.usage), outputBytes: 0 } satisfies TextAnswer
  })

  return { complete, stream, embed } satisfies TextAdapter
})
