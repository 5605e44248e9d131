/**
 * dashscope: speech over the cloud's own message interface. A text is spoken in events with parts of
 * raw sound, which become bytes, a WAV file or the events of the common standard form. A sound is
 * transcribed in a message, whole or streamed.
 */
import { Effect, Predicate, Result, Schema } from "effect"
import { audioFamilyOf, audioProtocols, type SpeechFamily } from "../domain/audio/AudioProtocol.ts"
import { parameterValues } from "../domain/catalog/vendorParameters.ts"
import { JSON_TYPE, RawAnswer } from "../domain/RawAnswer.ts"
import { type SpeechBody, speechFormatOf } from "../domain/speech/SpeechRequest.ts"
import type { TokenCounts } from "../domain/text/TextQuote.ts"
import { transcriptType } from "../domain/transcription/TranscriptionRequest.ts"
import type {
  AudioAdapter,
  ChannelAccount,
  ModelOrder,
  TextAnswer,
  TranscriptionOrder
} from "../services/ProtocolAdapter.ts"
import { makeCall, makeCheck, type Read, withJudgement } from "./common/adapterCalls.ts"
import { type AudioDialect, makeAudioStreaming } from "./common/audioStream.ts"
import { Count } from "./common/chatStream.ts"
import { cloudRefusals, flatFailure } from "./common/flatErrors.ts"
import { soundDelta, soundDone, standardEvent } from "./common/sounds.ts"
import { messagesPath, taskCheck, tasksUrl } from "./ip_b.ts"
import { heartbeat, readEvent, startsEvents } from "./wire/eventBlocks.ts"
import { VendorLimits } from "./wire/limits.ts"
import { flatWordShape } from "./wire/refusalTable.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import { parseBody, type VendorAnswer } from "./wire/vendorAnswer.ts"
import { bearer, cloudUrl, omitEmpty, post } from "./wire/vendorRequest.ts"

// Wire schemas

const isSound = Schema.is(
  Schema.Struct({
    output: Schema.Struct({ audio: Schema.Struct({ data: Schema.NonEmptyString }) })
  })
)
const isEndOfSound = Schema.is(
  Schema.Struct({ output: Schema.Struct({ finish_reason: Schema.Literal("stop") }) })
)
const isTranscript = Schema.is(
  Schema.Struct({
    output: Schema.Struct({
      choices: Schema.NonEmptyArray(
        Schema.Struct({
          finish_reason: Schema.optional(Schema.NullOr(Schema.String)),
          message: Schema.Struct({
            content: Schema.Array(Schema.Unknown),
            annotations: Schema.optional(Schema.Unknown)
          })
        })
      )
    })
  })
)
const isText = Schema.is(Schema.Struct({ text: Schema.String }))
const isAnnotations = Schema.is(
  Schema.NonEmptyArray(
    Schema.Struct({
      language: Schema.optional(Schema.NonEmptyString),
      emotion: Schema.optional(Schema.NonEmptyString)
    })
  )
)
const isUsage = Schema.is(Schema.Struct({ input_tokens: Count, output_tokens: Count }))
const isAudioInput = Schema.is(
  Schema.Struct({ input_tokens_details: Schema.Struct({ audio_tokens: Count }) })
)
const isDuration = Schema.is(
  Schema.Struct({ seconds: Schema.Finite.check(Schema.isGreaterThan(0)) })
)

// To the vendor

/** The header that asks for events. */
const inEvents = { "x-dashscope-sse": "enable" } as const

const speechFamilyOf = (upstreamModel: string) =>
  audioFamilyOf<SpeechFamily>(audioProtocols.dashscope.speech, upstreamModel)

const speechRequest = (
  account: ChannelAccount,
  { body, upstreamModel }: ModelOrder<SpeechBody>
) => {
  const { input, voice, instructions } = body
  const { language_type, ...parameters } = parameterValues(
    { ...body },
    speechFamilyOf(upstreamModel).parameters
  )
  return post(
    cloudUrl(account, messagesPath),
    { ...bearer(account), ...inEvents },
    {
      model: upstreamModel,
      input: omitEmpty({
        text: input,
        voice: Predicate.isObject(voice) ? voice.id : voice,
        language_type
      }),
      parameters: omitEmpty({ instructions, ...parameters })
    }
  )
}

/** The prompt is the vendor's context, which stands before the sound. */
const transcriptionRequest = (
  account: ChannelAccount,
  { body, upstreamModel, sound }: TranscriptionOrder
) => {
  const { language, prompt } = body
  const { parameters } = audioFamilyOf(audioProtocols.dashscope.transcription, upstreamModel)
  const context = (prompt ?? "") === "" ? [] : [{ role: "system", content: [{ text: prompt }] }]
  const isStream = body.stream === true
  return post(
    cloudUrl(account, messagesPath),
    { ...bearer(account), ...(isStream ? inEvents : {}) },
    {
      model: upstreamModel,
      input: { messages: [...context, { role: "user", content: [{ audio: sound }] }] },
      parameters: {
        asr_options: omitEmpty({ language, ...parameterValues({ ...body }, parameters) }),
        ...(isStream ? { incremental_output: true } : {})
      }
    }
  )
}

// From the vendor

const usageOf = (answer: object): object | null =>
  "usage" in answer && Predicate.isObject(answer.usage) ? answer.usage : null

/** The tokens and the seconds that an answer reports. */
const reportedBy = (
  answer: object
): { readonly usage: TokenCounts | null; readonly seconds?: number } => {
  const usage = usageOf(answer)
  const audioInput = isAudioInput(usage) ? BigInt(usage.input_tokens_details.audio_tokens) : null
  return {
    usage: isUsage(usage)
      ? {
          inputTokens: BigInt(usage.input_tokens),
          outputTokens: BigInt(usage.output_tokens),
          ...(audioInput === null
            ? {}
            : { separate: { cachedInput: 0n, audioInput, audioOutput: 0n } })
        }
      : null,
    ...(isDuration(usage) ? { seconds: usage.seconds } : {})
  }
}

/** The usage of an answer in the common standard form. */
const standardUsage = (answer: object) => {
  const usage = usageOf(answer)
  if (isUsage(usage)) {
    const { input_tokens, output_tokens } = usage
    const total_tokens = input_tokens + output_tokens
    return { usage: { type: "tokens", input_tokens, output_tokens, total_tokens } }
  }
  return isDuration(usage) ? { usage: { type: "duration", seconds: usage.seconds } } : {}
}

/** The vendor's sound has one channel of 24,000 samples of two bytes in a second. */
const SAMPLES_PER_SECOND = 24_000
const SAMPLE_BYTES = 2
/** The size of a part of a WAV file that is not known when its head is written. */
const UNKNOWN_SIZE = 0xffff_ffff

const HEAD_BYTES = 44
const FORMAT_BYTES = 16
const PCM = 1

/** The head of a WAV file that is written while its sound is still made. */
const wavHead = (() => {
  const head = Buffer.alloc(HEAD_BYTES)
  head.write("RIFF", 0, "latin1")
  head.writeUInt32LE(UNKNOWN_SIZE, 4)
  head.write("WAVEfmt ", 8, "latin1")
  head.writeUInt32LE(FORMAT_BYTES, 16)
  head.writeUInt16LE(PCM, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(SAMPLES_PER_SECOND, 24)
  head.writeUInt32LE(SAMPLES_PER_SECOND * SAMPLE_BYTES, 28)
  head.writeUInt16LE(SAMPLE_BYTES, 32)
  head.writeUInt16LE(SAMPLE_BYTES * 8, 34)
  head.write("data", 36, "latin1")
  head.writeUInt32LE(UNKNOWN_SIZE, 40)
  return head
})()

/** The events for the client of a part of the sound and of its end. */
const soundEvents = (sound: Buffer, isLast: boolean, event: object): Buffer =>
  Buffer.concat([
    ...(sound.byteLength === 0 ? [] : [soundDelta(sound)]),
    ...(isLast ? [soundDone(standardUsage(event))] : [])
  ])

const isFlatError = (event: object): boolean => flatWordShape(event) !== null

/** The answer whose body is the error of an event, as the vendor also frames whole answers. */
const unframed = (answer: VendorAnswer): VendorAnswer => {
  const { body } = answer
  if (typeof body !== "string" || !startsEvents(body)) return answer
  const { data } = readEvent(Buffer.from(body))
  return data === null ? answer : { ...answer, body: parseBody(data, errorBounds) }
}

/** The bounds of an error in an event. */
const errorBounds = { levels: 8, values: 100, arrayNumbers: 0, otherBytes: 64 * 1024 }

const failures = {
  isError: isFlatError,
  refusals: cloudRefusals,
  wholeAnswer: unframed,
  failureOf: flatFailure
} as const

const soundDialect = ({ body, upstreamModel }: ModelOrder<SpeechBody>): AudioDialect => {
  const isInEvents = body.stream_format === "sse"
  const isWav = speechFormatOf(body, speechFamilyOf(upstreamModel)) === "wav"
  let isBegun = false
  return {
    ...failures,
    comment: isInEvents ? heartbeat : null,
    readAudio: (event) => {
      const part = isSound(event) ? Buffer.from(event.output.audio.data, "base64") : null
      const hasProduct = part !== null && part.byteLength > 0
      const sound = Buffer.concat([
        ...(hasProduct && isWav && !isBegun ? [wavHead] : []),
        ...(part === null ? [] : [part])
      ])
      isBegun ||= hasProduct
      const isLast = isEndOfSound(event)
      const bytes = isInEvents ? soundEvents(sound, isLast, event) : sound
      return {
        piece: {
          bytes: bytes.byteLength === 0 ? null : bytes,
          hasProduct,
          outputBytes: 0,
          ...reportedBy(event)
        },
        isLast
      }
    }
  }
}

/** The text in an answer or in an event; null if it has none. */
const textIn = (answer: unknown): string | null =>
  isTranscript(answer)
    ? answer.output.choices[0].message.content
        .filter(isText)
        .map(({ text }) => text)
        .join("")
    : null

/** Each event has the text that it adds; the end repeats the whole text. */
const makeTextDialect = (): AudioDialect => {
  let text = ""
  return {
    ...failures,
    comment: heartbeat,
    readAudio: (event) => {
      const delta = textIn(event) ?? ""
      text += delta
      const isLast = isTranscript(event) && event.output.choices[0].finish_reason === "stop"
      const bytes = Buffer.concat([
        ...(delta === "" ? [] : [standardEvent({ type: "transcript.text.delta", delta })]),
        ...(isLast
          ? [standardEvent({ type: "transcript.text.done", text, ...standardUsage(event) })]
          : [])
      ])
      return {
        piece: {
          bytes: bytes.byteLength === 0 ? null : bytes,
          hasProduct: delta !== "" || isLast,
          outputBytes: Buffer.byteLength(delta),
          ...reportedBy(event)
        },
        isLast
      }
    }
  }
}

/** What the vendor heard beside the words: the language and the emotion. */
const annotationsIn = (answer: unknown) => {
  const annotations = isTranscript(answer)
    ? answer.output.choices[0].message.annotations
    : undefined
  if (!isAnnotations(annotations)) return {}
  const [{ language, emotion }] = annotations
  return omitEmpty({ language, emotion })
}

const readTranscript: Read<TranscriptionOrder, TextAnswer> = (account, framed, { body }) => {
  const answer = unframed(framed)
  const text = answer.status < 300 ? textIn(answer.body) : null
  if (text === null || !Predicate.isObject(answer.body)) {
    return Result.fail(flatFailure(account, answer))
  }
  const counted = { ...reportedBy(answer.body), outputBytes: Buffer.byteLength(text) }
  const contentType = transcriptType(body)
  return Result.succeed(
    contentType === JSON_TYPE
      ? {
          ...counted,
          result: { text, ...annotationsIn(answer.body), ...standardUsage(answer.body) }
        }
      : {
          ...counted,
          result: {},
          raw: new RawAnswer([Buffer.from(`${text}\n`)], undefined, contentType)
        }
  )
}

// Calls

export const makeDashScope = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits
  const streamEvents = makeAudioStreaming(wire, limits)
  return {
    speech: {
      speak: (account, order, take) =>
        streamEvents(account, speechRequest(account, order), soundDialect(order), take)
    },
    transcription: {
      transcribe: makeCall(wire)(
        (account, order) => Result.succeed(transcriptionRequest(account, order)),
        withJudgement(() => cloudRefusals, readTranscript),
        limits.text
      ),
      stream: (account, order, take) =>
        streamEvents(account, transcriptionRequest(account, order), makeTextDialect(), take)
    },
    check: makeCheck(wire, taskCheck(tasksUrl, cloudRefusals), limits)
  } satisfies AudioAdapter
})
