import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import type { AcceptedEntry, Product } from "../Book.ts"
import { numberFrom, randomText } from "../digest.ts"
import { placeOrder } from "../placeOrder.ts"
import { isOn, withUsageWord } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  type Refusal,
  type Vendor
} from "../Vendor.ts"
import { modelsAt } from "./modelList.ts"
import { streamedChoice, wholeChoice } from "./openai/chatAnswers.ts"
import { type ChatChoice, choicesOf, countTokens } from "./openai/chatChoices.ts"
import { type Chat, chatUsage, decodeChat, imagesOf, promptOf, tokensOf } from "./openai/chats.ts"
import {
  decodeResponse,
  eventsBeforeEnd,
  responseOf,
  responseUsage,
  type WrittenResponse
} from "./openai/responses.ts"
import { decodeSpeech, speechAnswer, speechTokens } from "./openai/speech.ts"
import { decodeTranscription, transcriptionAnswer } from "./openai/transcription.ts"
import { eventOf, streamEvents } from "./partStream.ts"
import {
  badKey,
  missingModel,
  moderatedInput,
  ofFault,
  refuse,
  refusedContent
} from "./standardErrors.ts"

/** Maximum number of dimensions of a vector, which limits the memory that a request can use. */
const MAX_DIMENSIONS = 8192

const Embed = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.Union([
    Schema.NonEmptyString,
    Schema.NonEmptyArray(Schema.NonEmptyString),
    Schema.NonEmptyArray(Schema.Int),
    Schema.NonEmptyArray(Schema.NonEmptyArray(Schema.Int))
  ]),
  dimensions: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_DIMENSIONS }))
  ),
  encoding_format: Schema.optionalKey(Schema.Literals(["float", "base64"]))
})

const decodeEmbed = decodeBody(Embed, { unknownFields: "ignored", refuse: ofFault })

/** The response contains the whole result, so an order is never polled. */
const lifecycle = (completionTokens: number): Lifecycle => ({
  runningStatuses: ["processing"],
  reportsCancellation: false,
  productOf: (): Product => ({ seconds: null, images: null, completion_tokens: completionTokens })
})

const end = Effect.fnUntraced(function* (desk: Desk, acceptedEntry: AcceptedEntry, tokens: number) {
  const tasks = yield* Tasks
  const endedEntry = yield* tasks.finish(acceptedEntry, lifecycle(tokens))
  if (endedEntry.reason === "moderated") return yield* refusedContent("moderation_blocked")
  if (endedEntry.reason !== null) return yield* desk.refuse(500)
})

const usageFields = [
  "prompt_tokens",
  "completion_tokens",
  "input_tokens",
  "output_tokens",
  "total_tokens"
]

const headOf = (acceptedEntry: AcceptedEntry, object: string) => ({
  id: acceptedEntry.upstream_id,
  object,
  created: Math.floor(Date.parse(acceptedEntry.at) / 1000),
  model: acceptedEntry.model
})

/**
 * The response as JSON text. `sim:usage` may replace its counts by words that are not JSON numbers.
 */
const answerOf = (acceptedEntry: AcceptedEntry, body: object, usage: object) => {
  const { switches } = acceptedEntry
  const responseBody = isOn(switches, "nousage") ? body : { ...body, usage }
  return withUsageWord(JSON.stringify(responseBody), switches, usageFields)
}

/** A chat with its choices and their usage. */
interface Completion {
  readonly chat: Chat
  readonly choices: ReadonlyArray<ChatChoice>
  readonly usage: ReturnType<typeof chatUsage>
}

const completionOf = Effect.fnUntraced(function* (
  chat: Chat
): Effect.fn.Return<Completion, Refusal> {
  const choices = yield* choicesOf(chat)
  const outputTokens = choices.reduce((sum, choice) => sum + countTokens(choice), 0)
  return { chat, choices, usage: chatUsage(chat, outputTokens) }
})

const plainAnswer = (acceptedEntry: AcceptedEntry, { choices, usage }: Completion) =>
  answerOf(
    acceptedEntry,
    { ...headOf(acceptedEntry, "chat.completion"), choices: choices.map(wholeChoice) },
    usage
  )

/** The data of all events of a streamed chat, in order. */
const eventsOf = (
  acceptedEntry: AcceptedEntry,
  { chat, choices, usage }: Completion
): ReadonlyArray<string> => {
  const counts = chat.stream_options?.include_usage === true
  const head = headOf(acceptedEntry, "chat.completion.chunk")
  const chunk = (choice: object) =>
    JSON.stringify({ ...head, choices: [choice], ...(counts ? { usage: null } : {}) })
  const streamed = choices.map(streamedChoice)
  return [
    ...streamed.map(({ start }) => chunk(start)),
    ...streamed.flatMap(({ deltas }) => deltas.map(chunk)),
    ...streamed.map(({ end }) => chunk(end)),
    ...(counts && !isOn(acceptedEntry.switches, "nousage")
      ? [answerOf(acceptedEntry, { ...head, choices: [] }, usage)]
      : []),
    "[DONE]"
  ]
}

const chatError = eventOf(
  JSON.stringify({
    error: {
      message: "The server had an error",
      type: "server_error",
      param: null,
      code: "overloaded"
    }
  })
)

const streamAnswer = (acceptedEntry: AcceptedEntry, completion: Completion) =>
  streamEvents(acceptedEntry.switches, eventsOf(acceptedEntry, completion).map(eventOf), chatError)

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

const orderOf = (n: number | null, images: number) => ({
  seconds: null,
  resolution: null,
  ratio: null,
  n,
  size: null,
  inputs: { images, videos: 0, audios: 0 },
  generate_audio: null
})

const newResponseId = (): string => `resp_${randomText("0123456789abcdef", 48)}`
const newId = (): string => `chatcmpl-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 24)}`

const desk: Desk = { protocol: "openai", refuse, moderatedInput }
const responsesDesk: Desk = { ...desk, protocol: "openai_responses" }

const completeAt = (desk: Desk) =>
  Effect.fnUntraced(function* (call: Call) {
    const chat = yield* decodeChat(call.body)
    if (isMissingModel(chat.model)) return yield* missingModel(chat.model)
    const completion = yield* completionOf(chat)
    return yield* placeOrder(
      desk,
      call,
      {
        kind: "text",
        model: chat.model,
        prompt: promptOf(chat),
        order: orderOf(chat.n ?? 1, imagesOf(chat)),
        clientToken: null,
        echo: {},
        newId
      },
      Effect.fnUntraced(function* (acceptedEntry) {
        yield* end(desk, acceptedEntry, completion.usage.completion_tokens)
        if (chat.stream === true) return yield* streamAnswer(acceptedEntry, completion)
        const text = plainAnswer(acceptedEntry, completion)
        return json(
          isOn(acceptedEntry.switches, "truncated")
            ? text.slice(0, Math.floor(text.length / 2))
            : text
        )
      })
    )
  })

const namedEvent = (type: string, json: string): string => `event: ${type}\n${eventOf(json)}`

/** All events of a streamed response, in order. */
const responseEvents = (acceptedEntry: AcceptedEntry, written: WrittenResponse) => {
  const { switches } = acceptedEntry
  const before = eventsBeforeEnd(acceptedEntry, written)
  const response = responseOf(acceptedEntry, written)
  const usage = isOn(switches, "nousage") ? null : responseUsage(written)
  const end = { type: `response.${String(response.status)}`, response: { ...response, usage } }
  return [
    ...before.map((event, sequence_number) =>
      namedEvent(event.type, JSON.stringify({ ...event, sequence_number }))
    ),
    namedEvent(
      end.type,
      withUsageWord(
        JSON.stringify({ ...end, sequence_number: before.length }),
        switches,
        usageFields
      )
    )
  ]
}

const responseError = namedEvent(
  "error",
  JSON.stringify({
    type: "error",
    error: {
      type: "server_error",
      code: "server_error",
      message: "The server had an error",
      param: null
    },
    sequence_number: 1000
  })
)

const respond = Effect.fnUntraced(function* (call: Call) {
  const { request, chat } = yield* decodeResponse(call.body)
  if (isMissingModel(chat.model)) return yield* missingModel(chat.model)
  const { choices, usage } = yield* completionOf(chat)
  const [choice] = choices
  if (choice === undefined) return yield* refuse(500)
  const written = { request, choice, usage }
  return yield* placeOrder(
    responsesDesk,
    call,
    {
      kind: "text",
      model: chat.model,
      prompt: promptOf(chat),
      order: orderOf(1, imagesOf(chat)),
      clientToken: null,
      echo: {},
      newId: newResponseId
    },
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(responsesDesk, acceptedEntry, usage.completion_tokens)
      if (request.stream === true) {
        const events = responseEvents(acceptedEntry, written)
        return yield* streamEvents(acceptedEntry.switches, events, responseError)
      }
      const text = answerOf(
        acceptedEntry,
        responseOf(acceptedEntry, written),
        responseUsage(written)
      )
      return json(
        isOn(acceptedEntry.switches, "truncated")
          ? text.slice(0, Math.floor(text.length / 2))
          : text
      )
    })
  )
})

const defaultDimensions = 8

/**
 * A vector as base64 of 32-bit floats in the machine's byte order, in which OpenAI's clients read
 * it.
 */
const encodeVector = (vector: ReadonlyArray<number>): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString("base64")

const embed = Effect.fnUntraced(function* (call: Call) {
  const { model, input, dimensions, encoding_format } = yield* decodeEmbed(call.body)
  if (isMissingModel(model)) return yield* missingModel(model)
  const list = typeof input === "string" ? [input] : input
  const isOne = list.every((item) => typeof item === "number")
  const inputs: ReadonlyArray<string | ReadonlyArray<number> | number> = isOne
    ? [list.join(" ")]
    : list
  const texts = inputs.map((item) => (typeof item === "object" ? item.join(" ") : String(item)))
  const tokens = isOne
    ? list.length
    : inputs.reduce<number>(
        (sum, item) => sum + (typeof item === "object" ? item.length : tokensOf(String(item))),
        0
      )
  const data = texts.map((text, index) => {
    const vector = Array.from(
      { length: dimensions ?? defaultDimensions },
      (_, dimension) => numberFrom(`${text} ${dimension}`, 2001) / 1000 - 1
    )
    return {
      object: "embedding",
      index,
      embedding: encoding_format === "base64" ? encodeVector(vector) : vector
    }
  })
  return yield* placeOrder(
    desk,
    call,
    {
      kind: "text",
      model,
      prompt: texts.join("\n"),
      order: orderOf(null, 0),
      clientToken: null,
      echo: {},
      newId
    },
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(desk, acceptedEntry, 0)
      return json(
        answerOf(
          acceptedEntry,
          { object: "list", data, model },
          { prompt_tokens: tokens, total_tokens: tokens }
        )
      )
    })
  )
})

const speak = Effect.fnUntraced(function* (call: Call) {
  const speech = yield* decodeSpeech(call.body)
  if (isMissingModel(speech.model)) return yield* missingModel(speech.model)
  return yield* placeOrder(
    desk,
    call,
    {
      kind: "text",
      model: speech.model,
      prompt: speech.input,
      order: orderOf(null, 0),
      clientToken: null,
      echo: {},
      newId
    },
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(desk, acceptedEntry, speechTokens(speech))
      return yield* speechAnswer(acceptedEntry, speech)
    })
  )
})

const transcribe = Effect.fnUntraced(function* (call: Call) {
  const transcription = yield* decodeTranscription(call.body)
  if (isMissingModel(transcription.model)) return yield* missingModel(transcription.model)
  return yield* placeOrder(
    desk,
    call,
    {
      kind: "text",
      model: transcription.model,
      prompt: transcription.prompt ?? "",
      order: orderOf(null, 0),
      clientToken: null,
      echo: {},
      newId
    },
    Effect.fnUntraced(function* (acceptedEntry) {
      yield* end(desk, acceptedEntry, 0)
      return yield* transcriptionAnswer(transcription, acceptedEntry)
    })
  )
})

/**
 * Chats, embeddings, transcriptions and spoken texts in the common standard form (OpenAI's API). A chat is answered
 * whole or streamed.
 */
export const openai: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: [
    { method: "POST", path: "/v1/chat/completions", handle: completeAt(desk) },
    { method: "POST", path: "/v1/embeddings", handle: embed },
    { method: "POST", path: "/v1/audio/speech", handle: speak },
    { method: "POST", path: "/v1/audio/transcriptions", handle: transcribe },
    { method: "POST", path: "/v1/audio/translations", handle: transcribe },
    modelsAt("/v1", "sim-talk-1", "sim-look-1", "sim-vector-1", "sim-voice-1", "sim-listen-1")
  ]
}

/** Chats and responses of a vendor that has the Responses API beside the common standard form. */
export const openai_responses: Vendor = {
  ...responsesDesk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: [
    { method: "POST", path: "/v1/chat/completions", handle: completeAt(responsesDesk) },
    { method: "POST", path: "/v1/responses", handle: respond },
    modelsAt("/v1", "sim-talk-2")
  ]
}
