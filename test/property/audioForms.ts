/** The answers of vendors of speech: sounds and transcripts, whole and event by event. */
import { HUGE, indexes, itemsOf, type Json, type Mark, PADDING, wordsOf } from "./answerParts.ts"
import { type AnswerPlan, isOfCloud, type Plan } from "./plans.ts"

const PARTS = 3

/** A part of a sound, as base64 or as bytes. */
export const soundOf = ({ text }: Mark, index: number): string => `ID3A${text}i${index}${PADDING}`

const secondCounts = {
  good: 2,
  zero: 0,
  negative: -2,
  float: 1.5,
  string: "2",
  huge: HUGE
} as const

/** The seconds that a vendor counts of a sound of two; undefined where it counts none. */
const secondsOf = ({ usage }: AnswerPlan): unknown =>
  usage in secondCounts ? secondCounts[usage as keyof typeof secondCounts] : undefined

// The common standard form

const standardUsage = (plan: AnswerPlan): Json => {
  const seconds = secondsOf(plan)
  return seconds === undefined ? {} : { usage: { type: "duration", seconds } }
}

const standardSound = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => [
  ...indexes(itemsOf(plan, PARTS)).map((index) => ({
    type: "speech.audio.delta",
    audio: soundOf(mark, index)
  })),
  ...(plan.ending === "no finish" ? [] : [{ type: "speech.audio.done" }])
]

/** The words, and the end with the whole of them. */
const standardText = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => {
  const words = wordsOf(plan, mark)
  const end = { type: "transcript.text.done", text: words.join(""), ...standardUsage(plan) }
  return [
    ...words.map((delta) => ({ type: "transcript.text.delta", delta })),
    ...(plan.ending === "no finish" ? [] : [end])
  ]
}

// The cloud's own form

const cloudAnswer = (plan: AnswerPlan, output: Json): Json => {
  const seconds = secondsOf(plan)
  return { output, ...(seconds === undefined ? {} : { usage: { seconds } }), request_id: "r" }
}

/** The end of a sound, or the whole answer without events: the file's address in place of bytes. */
const cloudFile = (plan: AnswerPlan, mark: Mark): Json => {
  const url = itemsOf(plan, PARTS) === 0 ? "" : `https://media.test/${mark.text}i0.wav?sign=1`
  return cloudAnswer(plan, { finish_reason: "stop", audio: { data: "", url, id: "audio_1" } })
}

const cloudSound = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => [
  ...indexes(itemsOf(plan, PARTS)).map((index) => {
    const data = Buffer.from(soundOf(mark, index)).toString("base64")
    const audio = { data, url: "", id: "audio_1" }
    return cloudAnswer(plan, { finish_reason: "null", audio })
  }),
  ...(plan.ending === "no finish" ? [] : [cloudFile(plan, mark)])
]

const cloudTranscript = (plan: AnswerPlan, text: string, finish_reason: string): Json => {
  const annotations = [{ type: "audio_info", language: "en", emotion: "neutral" }]
  const content = text === "" ? [] : [{ text }]
  const message = { role: "assistant", annotations, content }
  return cloudAnswer(plan, { choices: [{ finish_reason, message }] })
}

/** Each event has the words that it adds, and the end none. */
const cloudText = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => [
  ...wordsOf(plan, mark).map((word) => cloudTranscript(plan, word, "null")),
  ...(plan.ending === "no finish" ? [] : [cloudTranscript(plan, "", "stop")])
]

// Both

/** The answer to an order of speech that is neither events nor bytes. */
export const soundAnswer = (plan: AnswerPlan, mark: Mark, { model }: Plan): Json =>
  isOfCloud(model) ? cloudFile(plan, mark) : { audio: soundOf(mark, 0) }

/** The whole answer to an order of a transcription. */
export const transcript = (plan: AnswerPlan, mark: Mark, { model }: Plan): Json => {
  const text = wordsOf(plan, mark).join("")
  return isOfCloud(model) ? cloudTranscript(plan, text, "stop") : { text, ...standardUsage(plan) }
}

/** The events of a sound or of a transcript: its parts, and its end. */
export const audioEventsOf = (plan: AnswerPlan, mark: Mark, order: Plan): ReadonlyArray<Json> => {
  const isCloud = isOfCloud(order.model)
  if (order.kind === "speech") return (isCloud ? cloudSound : standardSound)(plan, mark)
  return (isCloud ? cloudText : standardText)(plan, mark)
}
