import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/ImageRequest.ts"
import { ChatBody, EmbeddingBody } from "../../domain/TextRequest.ts"
import { VideoBody } from "../../domain/VideoRequest.ts"
import type { Caller } from "../../services/Access.ts"
import { type QuotedModality, Quotes } from "../../services/Quotes.ts"
import { Settings } from "../../services/Settings.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { invalidRequestOf } from "../requestRules.ts"
import { quoteView } from "./quoteView.ts"
import { answerErrors } from "./respond.ts"

/** Decodes as the ordering route does, with the same error. */
const decodeAs = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  return (body: unknown) => Effect.mapError(decode(body), ({ issue }) => invalidRequestOf(issue))
}
const asVideo = decodeAs(VideoBody)
const asImages = decodeAs(ImageBody)
const asChat = decodeAs(ChatBody)
const asEmbeddings = decodeAs(EmbeddingBody)

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

    return handlers.handleAll({
      quote: Effect.fn("quotes.quote")(function* ({ payload }) {
        const caller = yield* CurrentCaller
        const modality = yield* quotes.modality(caller, payload.model)
        const quoted = yield* ask(caller, modality, payload)
        return quoteView({ model: payload.model, modality, currency }, quoted)
      }, answerErrors)
    })
  })
)
