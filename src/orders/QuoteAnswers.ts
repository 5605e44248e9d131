/** What an order would hold and charge, and whether there is money for it now. Nothing is taken. */
import { Context, Effect, Layer, Struct } from "effect"
import {
  type BudgetExceeded,
  type ImageUnsupportedProtocol,
  type InsufficientBalance,
  type MemberCapExceeded,
  ModalityMismatch,
  type VideoSkuInvalid,
  type VideoUnsupportedProtocol
} from "../domain/Errors.ts"
import type { ImageBody } from "../domain/image/ImageRequest.ts"
import type { Quote } from "../domain/money/Quote.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type { VideoBody } from "../domain/video/VideoBody.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import { type Caller, lacksScope, type Scope } from "../services/Access.ts"
import { Catalog } from "../services/Catalog.ts"
import { allowsHold, availableOf, Ledger } from "../services/Ledger.ts"
import { type Budget, Budgets } from "../services/money/Budgets.ts"
import { makeModelCheck, type OrderRefusal } from "./OrderChecks.ts"
import { chatRequest, embeddingRequest, makeOrderResolution } from "./OrderResolution.ts"

/** What is left to spend at this moment; another order may take it the next. */
interface Affordable {
  readonly pool: boolean
  readonly poolAvailableNano: bigint
  readonly cap: boolean
  /** Null: the member has no cap. */
  readonly capAvailableNano: bigint | null
  /** By the tightest of the other budgets; null where there is none. */
  readonly budget: boolean
  readonly budgetAvailableNano: bigint | null
}

/** The least that these leave; null where there are none. */
const leastLeft = (budgets: ReadonlyArray<Budget>): bigint | null =>
  budgets
    .map(({ amountNano, heldNano, capturedNano }) => amountNano - heldNano - capturedNano)
    .reduce<bigint | null>((least, left) => (least === null || left < least ? left : least), null)

export interface Quoted {
  readonly quote: Quote
  readonly affordable: Affordable
}

/** Quotes are refused as the orders they are about, but for want of money. */
export type QuoteRefusal =
  | Exclude<OrderRefusal, InsufficientBalance | MemberCapExceeded | BudgetExceeded>
  | VideoSkuInvalid
  | VideoUnsupportedProtocol
  | ImageUnsupportedProtocol

/** The modalities that have quotes, and the scope of the route that takes their orders. */
const scopes = {
  video: "videos",
  image: "images",
  chat: "chat",
  vlm: "chat",
  embedding: "embeddings"
} as const satisfies Record<string, Scope>
export type QuotedModality = keyof typeof scopes

export class Quotes extends Context.Service<
  Quotes,
  {
    /**
     * Whose order a body with this model is. The key needs the scope of the route that would take
     * the order; a model of any other modality is refused as on that route.
     */
    modality(caller: Caller, modelId: string): Effect.Effect<QuotedModality, QuoteRefusal>
    video(caller: Caller, body: VideoBody): Effect.Effect<Quoted, QuoteRefusal>
    images(caller: Caller, body: ImageBody): Effect.Effect<Quoted, QuoteRefusal>
    chat(caller: Caller, body: ChatBody): Effect.Effect<Quoted, QuoteRefusal>
    embeddings(caller: Caller, body: EmbeddingBody): Effect.Effect<Quoted, QuoteRefusal>
  }
>()("gateway/orders/Quotes") {}

const quotable: ReadonlyArray<QuotedModality> = Struct.keys(scopes)

const isQuoted = (modality: string | undefined): modality is QuotedModality =>
  modality !== undefined && Object.hasOwn(scopes, modality)

export const layerQuotes = Layer.effect(
  Quotes,
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const checkModel = yield* makeModelCheck
    const ledger = yield* Ledger
    const budgets = yield* Budgets
    const resolve = yield* makeOrderResolution

    const modality: Quotes["Service"]["modality"] = Effect.fn("Quotes.modality")(
      function* (caller, modelId) {
        const modality = (yield* failAsOverloaded(catalog.snapshot)).models.get(modelId)?.modality
        if (!isQuoted(modality)) {
          const offered = quotable.filter((modality) => caller.scopes.has(scopes[modality]))
          const { model } = yield* checkModel(caller, modelId, offered)
          return yield* new ModalityMismatch({
            message: `Models of modality ${model.modality} have no quotes`,
            param: "model"
          })
        }
        const scope = scopes[modality]
        return caller.scopes.has(scope) ? modality : yield* lacksScope(caller, [scope])
      }
    )

    const withMoney = Effect.fn("Quotes.quote")(function* <E>(
      caller: Caller,
      resolved: Effect.Effect<{ readonly quote: Quote }, E>
    ) {
      const { quote } = yield* resolved
      const [pool, applying] = yield* failAsOverloaded(
        // The organisation of a key is there for as long as it is.
        Effect.orDie(
          Effect.all([ledger.pool(caller.organizationId), budgets.listApplicable(caller)])
        )
      )
      const capAvailableNano = leastLeft(applying.filter(({ isCap }) => isCap))
      const budgetAvailableNano = leastLeft(applying.filter(({ isCap }) => !isCap))
      const isWithin = (left: bigint | null) => left === null || quote.holdNano <= left
      return {
        quote,
        affordable: {
          pool: allowsHold(pool, quote.holdNano),
          poolAvailableNano: availableOf(pool),
          cap: isWithin(capAvailableNano),
          capAvailableNano,
          budget: isWithin(budgetAvailableNano),
          budgetAvailableNano
        }
      }
    })

    return Quotes.of({
      modality,
      video: (caller, body) => withMoney(caller, resolve.video(caller, body)),
      images: (caller, body) => withMoney(caller, resolve.images(caller, { body, edit: null })),
      chat: (caller, body) => withMoney(caller, resolve.text(caller, chatRequest(body))),
      embeddings: (caller, body) => withMoney(caller, resolve.text(caller, embeddingRequest(body)))
    })
  })
)
