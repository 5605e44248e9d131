import { Effect, Schema } from "effect"
import type { Product } from "../Book.ts"
import { numberFrom, randomText } from "../digest.ts"
import { placeOrder } from "../placeOrder.ts"
import { countOf, isOn } from "../switches.ts"
import { type Lifecycle, Tasks } from "../Tasks.ts"
import {
  type BodyFault,
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  keyOf,
  Refusal,
  type Vendor
} from "../Vendor.ts"
import { modelsAt } from "./modelList.ts"
import { tokensOf } from "./openai/chats.ts"

const MAX_DOCUMENTS = 2048

const Rerank = Schema.Struct({
  model: Schema.NonEmptyString,
  query: Schema.NonEmptyString,
  documents: Schema.NonEmptyArray(
    Schema.Union([Schema.NonEmptyString, Schema.Struct({ text: Schema.NonEmptyString })])
  ).check(Schema.isMaxLength(MAX_DOCUMENTS)),
  top_n: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  return_documents: Schema.optionalKey(Schema.Boolean)
})
type Rerank = typeof Rerank.Type

/** Jina's API is written with FastAPI, whose errors have a `detail`; those of the vendor have a code. */
const refusal = (status: number, code: string, detail: string): Refusal =>
  new Refusal({ status, body: { detail, request_id: randomText("0123456789abcdef", 32), code } })

const refuse = (status: number): Refusal => {
  switch (status) {
    case 401:
      return refusal(401, "AUTH_INVALID_API_KEY", "Invalid API key")
    case 402:
    case 403:
      return refusal(status, "AUTHZ_INSUFFICIENT_BALANCE", "Insufficient account balance")
    case 404:
      return refusal(404, "RESOURCE_NOT_FOUND", "There is no such address")
    case 429:
      return refusal(429, "RATE_REQUEST_LIMIT_EXCEEDED", "Request rate limit exceeded: 501/500")
    default:
      return status >= 500
        ? refusal(status, "INTERNAL_ERROR", "An unexpected error occurred")
        : new Refusal({ status, body: { detail: "The request is not valid" } })
  }
}

const ofFault = ({ path, problem }: BodyFault): Refusal =>
  new Refusal({
    status: 422,
    body: { detail: `[{"type": "${problem}", "loc": ["body", "${path}"]}]` }
  })

const moderatedInput = () =>
  new Refusal({ status: 400, body: { detail: "The input was refused by the safety system." } })

const decodeRerank = decodeBody(Rerank, { unknownFields: "ignored", refuse: ofFault })

const lifecycle: Lifecycle = {
  runningStatuses: ["processing"],
  reportsCancellation: false,
  productOf: (): Product => ({ seconds: null, images: null, completion_tokens: 0 })
}

const textOf = (document: Rerank["documents"][number]): string =>
  typeof document === "string" ? document : document.text

/** The share of the query's words that a document has, with a fraction that tells equals apart. */
const scoreOf = (query: string, text: string): number => {
  const queryWords = query.toLowerCase().split(/\W+/u).filter(Boolean)
  const matches = queryWords.filter((word) => text.toLowerCase().includes(word)).length
  const share = queryWords.length === 0 ? 0 : matches / queryWords.length
  return Math.round((share * 0.9 + numberFrom(text, 1000) / 10_000) * 1e6) / 1e6
}

const resultsOf = ({ query, documents, top_n, return_documents }: Rerank) =>
  documents
    .map((document, index) => ({
      index,
      relevance_score: scoreOf(query, textOf(document)),
      ...(return_documents === true ? { document: { text: textOf(document) } } : {})
    }))
    .toSorted((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, top_n ?? documents.length)

const desk: Desk = { protocol: "jina", refuse, moderatedInput }

const rerank = Effect.fnUntraced(function* (call: Call) {
  const order = yield* decodeRerank(call.body)
  if (isMissingModel(order.model)) {
    return yield* refusal(400, "INPUT_MODEL_NOT_FOUND", `Model '${order.model}' not found`)
  }
  const texts = order.documents.map(textOf)
  return yield* placeOrder(
    desk,
    call,
    {
      kind: "text",
      model: order.model,
      prompt: [order.query, ...texts].join("\n"),
      order: {
        seconds: null,
        resolution: null,
        ratio: null,
        n: null,
        size: null,
        inputs: { images: 0, videos: 0, audios: 0 },
        generate_audio: null
      },
      clientToken: null,
      echo: {},
      newId: () => `rr-${randomText("abcdefghijklmnopqrstuvwxyz0123456789", 24)}`
    },
    Effect.fnUntraced(function* (acceptedEntry) {
      const tasks = yield* Tasks
      const { reason } = yield* tasks.finish(acceptedEntry, lifecycle)
      if (reason === "moderated") return yield* moderatedInput()
      if (reason !== null) return yield* refuse(500)
      const { switches } = acceptedEntry
      const counted = tokensOf(order.query) + texts.reduce((sum, text) => sum + tokensOf(text), 0)
      const tokens = countOf(switches, "usage", counted)
      return {
        model: order.model,
        object: "list",
        ...(isOn(switches, "nousage")
          ? {}
          : { usage: { total_tokens: tokens, prompt_tokens: tokens } }),
        results: resultsOf(order)
      }
    })
  )
})

/** Rankings in the form of Jina's API. */
export const jina: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", () => refuse(401)),
  routes: [{ method: "POST", path: "/v1/rerank", handle: rerank }, modelsAt("/v1", "sim-rank-1")]
}
