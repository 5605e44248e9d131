/**
 * openai, for models of speech: the common standard form of spoken texts and of transcriptions. The
 * vendor gets the client's values, except `model`, re-encoded as JSON or as a form. A sound is passed
 * on as it arrives, as its bytes or in server-sent events.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import type { SpeechBody } from "../../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../../domain/text/TextQuote.ts"
import {
  isJsonTranscript,
  type TranscriptionBody,
  transcriptType
} from "../../domain/transcription/TranscriptionRequest.ts"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type {
  AudioAdapter,
  ChannelAccount,
  ModelOrder,
  SpeechAdapter,
  TextAnswer,
  TranscriptionOrder,
  WorkPiece
} from "../../services/ProtocolAdapter.ts"
import { modelsCheck } from "../common/accountCheck.ts"
import {
  makeCall,
  makeCheck,
  makeModelList,
  type Read,
  withJudgement
} from "../common/adapterCalls.ts"
import { type AudioDialect, type AudioEvent, makeAudioStreaming } from "../common/audioStream.ts"
import { Count } from "../common/chatStream.ts"
import { soundPiece } from "../common/sounds.ts"
import { standardRefusals } from "../common/standardErrors.ts"
import { isErrorText } from "../wire/errorText.ts"
import { heartbeat } from "../wire/eventBlocks.ts"
import { VendorLimits } from "../wire/limits.ts"
import { judgeFailure } from "../wire/refusalTable.ts"
import { VendorWire } from "../wire/VendorWire.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer, unusableAnswer } from "../wire/vendorFailures.ts"
import { bearer, post, postForm, standardUrl } from "../wire/vendorRequest.ts"
import { sendForSound } from "../wire/vendorStream.ts"

// Wire schemas

const isDelta = Schema.is(Schema.Struct({ audio: Schema.NonEmptyString }))
const isEnd = Schema.is(Schema.Struct({ type: Schema.Literal("speech.audio.done") }))
const isUsage = Schema.is(Schema.Struct({ input_tokens: Count, output_tokens: Count }))
const isInputDetails = Schema.is(
  Schema.Struct({ input_token_details: Schema.Struct({ audio_tokens: Count }) })
)
const isDuration = Schema.is(Schema.Struct({ seconds: Schema.Finite }))
const isTranscript = Schema.is(Schema.Struct({ text: Schema.String }))
const isTextDelta = Schema.is(
  Schema.Struct({ type: Schema.Literal("transcript.text.delta"), delta: Schema.String })
)
const isTextEnd = Schema.is(
  Schema.Struct({ type: Schema.Literal("transcript.text.done"), text: Schema.String })
)

// To the vendor

const speechRequest = (account: ChannelAccount, { body, upstreamModel }: ModelOrder<SpeechBody>) =>
  post(standardUrl(account, "audio/speech"), bearer(account), { ...body, model: upstreamModel })

/** The fields of the form. A list is sent under its name with brackets. */
const formOf = ({ body, upstreamModel, sound, isTranslation }: TranscriptionOrder) => {
  const { file: _, language, ...fields } = body
  const others = Object.entries({
    ...fields,
    ...(isTranslation ? {} : { language }),
    model: upstreamModel
  }).map(([name, value]) => [Array.isArray(value) ? `${name}[]` : name, value] as const)
  return { ...Object.fromEntries(others), file: sound }
}

const soundField: ReadonlySet<string> = new Set(["file"])

const transcriptionRequest = (account: ChannelAccount, order: TranscriptionOrder) =>
  postForm(
    standardUrl(account, `audio/${order.isTranslation ? "translations" : "transcriptions"}`),
    bearer(account),
    formOf(order),
    soundField
  )

// From the vendor

const usageIn = (answer: object): TokenCounts | null => {
  const usage = "usage" in answer ? answer.usage : null
  if (!isUsage(usage)) return null
  const audioInput = isInputDetails(usage) ? BigInt(usage.input_token_details.audio_tokens) : null
  return {
    inputTokens: BigInt(usage.input_tokens),
    outputTokens: BigInt(usage.output_tokens),
    ...(audioInput === null ? {} : { separate: { cachedInput: 0n, audioInput, audioOutput: 0n } })
  }
}

const positive = (seconds: unknown): number | null => {
  const count = typeof seconds === "string" ? Number(seconds) : seconds
  return typeof count === "number" && Number.isFinite(count) && count > 0 ? count : null
}

/** The length of the sound: in the usage, or beside the text of the verbose form. */
const secondsIn = (answer: object): { readonly seconds?: number } => {
  const usage = "usage" in answer ? answer.usage : null
  const seconds =
    (isDuration(usage) ? positive(usage.seconds) : null) ??
    ("duration" in answer ? positive(answer.duration) : null)
  return seconds === null ? {} : { seconds }
}

/** Whether a transcript is in the value, at any depth: an error may be wrapped around it. */
const hasTranscript = (value: unknown): boolean =>
  isTranscript(value) ||
  (Predicate.isObjectOrArray(value) && Object.values(value).some(hasTranscript))

/**
 * The failure of an answer. With an error, a transcript means that the product was made; a body
 * that is no JSON may be the product itself. Neither reaches the client.
 */
const failureOf = (account: ChannelAccount, answer: VendorAnswer): VendorFailure =>
  hasTranscript(answer.body)
    ? brokenAnswer(answer)
    : unusableAnswer(account, typeof answer.body === "string" ? { ...answer, body: null } : answer)

/** Matches the beginning of a web page. */
const webPage = /^\s*<(?:!doctype|html)/i

/** A transcript in a form that is no JSON is passed on as it is; nothing else in it is read. */
const readPlain = (
  account: ChannelAccount,
  answer: VendorAnswer,
  body: TranscriptionBody
): Result.Result<TextAnswer, VendorFailure> => {
  const text = answer.status < 300 ? answer.text() : ""
  const isProduct = answer.status < 300 && !isErrorText(answer.body) && !webPage.test(text)
  return isProduct
    ? Result.succeed({
        result: {},
        raw: new RawAnswer([Buffer.from(text)], undefined, transcriptType(body)),
        usage: null,
        outputBytes: answer.bytes
      })
    : Result.fail(failureOf(account, answer))
}

const readTranscript: Read<TranscriptionOrder, TextAnswer> = (account, answer, { body }) => {
  if (!isJsonTranscript(body)) return readPlain(account, answer, body)
  const result = answer.status < 300 && Predicate.isObject(answer.body) ? { ...answer.body } : {}
  return isTranscript(result) && !isErrorText(result)
    ? Result.succeed({
        result,
        usage: usageIn(result),
        outputBytes: Buffer.byteLength(result.text),
        ...secondsIn(result)
      })
    : Result.fail(failureOf(account, answer))
}

/** An event that is passed on as it is. */
const eventOf = (
  event: object,
  bytes: Buffer,
  { isLast, ...product }: Pick<WorkPiece, "hasProduct" | "outputBytes"> & { isLast: boolean }
): AudioEvent => ({
  piece: { bytes, ...product, usage: usageIn(event), ...secondsIn(event) },
  isLast
})

const soundEvent: AudioDialect["readAudio"] = (event, bytes) =>
  eventOf(event, bytes, { hasProduct: isDelta(event), isLast: isEnd(event), outputBytes: 0 })

/** The text of the last event repeats the pieces, so only one of both is counted. */
const makeTextEvent = (): AudioDialect["readAudio"] => {
  let pieceBytes = 0
  return (event, bytes) => {
    const added = isTextDelta(event) ? Buffer.byteLength(event.delta) : 0
    pieceBytes += added
    const isLast = isTextEnd(event)
    const rest = isLast ? Math.max(0, Buffer.byteLength(event.text) - pieceBytes) : 0
    const outputBytes = added + rest
    return eventOf(event, bytes, { hasProduct: added > 0 || isLast, isLast, outputBytes })
  }
}

const dialectOf = (readAudio: AudioDialect["readAudio"]): AudioDialect => ({
  readAudio,
  isError: isErrorText,
  refusals: standardRefusals,
  comment: heartbeat,
  failureOf
})

// Calls

export const makeOpenAiAudio = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const streamEvents = makeAudioStreaming(wire, limits)

  const speakInBytes: SpeechAdapter["speak"] = Effect.fnUntraced(function* (account, order, take) {
    const answer = yield* sendForSound(
      wire,
      speechRequest(account, order),
      limits.stream,
      (chunks) => take(chunks.map(soundPiece))
    )
    if (!answer.isStream) {
      return yield* judgeFailure(standardRefusals, answer, failureOf(account, answer))
    }
  })

  return {
    speech: {
      speak: (account, order, take) =>
        order.body.stream_format === "sse"
          ? streamEvents(account, speechRequest(account, order), dialectOf(soundEvent), take)
          : speakInBytes(account, order, take)
    },
    transcription: {
      transcribe: makeCall(wire)(
        (account, order) => Result.succeed(transcriptionRequest(account, order)),
        withJudgement(() => standardRefusals, readTranscript),
        limits.text
      ),
      stream: (account, order, take) =>
        streamEvents(
          account,
          transcriptionRequest(account, order),
          dialectOf(makeTextEvent()),
          take
        )
    },
    check: makeCheck(wire, modelsCheck, limits),
    listModels: makeModelList(wire, limits)
  } satisfies AudioAdapter
})
