/**
 * openai, for models of speech: the common standard form of spoken texts. The vendor gets the
 * client's values, except `model`, re-encoded as JSON. The sound is passed on as it arrives, as its
 * bytes or in server-sent events.
 */
import { Effect, Predicate, Schema } from "effect"
import type { SpeechBody } from "../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  AudioAdapter,
  ChannelAccount,
  ModelOrder,
  SoundPiece,
  SpeechAdapter
} from "../services/ProtocolAdapter.ts"
import { modelsCheck } from "./common/accountCheck.ts"
import { makeCheck, makeModelList } from "./common/adapterCalls.ts"
import { Count } from "./common/chatStream.ts"
import { standardRefusals } from "./common/standardErrors.ts"
import { isErrorText } from "./wire/errorText.ts"
import { heartbeat, isDone, readEvent } from "./wire/eventBlocks.ts"
import { VendorLimits } from "./wire/limits.ts"
import { judgeFailure, judgeStreamFailure } from "./wire/refusalTable.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import {
  boundsOf,
  eventHead,
  parseBody,
  partialAnswer,
  type SendOptions
} from "./wire/vendorAnswer.ts"
import { brokenAnswer, refusal, unusableAnswer } from "./wire/vendorFailures.ts"
import { bearer, post, standardUrl } from "./wire/vendorRequest.ts"
import { sendForEvents, sendForSound } from "./wire/vendorStream.ts"

// Wire schemas

const isDelta = Schema.is(Schema.Struct({ audio: Schema.NonEmptyString }))
const isEnd = Schema.is(Schema.Struct({ type: Schema.Literal("speech.audio.done") }))
const isUsage = Schema.is(Schema.Struct({ input_tokens: Count, output_tokens: Count }))

// To the vendor

const speechRequest = (account: ChannelAccount, { body, upstreamModel }: ModelOrder<SpeechBody>) =>
  post(standardUrl(account, "audio/speech"), bearer(account), { ...body, model: upstreamModel })

// From the vendor

const usageIn = (event: object): TokenCounts | null =>
  "usage" in event && isUsage(event.usage)
    ? {
        inputTokens: BigInt(event.usage.input_tokens),
        outputTokens: BigInt(event.usage.output_tokens)
      }
    : null

/** Reads the events of a sound in order. */
const makeSoundEvents = (account: ChannelAccount, options: SendOptions) => {
  let failure: VendorFailure | null = null
  let isFirst = true
  let hasSound = false
  let isComplete = false

  const read = (event: Buffer): { readonly piece: SoundPiece | null; readonly isLast: boolean } => {
    const { data } = readEvent(event)
    const comment = { bytes: heartbeat, hasSound: false, usage: null }
    if (data === null) return { piece: comment, isLast: false }
    if (isDone(data)) return { piece: null, isLast: true }
    const value = parseBody(data, boundsOf(options))
    if (!Predicate.isObject(value)) return { piece: null, isLast: false }
    if (isErrorText(value) && !isDelta(value)) {
      const answer = partialAnswer(eventHead, value, event.byteLength)
      failure = judgeStreamFailure(standardRefusals, answer, refusal(account, answer), isFirst)
      return { piece: null, isLast: true }
    }
    isFirst = false
    const isPart = isDelta(value)
    hasSound ||= isPart
    isComplete ||= isEnd(value)
    return {
      piece: { bytes: event, hasSound: isPart, usage: usageIn(value) },
      isLast: isEnd(value)
    }
  }

  return { read, failure: () => failure, isWhole: () => isComplete && hasSound }
}

// Calls

export const makeOpenAiAudio = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const speakInEvents: SpeechAdapter["speak"] = Effect.fnUntraced(function* (account, order, take) {
    const sound = makeSoundEvents(account, limits.stream)
    const takeEvents = Effect.fnUntraced(function* (events: ReadonlyArray<Buffer>) {
      const pieces = events.map(sound.read)
      yield* take(pieces.flatMap(({ piece }) => piece ?? []))
      return pieces.some(({ isLast }) => isLast)
    })
    const request = speechRequest(account, order)
    const answer = yield* sendForEvents(wire, request, limits.stream, takeEvents).pipe(
      Effect.catchTag("VendorLost", (lostAnswer) =>
        sound.isWhole() ? Effect.succeed(null) : Effect.fail(lostAnswer)
      )
    )
    if (answer === null) return
    if (!answer.isStream) {
      return yield* judgeFailure(standardRefusals, answer, unusableAnswer(account, answer))
    }
    const failure = sound.failure() ?? (sound.isWhole() ? null : brokenAnswer(answer))
    if (failure !== null) return yield* failure
  })

  const speakInBytes: SpeechAdapter["speak"] = Effect.fnUntraced(function* (account, order, take) {
    const answer = yield* sendForSound(
      wire,
      speechRequest(account, order),
      limits.stream,
      (chunks) => take(chunks.map((bytes) => ({ bytes, hasSound: true, usage: null })))
    )
    if (!answer.isStream) {
      return yield* judgeFailure(standardRefusals, answer, unusableAnswer(account, answer))
    }
  })

  return {
    speech: {
      speak: (account, order, take) =>
        order.body.stream_format === "sse"
          ? speakInEvents(account, order, take)
          : speakInBytes(account, order, take)
    },
    check: makeCheck(wire, modelsCheck, limits),
    listModels: makeModelList(wire, limits)
  } satisfies AudioAdapter
})
