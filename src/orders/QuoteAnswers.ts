/**
 * Quotes an order: its hold, its charge, and whether the available money is enough at this moment.
 * A quote moves no money.
 */
import { Context, Effect, Layer, Struct } from "effect"
import type { Model } from "../domain/catalog/CatalogDocument.ts"
import { modalities } from "../domain/catalog/Modality.ts"
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
import type { MessagesBody } from "../domain/messages/MessagesRequest.ts"
import type { Quote } from "../domain/money/Quote.ts"
import type { RerankBody } from "../domain/rerank/RerankRequest.ts"
import type { ResponsesBody } from "../domain/responses/ResponsesRequest.ts"
import type { SpeechBody } from "../domain/speech/SpeechRequest.ts"
import type { ChatBody, EmbeddingBody } from "../domain/text/TextRequest.ts"
import type {
  TranscriptionBody,
  TranscriptionLength
} from "../domain/transcription/TranscriptionRequest.ts"
import { lengthsOf } from "../domain/transcription/transcriptionEstimate.ts"
import type { VideoBody } from "../domain/video/VideoBody.ts"
import { failAsOverloaded } from "../runtime/databaseErrors.ts"
import { type Caller, lacksScope, type Scope } from "../services/Access.ts"
import { Catalog } from "../services/Catalog.ts"
import { ChannelQueue } from "../services/channels/ChannelQueue.ts"
import { allowsHold, availableOf, Ledger } from "../services/Ledger.ts"
import { type Budget, Budgets } from "../services/money/Budgets.ts"
import { makeModelCheck, type OrderRefusal, type UsableMount } from "./OrderChecks.ts"
import {
  chatRequest,
  embeddingRequest,
  makeOrderResolution,
  rerankRequest
} from "./OrderResolution.ts"
import {
  makeTranscriptionRequests,
  speechRequest,
  transcriptionWork
} from "./text/audioRequests.ts"
import { messageRequest } from "./text/messages/messageRequest.ts"
import { makeResponseRequests } from "./text/responses/responseRequest.ts"

/**
 * Whether the available money is enough at this moment. Another order may take the money a moment
 * later.
 */
interface Affordable {
  readonly pool: boolean
  readonly poolAvailableNano: bigint
  readonly cap: boolean
  /** The amount that is left under the member's cap; null when the member has no cap. */
  readonly capAvailableNano: bigint | null
  /** Whether the tightest of the other budgets has enough money for the order. */
  readonly budget: boolean
  /** The amount that is available in the tightest other budget; null when there is none. */
  readonly budgetAvailableNano: bigint | null
}

/** The amount that is available in the tightest of the budgets; null where there are no budgets. */
const leastAvailable = (budgets: ReadonlyArray<Budget>): bigint | null =>
  budgets
    .map(({ amountNano, heldNano, capturedNano }) => amountNano - heldNano - capturedNano)
    .reduce<bigint | null>(
      (least, available) => (least === null || available < least ? available : least),
      null
    )

export interface Quoted {
  /** The id of the model, also where the order names an alias. */
  readonly modelId: string
  readonly quote: Quote
  readonly affordable: Affordable
  /** The place in the queue that the order would have now; null where it would not wait. */
  readonly queue: { readonly position: number; readonly maxTasks: number } | null
}

/** A quote is refused with the errors of its order, except for those about missing money. */
export type QuoteRefusal =
  | Exclude<OrderRefusal, InsufficientBalance | MemberCapExceeded | BudgetExceeded>
  | VideoSkuInvalid
  | VideoUnsupportedProtocol
  | ImageUnsupportedProtocol

/** The modalities that have quotes, each with the scope that orders of this modality require. */
const scopes = {
  video: "videos",
  image: "images",
  chat: "chat",
  vlm: "chat",
  embedding: "embeddings",
  rerank: "rerank",
  tts: "audio",
  asr: "audio"
} as const satisfies Record<string, Scope>
export type QuotedModality = keyof typeof scopes

export class Quotes extends Context.Service<
  Quotes,
  {
    /**
     * The model's modality, which decides the route of its orders. The key needs the scope of that
     * route. A model of a modality without quotes is refused with the same error as on its route.
     */
    modality(caller: Caller, modelName: string): Effect.Effect<QuotedModality, QuoteRefusal>
    video(caller: Caller, body: VideoBody): Effect.Effect<Quoted, QuoteRefusal>
    images(caller: Caller, body: ImageBody): Effect.Effect<Quoted, QuoteRefusal>
    chat(caller: Caller, body: ChatBody): Effect.Effect<Quoted, QuoteRefusal>
    response(caller: Caller, body: ResponsesBody): Effect.Effect<Quoted, QuoteRefusal>
    message(caller: Caller, body: MessagesBody): Effect.Effect<Quoted, QuoteRefusal>
    embeddings(caller: Caller, body: EmbeddingBody): Effect.Effect<Quoted, QuoteRefusal>
    rerank(caller: Caller, body: RerankBody): Effect.Effect<Quoted, QuoteRefusal>
    speech(caller: Caller, body: SpeechBody): Effect.Effect<Quoted, QuoteRefusal>
    transcription(caller: Caller, body: TranscriptionBody): Effect.Effect<Quoted, QuoteRefusal>
    /** Quotes a transcription of a sound of this length. */
    transcriptionOf(caller: Caller, body: TranscriptionLength): Effect.Effect<Quoted, QuoteRefusal>
  }
>()("gateway/orders/Quotes") {}

/** An order with its price, and the mounts that can make it. */
interface ResolvedOrder {
  readonly quote: Quote
  readonly model: Model
  readonly mounts: ReadonlyArray<Pick<UsableMount, "job" | "maxTasks">>
}

const MILLIS = 1000

const quotedModalities: ReadonlyArray<QuotedModality> = Struct.keys(scopes)

const isQuoted = (modality: string | undefined): modality is QuotedModality =>
  modality !== undefined && Object.hasOwn(scopes, modality)

export const layerQuotes = Layer.effect(
  Quotes,
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const checkModel = yield* makeModelCheck
    const ledger = yield* Ledger
    const budgets = yield* Budgets
    const queue = yield* ChannelQueue
    const resolve = yield* makeOrderResolution
    const transcriptionRequest = yield* makeTranscriptionRequests
    const responseRequest = yield* makeResponseRequests

    const modality: Quotes["Service"]["modality"] = Effect.fn("Quotes.modality")(
      function* (caller, modelName) {
        const { modelsByName } = yield* failAsOverloaded(catalog.snapshot)
        const modality = modelsByName.get(modelName)?.modality
        if (!isQuoted(modality)) {
          const offered = quotedModalities.filter((modality) => caller.scopes.has(scopes[modality]))
          const { model } = yield* checkModel(caller, modelName, offered)
          return yield* new ModalityMismatch({
            message: `Models of modality ${model.modality} have no quotes`,
            param: "model"
          })
        }
        // A model that is not open is refused before its body is decoded, as on its route.
        if (modalities[modality].status === "by_mount") {
          yield* checkModel(caller, modelName, [modality])
        }
        const scope = scopes[modality]
        return caller.scopes.has(scope) ? modality : yield* lacksScope(caller, [scope])
      }
    )

    /** The queue at the first mount, where the channels of all mounts are full. */
    const queuePlaceOf = Effect.fnUntraced(function* (
      { organizationId }: Caller,
      { modality }: Model,
      mounts: ResolvedOrder["mounts"]
    ) {
      let first: Quoted["queue"] = null
      for (const { job, maxTasks } of modality === "video" ? mounts : []) {
        const position =
          maxTasks === null
            ? null
            : yield* failAsOverloaded(queue.positionOfNew(job.channelId, organizationId, maxTasks))
        if (maxTasks === null || position === null) return null
        first ??= { position, maxTasks }
      }
      return first
    })

    const quoteWithMoney = Effect.fn("Quotes.quote")(function* <E>(
      caller: Caller,
      resolved: Effect.Effect<ResolvedOrder, E>
    ) {
      const { quote, model, mounts } = yield* resolved
      const [pool, applying] = yield* failAsOverloaded(
        // A key's organisation exists as long as the key, so "not found" is a defect here.
        Effect.orDie(
          Effect.all([ledger.pool(caller.organizationId), budgets.listApplicable(caller)])
        )
      )
      const capAvailableNano = leastAvailable(applying.filter(({ isCap }) => isCap))
      const budgetAvailableNano = leastAvailable(applying.filter(({ isCap }) => !isCap))
      const isWithin = (available: bigint | null) =>
        available === null || quote.holdNano <= available
      return {
        modelId: model.id,
        quote,
        queue: yield* queuePlaceOf(caller, model, mounts),
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
      video: (caller, body) => quoteWithMoney(caller, resolve.video(caller, body)),
      images: (caller, body) =>
        quoteWithMoney(caller, resolve.images(caller, { body, edit: null })),
      chat: (caller, body) => quoteWithMoney(caller, resolve.work(caller, chatRequest(body))),
      response: (caller, body) =>
        quoteWithMoney(
          caller,
          Effect.flatMap(responseRequest(caller, body), ({ request }) =>
            resolve.work(caller, request)
          ).pipe(Effect.scoped)
        ),
      message: (caller, body) =>
        quoteWithMoney(
          caller,
          Effect.flatMap(messageRequest(body), ({ request }) => resolve.work(caller, request))
        ),
      embeddings: (caller, body) =>
        quoteWithMoney(caller, resolve.work(caller, embeddingRequest(body))),
      rerank: (caller, body) => quoteWithMoney(caller, resolve.work(caller, rerankRequest(body))),
      speech: (caller, body) => quoteWithMoney(caller, resolve.work(caller, speechRequest(body))),
      transcription: (caller, body) =>
        quoteWithMoney(
          caller,
          Effect.flatMap(transcriptionRequest(caller, body, false), (request) =>
            resolve.work(caller, request)
          )
        ),
      transcriptionOf: (caller, { seconds, ...body }) =>
        quoteWithMoney(
          caller,
          resolve.work(
            caller,
            transcriptionWork(body, lengthsOf(Math.ceil(seconds * MILLIS)), false)
          )
        )
    })
  })
)
