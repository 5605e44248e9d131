import { Effect, type Schema, type SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../../domain/image/ImageRequest.ts"
import { MessagesBody } from "../../../domain/messages/MessagesRequest.ts"
import { isWorkQuote } from "../../../domain/money/workQuotes.ts"
import { RerankBody } from "../../../domain/rerank/RerankRequest.ts"
import { ResponsesBody } from "../../../domain/responses/ResponsesRequest.ts"
import { SpeechBody } from "../../../domain/speech/SpeechRequest.ts"
import { ChatBody, EmbeddingBody } from "../../../domain/text/TextRequest.ts"
import {
  TranscriptionBody,
  TranscriptionLength
} from "../../../domain/transcription/TranscriptionRequest.ts"
import { VideoBody } from "../../../domain/video/VideoBody.ts"
import { kindOf } from "../../../domain/video/VideoQuote.ts"
import { type Quoted, type QuoteRefusal, Quotes } from "../../../orders/QuoteAnswers.ts"
import { UsualTimes } from "../../../polling/CompletionTimes.ts"
import { Settings } from "../../../runtime/Settings.ts"
import type { Caller } from "../../../services/Access.ts"
import { customerApi } from "../../api/contractOf.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { QuoteBody, QuotesGroup } from "../../api/orders/QuotesApi.ts"
import { strictParsing } from "../../api/shared.ts"
import { bodyOf, decodeBody } from "../../server/requestRules.ts"
import { quoteView } from "../views.ts"

const quoteBody = bodyOf(QuoteBody)

/**
 * Whether the body is one of `/v1/messages`, which clients of that API send with its version. Its
 * own fields tell it without the header.
 */
const isMessage = (body: object, headers: { readonly [name: string]: string | undefined }) =>
  headers["anthropic-version"] !== undefined || "system" in body || "stop_sequences" in body

/** Decodes a body as the ordering route does, and quotes it. */
const decodeAndQuote = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  quote: (caller: Caller, body: S["Type"]) => Effect.Effect<Quoted, QuoteRefusal>,
  options: SchemaAST.ParseOptions = {}
) => {
  const decode = decodeBody(schema, options)
  return (caller: Caller, body: unknown) =>
    Effect.flatMap(decode(body), (order) => quote(caller, order))
}

export const layerQuotesHandlers = HttpApiBuilder.group(
  customerApi(QuotesGroup),
  "quotes",
  Effect.fn(function* (handlers) {
    const quotes = yield* Quotes
    const usualTimes = yield* UsualTimes
    const { currency } = yield* Settings

    /** The usual time of a video; null for other modalities, whose times are not recorded. */
    const usualSecondsOf = ({ modelId, quote }: Quoted) =>
      quote.kind === "image" || quote.kind === "image_tokens" || isWorkQuote(quote)
        ? null
        : usualTimes.usualSeconds(kindOf(modelId, quote))

    const quoteByLength = decodeAndQuote(TranscriptionLength, quotes.transcriptionOf)
    const quoteByFile = decodeAndQuote(TranscriptionBody, quotes.transcription)
    const quoteChat = decodeAndQuote(ChatBody, quotes.chat)
    const quoteResponse = decodeAndQuote(ResponsesBody, quotes.response)
    const quoteMessage = decodeAndQuote(MessagesBody, quotes.message, strictParsing)
    const quoteText = (caller: Caller, body: object) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        if ("input" in body && !("messages" in body)) return yield* quoteResponse(caller, body)
        return isMessage(body, headers)
          ? yield* quoteMessage(caller, body)
          : yield* quoteChat(caller, body)
      })
    const quoteBy = {
      video: decodeAndQuote(VideoBody, quotes.video),
      image: decodeAndQuote(ImageBody, quotes.images),
      chat: quoteText,
      vlm: quoteText,
      embedding: decodeAndQuote(EmbeddingBody, quotes.embeddings),
      rerank: decodeAndQuote(RerankBody, quotes.rerank),
      tts: decodeAndQuote(SpeechBody, quotes.speech),
      asr: (caller: Caller, body: object) =>
        "seconds" in body ? quoteByLength(caller, body) : quoteByFile(caller, body)
    }

    return handlers.handleRaw(
      "quote",
      Effect.fn("quotes.quote")(function* () {
        const caller = yield* CurrentCaller
        const payload = yield* quoteBody
        const modality = yield* quotes.modality(caller, payload.model)
        const result = yield* quoteBy[modality](caller, payload)
        const usualSeconds = usualSecondsOf(result)
        return quoteView({ model: result.modelId, modality, currency }, result, usualSeconds)
      })
    )
  })
)
