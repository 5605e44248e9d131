import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { customerApi } from "../../api/contractOf.ts"
import { CurrentCaller } from "../../api/middlewares.ts"
import { QuoteBody, QuotesGroup } from "../../api/orders/QuotesApi.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { makeQuoteOrder } from "./orderQuotes.ts"

const quoteBody = bodyOf(QuoteBody)

export const layerQuotesHandlers = HttpApiBuilder.group(
  customerApi(QuotesGroup),
  "quotes",
  Effect.fn(function* (handlers) {
    const quoteOrder = yield* makeQuoteOrder
    return handlers.handleRaw(
      "quote",
      Effect.fn("quotes.quote")(function* () {
        const caller = yield* CurrentCaller
        return yield* quoteOrder(caller, yield* quoteBody)
      })
    )
  })
)
