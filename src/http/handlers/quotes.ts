import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ImageBody } from "../../domain/ImageRequest.ts"
import { VideoBody } from "../../domain/VideoRequest.ts"
import { Quotes } from "../../services/Quotes.ts"
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

export const layerQuotesHandlers = HttpApiBuilder.group(
  GatewayApi,
  "quotes",
  Effect.fn(function* (handlers) {
    const quotes = yield* Quotes
    const { currency } = yield* Settings
    return handlers.handleAll({
      quote: Effect.fn("quotes.quote")(function* ({ payload }) {
        const caller = yield* CurrentCaller
        const modality = yield* quotes.modality(caller, payload.model)
        const quoted = yield* modality === "video"
          ? Effect.flatMap(asVideo(payload), (body) => quotes.video(caller, body))
          : Effect.flatMap(asImages(payload), (body) => quotes.images(caller, body))
        return quoteView(payload.model, currency, quoted)
      }, answerErrors)
    })
  })
)
