import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/image/ImageRequest.ts"
import { ChatBody, EmbeddingBody } from "../../domain/text/TextRequest.ts"
import { VideoBody } from "../../domain/video/VideoBody.ts"
import { type QuotedModality, Quotes } from "../../orders/QuoteAnswers.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { QuoteBody } from "../api/QuotesApi.ts"
import { bodyOf, decodeBody } from "../server/requestRules.ts"
import { quoteView } from "./views.ts"

const asQuote = bodyOf(QuoteBody)
const asVideo = decodeBody(VideoBody)
const asImages = decodeBody(ImageBody)
const asChat = decodeBody(ChatBody)
const asEmbeddings = decodeBody(EmbeddingBody)

export const layerQuotesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "quotes",
  Effect.fn(function* (handlers) {
    const quotes = yield* Quotes
    const { currency } = yield* Settings

    const ask = (caller: Caller, modality: QuotedModality, body: unknown) => {
      switch (modality) {
        case "video":
          return Effect.flatMap(asVideo(body), (order) => quotes.video(caller, order))
        case "image":
          return Effect.flatMap(asImages(body), (order) => quotes.images(caller, order))
        case "chat":
        case "vlm":
          return Effect.flatMap(asChat(body), (order) => quotes.chat(caller, order))
        case "embedding":
          return Effect.flatMap(asEmbeddings(body), (order) => quotes.embeddings(caller, order))
      }
    }

    return handlers.handleRaw(
      "quote",
      Effect.fn("quotes.quote")(function* () {
        const caller = yield* CurrentCaller
        const payload = yield* asQuote
        const modality = yield* quotes.modality(caller, payload.model)
        const quoted = yield* ask(caller, modality, payload)
        return quoteView({ model: payload.model, modality, currency }, quoted)
      })
    )
  })
)
