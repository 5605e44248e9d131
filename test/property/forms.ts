/**
 * The right form of every protocol's answers, with a product in it that is known wherever it turns
 * up: its mark is in each image, address, id, word and number.
 */
import {
  indexes,
  itemsOf,
  type Json,
  type Mark,
  mediumOf,
  PADDING,
  usageOf,
  wordsOf
} from "./answerParts.ts"
import { soundAnswer, transcript } from "./audioForms.ts"
import { type AnswerPlan, ELEVEN_MODEL, isOfCloud, OWN_RESPONSE, type Plan } from "./plans.ts"
import { writtenResponse } from "./responseForms.ts"
import { familyOf, submitted } from "./videoForms.ts"

const standardImage = (plan: AnswerPlan, mark: Mark, index: number): Json =>
  plan.medium === "b64"
    ? { b64_json: `iVBORw0KGgo${mark.text}i${index}${PADDING}` }
    : { url: mediumOf(plan, mark, index, "png") }

/** Some of them refused, where the plan says so. */
const inPart = <A>(plan: AnswerPlan, items: ReadonlyArray<A>): ReadonlyArray<A | Json | null> =>
  plan.shape === "partial"
    ? [null, { error: { code: "moderation_blocked", message: "refused" } }, ...items.slice(0, 1)]
    : items

/** The prediction of Replicate, which waits a moment for its images. */
const prediction = (plan: AnswerPlan, mark: Mark, all: ReadonlyArray<number>): Json => {
  const id = `${mark.text}job`
  if (plan.shape === "task") return { id, status: "starting" }
  const output = all.map((index) => mediumOf(plan, mark, index, "png"))
  return { id, status: "succeeded", output: inPart(plan, output) }
}

/** The answer of fal: of a host that waits for the result, or of the queue. */
const falResult = (plan: AnswerPlan, mark: Mark, all: ReadonlyArray<number>): Json =>
  plan.shape === "task"
    ? { request_id: `${mark.text}job`, status: "IN_QUEUE" }
    : {
        images: inPart(
          plan,
          all.map((index) => ({ url: mediumOf(plan, mark, index, "png") }))
        ),
        seed: 42
      }

const imageBytes = (plan: AnswerPlan, mark: Mark, index: number): unknown =>
  plan.medium === "url" || plan.medium === "b64"
    ? `iVBORw0KGgo${mark.text}i${index}${PADDING}`
    : mediumOf(plan, mark, index, "png")

const candidates = (plan: AnswerPlan, mark: Mark, all: ReadonlyArray<number>): Json => {
  const parts = all.map((index) => ({
    inlineData: { mimeType: "image/png", data: imageBytes(plan, mark, index) }
  }))
  return {
    candidates: [{ content: { role: "model", parts: inPart(plan, parts) }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 1290 }
  }
}

const images = (plan: AnswerPlan, mark: Mark, { model, n }: Plan): Json => {
  const all = indexes(itemsOf(plan, n))
  if (model === "paint-fal") return falResult(plan, mark, all)
  if (model === "paint-replicate") return prediction(plan, mark, all)
  if (model === "paint-gemini") return candidates(plan, mark, all)
  if (model === "paint-a" || model === "relay-paint-standard") {
    const data = inPart(
      plan,
      all.map((index) => standardImage(plan, mark, index))
    )
    return { created: 1767225600, data }
  }
  if (plan.shape === "task") {
    return { output: { task_id: `${mark.text}job`, task_status: "PENDING" }, request_id: "r" }
  }
  const content = inPart(
    plan,
    all.map((index) => ({ type: "image", image: mediumOf(plan, mark, index, "png") }))
  )
  const choices = [{ finish_reason: "stop", message: { role: "assistant", content } }]
  return {
    output: { choices, finished: true },
    usage: { image_count: all.length },
    request_id: "r"
  }
}

/** What a choice says, in the field the plan names. */
const saying = ({ words }: AnswerPlan, text: string): Json => {
  switch (words) {
    case "parts":
      return { content: [{ type: "text", text }] }
    case "reasoning":
      return { reasoning_content: text }
    case "tool":
      return { tool_calls: [{ index: 0, function: { name: "f", arguments: text } }] }
    case "refusal":
      return { refusal: text }
    default:
      return { role: "assistant", content: text }
  }
}

/** One choice of a whole text (`message`) or of a piece of one (`delta`), or what stands for it. */
const choice = (plan: AnswerPlan, text: string, field: "message" | "delta"): Json => {
  const finish = { finish_reason: field === "message" ? "stop" : null }
  switch (plan.words) {
    case "text":
      return { choices: [{ index: 0, text, ...finish }] }
    case "message":
      return {
        choices: [{ index: 0, [field === "delta" ? "message" : "delta"]: { content: text } }]
      }
    case "object":
      return { choices: { 0: { index: 0, [field]: { content: text } } } }
    case "outside":
      return { choices: [{ index: 0, [field]: {}, ...finish }], output_text: text }
    case "response":
      return { type: "response.output_text.delta", delta: text }
    default:
      return { choices: [{ index: 0, [field]: saying(plan, text), ...finish }] }
  }
}

const completion = (plan: AnswerPlan, mark: Mark): Json => {
  const said = wordsOf(plan, mark)
  const usage = usageOf(plan, said.length * 6)
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1767225600,
    model: "m",
    ...choice(plan, said.join(""), "message"),
    ...(usage === undefined ? {} : { usage })
  }
}

/** The events of a streamed text: its words one by one, its end, and its usage. */
export const chunks = (plan: AnswerPlan, mark: Mark): ReadonlyArray<Json> => {
  const frame = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1767225600,
    model: "m"
  }
  const said = wordsOf(plan, mark)
  const usage = usageOf(plan, said.length * 6)
  const counted = usage === undefined ? {} : { usage }
  const isEarly = plan.usage === "middle"
  const pieces = said.map((word, at) => ({
    ...frame,
    ...choice(plan, word, "delta"),
    ...(isEarly && at === 0 ? counted : {})
  }))
  const end = { ...frame, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
  const last = { ...frame, choices: [], ...counted }
  return [
    ...pieces,
    ...(plan.ending === "no finish" ? [] : [end]),
    ...(usage === undefined || isEarly || plan.ending === "finish alone" ? [] : [last])
  ]
}

const vectors = (plan: AnswerPlan, mark: Mark): Json => {
  const number = Number(`0.${mark.digits}`)
  const embedding = plan.medium === "b64" ? `AAAA${mark.text}i0${PADDING}` : [number, 0.5, -0.5]
  const usage = usageOf(plan, 7)
  return {
    object: "list",
    model: "m",
    data: indexes(itemsOf(plan, 1)).map((index) => ({ object: "embedding", index, embedding })),
    ...(usage === undefined ? {} : { usage })
  }
}

const RANKED = 3

const ranked = (plan: AnswerPlan, mark: Mark): Json => {
  const usage = usageOf(plan, 7)
  return {
    model: "m",
    results: indexes(itemsOf(plan, RANKED)).map((index) => ({
      index,
      relevance_score: Number(`0.${mark.digits}`),
      document: { text: `${mark.text}i${index}` }
    })),
    ...(usage === undefined ? {} : { usage })
  }
}

/** The right answer to an order that is not streamed. */
export const productOf = (plan: AnswerPlan, mark: Mark, order: Plan): Json => {
  switch (order.kind) {
    case "image":
      return images(plan, mark, order)
    case "video":
      return submitted(plan, mark, order)
    case "chat":
      return order.model === OWN_RESPONSE ? writtenResponse(plan, mark) : completion(plan, mark)
    case "embedding":
      return vectors(plan, mark)
    case "rerank":
      return ranked(plan, mark)
    case "speech":
      return soundAnswer(plan, mark, order)
    case "transcription":
      return transcript(plan, mark, order)
  }
}

/** Their vendors write errors in the standard form. */
const standardKinds: ReadonlySet<Plan["kind"]> = new Set([
  "chat",
  "embedding",
  "rerank",
  "speech",
  "transcription"
])

/** The protocol's refusal, with these words. */
export const refusalOf = ({ kind, model }: Plan, message: string): Json => {
  if (isOfCloud(model)) return { code: "InvalidParameter", message, request_id: "r" }
  if (model === ELEVEN_MODEL) return { detail: { status: "bad_order", message } }
  if (standardKinds.has(kind) || model === "paint-a") {
    return { error: { message, type: "invalid_request_error", param: null, code: "bad_order" } }
  }
  switch (familyOf(model)) {
    case "gemini":
    case "veo":
      return { error: { code: 400, message, status: "INVALID_ARGUMENT" } }
    case "a":
      return { error: { code: "InvalidParameter", message, type: "BadRequest" } }
    case "d":
    case "relay d":
      return { code: 1201, message, request_id: "r" }
    case "e":
      return { code: 400, reason: "FieldInvalid", message }
    case "fal":
      return { detail: [{ loc: ["body"], msg: message, type: "value_error" }] }
    case "replicate":
      return { title: "Input validation failed", detail: message, status: 422 }
    case "minimax":
      return { type: "error", error: { type: "bad_request_error", message } }
    default:
      return { code: "InvalidParameter", message, request_id: "r" }
  }
}
