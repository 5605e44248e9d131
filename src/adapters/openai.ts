/**
 * openai: the common standard form of chat and embeddings. The vendor gets the values the client
 * sent, all but `model`, written as JSON anew: spaces, the spelling of numbers and repeated names of
 * fields are not kept.
 */
import { Effect, Predicate } from "effect"
import { writtenBytes } from "../domain/TextRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  ChannelAccount,
  TextAdapter,
  TextAnswer,
  TextPiece
} from "../services/ProtocolAdapter.ts"
import { saysError } from "./errorText.ts"
import { dataOf, withData } from "./eventBlocks.ts"
import { VendorLimits } from "./limits.ts"
import { standardUrl } from "./standardUrl.ts"
import { chatUsage, embeddingUsage } from "./usage.ts"
import { VendorWire } from "./VendorWire.ts"
import { brokenAnswer, refusal, send, unusable, type VendorAnswer } from "./vendorHttp.ts"
import { bearer, post } from "./vendorRequest.ts"
import { sendForEvents } from "./vendorStream.ts"

type Fields = Readonly<Record<string, unknown>>

// To the vendor

const requestOf = (account: ChannelAccount, path: string, body: Fields) =>
  post(standardUrl(account.baseUrl, path), bearer(account), body)

// From the vendor

/** The answer where the list of that name has something in it. */
const usable = (answer: VendorAnswer, list: "choices" | "data"): Fields | null => {
  if (answer.status >= 300 || !Predicate.isObject(answer.body) || saysError(answer.body))
    return null
  const body: Fields = { ...answer.body }
  const entries = body[list]
  return Array.isArray(entries) && entries.length > 0 ? body : null
}

const choicesOf = (body: Fields): ReadonlyArray<Fields> =>
  Array.isArray(body.choices) ? body.choices.filter(Predicate.isObject) : []

const parsed = (data: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(data)
    return Predicate.isObject(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** The event as the client gets it: without the usage that only the gateway asked for. */
const forClient = (event: Uint8Array, chunk: Fields, wanted: boolean): Uint8Array | null => {
  if (wanted || !("usage" in chunk)) return event
  const { usage, ...rest } = chunk
  const alone =
    Predicate.isObject(usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0
  return alone ? null : withData(event, JSON.stringify(rest))
}

const writtenIn = (chunk: Fields): number =>
  choicesOf(chunk).reduce(
    (sum, { delta, text }) => sum + writtenBytes(delta) + writtenBytes(text),
    0
  )

const plainPiece = (event: Uint8Array): TextPiece => ({ event, usage: null, outputBytes: 0 })

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
      outputBytes: choicesOf(result).reduce(
        (sum, { message, text }) => sum + writtenBytes(message) + writtenBytes(text),
        0
      )
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
      if (data?.trim() === "[DONE]") {
        progress.end()
        return Effect.succeed("last")
      }
      const chunk = data === null ? null : parsed(data)
      if (chunk === null) return Effect.as(take(plainPiece(event)), "next")
      if (saysError(chunk)) {
        end.failure = refusal(account, { status: 200, body: chunk, retryAfterSeconds: null })
        return Effect.succeed("last")
      }
      const seen = progress.see(chunk)
      return Effect.as(take({ event: forClient(event, chunk, wantsUsage), ...seen }), "next")
    }
    const answer = yield* sendForEvents(wire, request, limits.stream, takeEvent, background).pipe(
      Effect.catchTag("VendorLost", (lost) =>
        progress.isComplete() ? Effect.succeed(null) : Effect.fail(lost)
      )
    )
    if (answer !== null && !answer.streamed) return yield* Effect.fail(unusable(account, answer))
    if (end.failure !== null) return yield* Effect.fail(end.failure)
    if (answer !== null && !progress.isComplete()) {
      return yield* Effect.fail(brokenAnswer(account, { ...answer, body: null }))
    }
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
