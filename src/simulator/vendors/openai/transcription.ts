/** Transcriptions in the common standard form: a form with a file, whole or streamed. */
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry } from "../../Book.ts"
import { countOf, isOn, withUsageWord } from "../../switches.ts"
import { decodeBody } from "../../Vendor.ts"
import { eventOf, streamEvents } from "../partStream.ts"
import { errorEvent, ofFault } from "../standardErrors.ts"
import { tokensOf } from "./chats.ts"

const Transcription = Schema.Struct({
  model: Schema.NonEmptyString,
  file: Schema.String.check(Schema.isPattern(/^data:[^,]*;base64,./)),
  language: Schema.optionalKey(Schema.String),
  prompt: Schema.optionalKey(Schema.String),
  response_format: Schema.optionalKey(
    Schema.Literals(["json", "text", "srt", "verbose_json", "vtt"])
  ),
  temperature: Schema.optionalKey(Schema.String),
  "timestamp_granularities[]": Schema.optionalKey(
    Schema.Array(Schema.Literals(["word", "segment"]))
  ),
  stream: Schema.optionalKey(Schema.Literals(["true", "false"]))
})
export type Transcription = typeof Transcription.Type

export const decodeTranscription = decodeBody(Transcription, {
  unknownFields: "ignored",
  refuse: ofFault
})

/** What is said in every sound. */
export const SPOKEN = "The harbour is calm at dawn."
const TOKENS_PER_SECOND = 10

const bytesOf = ({ file }: Transcription): Buffer =>
  Buffer.from(file.slice(file.indexOf(",") + 1), "base64")

/** The length of a WAV file by its header; null for every other format. */
export const wavSeconds = (bytes: Buffer): number | null => {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.length < 44) return null
  return (bytes.length - 44) / bytes.readUInt32LE(28)
}

/**
 * The length in seconds that the vendor counts: of `sim:seconds=N`, or of a WAV file; null for other
 * formats, for which this vendor reports no length.
 */
const secondsOf = (transcription: Transcription, { switches }: AcceptedEntry): number | null =>
  isOn(switches, "seconds") ? countOf(switches, "seconds", 1) : wavSeconds(bytesOf(transcription))

/** Models of this name count tokens, others seconds. */
const countsTokens = ({ model }: Transcription): boolean => model.includes("tokens")

const usageOf = (transcription: Transcription, acceptedEntry: AcceptedEntry): object => {
  const seconds = secondsOf(transcription, acceptedEntry)
  if (isOn(acceptedEntry.switches, "nousage") || seconds === null) return {}
  if (!countsTokens(transcription)) {
    return { usage: { type: "duration", seconds: Math.ceil(seconds) } }
  }
  const audio = Math.ceil(seconds * TOKENS_PER_SECOND)
  const text = tokensOf(transcription.prompt ?? "")
  const output = tokensOf(SPOKEN)
  return {
    usage: {
      type: "tokens",
      input_tokens: audio + text,
      output_tokens: output,
      total_tokens: audio + text + output,
      input_token_details: { audio_tokens: audio, text_tokens: text }
    }
  }
}

const usageFields = ["input_tokens", "output_tokens", "seconds"]

const timeOf = (seconds: number, separator: string): string => {
  const at = new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23)
  return at.replace(".", separator)
}

const plainAnswers = {
  text: () => `${SPOKEN}\n`,
  srt: (end: number) => `1\n${timeOf(0, ",")} --> ${timeOf(end, ",")}\n${SPOKEN}\n\n`,
  vtt: (end: number) => `WEBVTT\n\n${timeOf(0, ".")} --> ${timeOf(end, ".")}\n${SPOKEN}\n\n`
} as const

/** The end of the only segment where the length of the sound is not known. */
const SEGMENT_SECONDS = 1

const verboseOf = (transcription: Transcription, seconds: number | null) => {
  const granularities = transcription["timestamp_granularities[]"] ?? ["segment"]
  return {
    task: "transcribe",
    language: transcription.language ?? "english",
    ...(seconds === null ? {} : { duration: seconds }),
    text: SPOKEN,
    ...(granularities.includes("segment")
      ? { segments: [{ id: 0, start: 0, end: seconds ?? SEGMENT_SECONDS, text: SPOKEN }] }
      : {}),
    ...(granularities.includes("word")
      ? { words: SPOKEN.split(" ").map((word, index) => ({ word, start: index, end: index + 1 })) }
      : {})
  }
}

/** Streams the text word by word. */
const streamAnswer = (transcription: Transcription, acceptedEntry: AcceptedEntry) => {
  const { switches } = acceptedEntry
  const events: ReadonlyArray<object> = [
    ...(SPOKEN.match(/\S+\s*/g) ?? []).map((delta) => ({ type: "transcript.text.delta", delta })),
    { type: "transcript.text.done", text: SPOKEN, ...usageOf(transcription, acceptedEntry) }
  ]
  return streamEvents(
    switches,
    events.map((event) => eventOf(withUsageWord(JSON.stringify(event), switches, usageFields))),
    errorEvent
  )
}

export const transcriptionAnswer = Effect.fnUntraced(function* (
  transcription: Transcription,
  acceptedEntry: AcceptedEntry
) {
  if (transcription.stream === "true") return yield* streamAnswer(transcription, acceptedEntry)
  const { response_format: format = "json" } = transcription
  const seconds = secondsOf(transcription, acceptedEntry)
  if (format === "text" || format === "srt" || format === "vtt") {
    return HttpServerResponse.text(plainAnswers[format](seconds ?? SEGMENT_SECONDS), {
      contentType: "text/plain"
    })
  }
  const answer = {
    ...(format === "verbose_json" ? verboseOf(transcription, seconds) : { text: SPOKEN }),
    ...usageOf(transcription, acceptedEntry)
  }
  const text = withUsageWord(JSON.stringify(answer), acceptedEntry.switches, usageFields)
  return HttpServerResponse.text(
    isOn(acceptedEntry.switches, "truncated") ? text.slice(0, Math.floor(text.length / 2)) : text,
    { contentType: "application/json" }
  )
})
