import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { anyFields } from "../../../domain/requestFields.ts"
import { RerankBody } from "../../../domain/rerank/RerankRequest.ts"
import { ChatBody, EmbeddingBody } from "../../../domain/text/TextRequest.ts"
import { orderErrors } from "../apiErrors.ts"
import { operation } from "../document.ts"
import { ArrayNumbers, BodyLimit, DecodesBody, RequiredScope } from "../middlewares.ts"
import { idempotencyHeader, streamEvent } from "../shared.ts"

/**
 * The maximum number of input tokens. It is more than any vendor's API of the standard form accepts
 * in one request.
 */
const MAX_INPUT_TOKENS = 350_000

const tokens = (description: string, example: number) =>
  Schema.optionalKey(Schema.Unknown).annotateKey({ description, examples: [example] })

const Usage = Schema.StructWithRest(
  Schema.Struct({
    prompt_tokens: tokens("Input tokens, as the vendor counted them", 12),
    completion_tokens: tokens("Output tokens, as the vendor counted them", 34),
    total_tokens: tokens("Both together", 46)
  }),
  anyFields
).annotate({
  description: "The vendor's count, by which the order is charged where it is plausible"
})

const usage = Schema.optionalKey(Schema.NullOr(Usage))

/** The vendor's answer in the common standard form, unchanged. */
const ChatAnswer = Schema.StructWithRest(
  Schema.Struct({
    choices: Schema.Array(Schema.Unknown).annotate({
      description: "Each with an `index`, a `message` and a `finish_reason`",
      examples: [
        [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }]
      ]
    }),
    usage
  }),
  anyFields
)

/** The vendor's answer in the common standard form, unchanged. */
const EmbeddingAnswer = Schema.StructWithRest(
  Schema.Struct({
    data: Schema.Array(Schema.Unknown).annotate({
      description: "A vector for each input, with its `index`",
      examples: [[{ object: "embedding", index: 0, embedding: [0.1, -0.2] }]]
    }),
    usage
  }),
  anyFields
)

/** The vendor's answer in the form of Jina's and Cohere's APIs, unchanged. */
const RerankAnswer = Schema.StructWithRest(
  Schema.Struct({
    results: Schema.Array(Schema.Unknown).annotate({
      description:
        "The best documents first, each with its `index` in the order and a `relevance_score`",
      examples: [[{ index: 0, relevance_score: 0.92 }]]
    }),
    usage
  }),
  anyFields
)

/** An event of a streamed answer. */
const Event = streamEvent({
  id: "The event's id, where the vendor gives one",
  event: "Its kind, which is `message`",
  data: "A chunk of the answer as JSON, or [DONE]"
})

export class TextsGroup extends HttpApiGroup.make("texts").add(
  HttpApiEndpoint.post("chat", "/chat/completions", {
    headers: idempotencyHeader,
    payload: ChatBody,
    success: [ChatAnswer, HttpApiSchema.StreamSse({ events: Event })],
    error: orderErrors
  })
    .annotate(RequiredScope, "chat")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Have a text written",
        "Asks a model of modality chat or vlm. The body goes to the vendor as JSON of the same values " +
          "with `model` rewritten. Charged are the tokens the vendor counts, input and output apart, also " +
          "above the hold; and by size, a token for 3 bytes, where it counts none that can be right. With " +
          "`stream: true` the answer is server-sent events as the vendor writes them; `data: [DONE]` " +
          'follows when the charge is in the books. A stream that fails ends with a `data: {"error": ...}` ' +
          "event, and is charged by size for what it had delivered."
      )
    ),
  HttpApiEndpoint.post("embed", "/embeddings", {
    headers: idempotencyHeader,
    payload: EmbeddingBody,
    success: EmbeddingAnswer,
    error: orderErrors
  })
    .annotate(RequiredScope, "embeddings")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotate(ArrayNumbers, MAX_INPUT_TOKENS)
    .annotateMerge(
      operation(
        "Turn texts into vectors",
        "Asks a model of modality embedding. The body goes to the vendor as JSON of the same values with " +
          "`model` rewritten. Charged are the input tokens the vendor counts, and by size, a token for 3 " +
          "bytes, where it counts none that can be right."
      )
    ),
  HttpApiEndpoint.post("rerank", "/rerank", {
    headers: idempotencyHeader,
    payload: RerankBody,
    success: RerankAnswer,
    error: orderErrors
  })
    .annotate(RequiredScope, "rerank")
    .annotate(BodyLimit, "media")
    .annotate(DecodesBody, true)
    .annotateMerge(
      operation(
        "Rank documents",
        "Asks a model of modality rerank how well documents answer a query. The body goes to the vendor as " +
          "JSON of the same values with `model` rewritten. Charged are the tokens of query and documents as " +
          "the vendor counts them, and by size where it counts none that can be right; or, where the price " +
          "is by searches, one search for each hundred documents, or as many as the price says."
      )
    )
) {}
