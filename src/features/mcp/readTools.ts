/** The tools that read: models, quotes, orders and money. `cancel_order` is beside `get_order`. */
import { Effect, Schema, Struct } from "effect"
import { InvalidRequest, ModalityMismatch, TaskNotFound } from "../../domain/Errors.ts"
import { formatNano, MAX_AMOUNT_NANO, parseNano } from "../../domain/money/Money.ts"
import { taskNamed } from "../../domain/orderIds.ts"
import { anyFields, optional } from "../../domain/requestFields.ts"
import { publicStates } from "../../domain/taskStates.ts"
import { BalanceView } from "../../http/api/balance.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { ModelEntry } from "../../http/api/models.ts"
import { quoteFields } from "../../http/api/orders/QuotesApi.ts"
import { OwnOrderView } from "../../http/api/orderViews.ts"
import {
  arrayOf,
  decimal,
  flag,
  MAX_WAIT_SECONDS,
  oneOf,
  text,
  textOrNull,
  time
} from "../../http/api/shared.ts"
import { makeReadBalance } from "../../http/handlers/balance.ts"
import { makeModelEntries } from "../../http/handlers/modelEntries.ts"
import { makeQuoteOrder } from "../../http/handlers/orders/orderQuotes.ts"
import { makeOwnOrderView, orderStates } from "../../http/handlers/orderViews.ts"
import { KeyRates } from "../../http/server/access/keyRates.ts"
import { ReadLanes } from "../../http/server/access/readLanes.ts"
import { decodeBody } from "../../http/server/requestRules.ts"
import { presentPage } from "../../runtime/Page.ts"
import { Settings } from "../../runtime/Settings.ts"
import { lacksScope, type Scope } from "../../services/Access.ts"
import { makeModelFilter } from "../../services/Catalog.ts"
import { anyOrder, OrderLists } from "../../services/OrderLists.ts"
import { OrderQuotes } from "./OrderQuotes.ts"
import { OrderAnswer, type OrderAnswers, scopesOfKind } from "./orderAnswers.ts"
import { embedField, makeOrderTerms, orderFieldsOf } from "./orderTerms.ts"
import { answerWith, readOnlyHints, type Tool } from "./toolAnswers.ts"
import { inputSchemaOf, outputSchemaOf } from "./toolSchemas.ts"

const orderScopes: ReadonlyArray<Scope> = Object.values(scopesOfKind)

/** Decodes the arguments of a tool. An argument that it does not have may be a mistyped one. */
const decodeArguments = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  decodeBody(schema, { onExcessProperty: "error", errors: "all" })

// list_models

const ModelsArguments = Schema.Struct({
  modality: optional(Schema.String, "a modality such as video").annotate({
    description: "Only models of this modality: video, image or tts (speech), among others"
  }),
  search: optional(Schema.String, "a text").annotate({
    description: "Only models whose id, alias or maker contains this, in capital or small letters"
  })
})

const MODELS = "The models that this key may order, with limits and prices"

const Models = Schema.Struct({ models: arrayOf(ModelEntry, MODELS) })

const longFields = ["prices", "parameters", "takes", "limits"] as const

/**
 * What agents learn of the answer in advance: the parts that depend on a model's kind are described
 * in the API reference.
 */
const ModelsOutline = Schema.Struct({
  models: arrayOf(
    Schema.StructWithRest(Schema.Struct(Struct.omit(ModelEntry.fields, longFields)), anyFields),
    `${MODELS}, each with ${longFields.join(", ")} as in GET /v1/models`
  )
})

const makeListModels = Effect.gen(function* () {
  const entries = yield* makeModelEntries
  const rates = yield* KeyRates
  const decode = decodeArguments(ModelsArguments)
  const answer = answerWith(Models)

  const tool: Tool = {
    name: "list_models",
    title: "List models",
    description: "Lists the models that can be ordered, with their limits and prices.",
    annotations: { ...readOnlyHints, idempotentHint: true },
    scopes: ["models"],
    inputSchema: inputSchemaOf(ModelsArguments),
    outputSchema: outputSchemaOf(ModelsOutline),
    run: Effect.fn("mcp.listModels")(function* (args) {
      const caller = yield* CurrentCaller
      yield* rates.within(["models"], caller)
      const { modality, search } = yield* decode(args)
      const models = yield* entries.list(caller, modality ?? undefined)
      const part = search?.toLowerCase() ?? ""
      const matches = models.filter(({ id, aliases = [], owned_by: owner }) =>
        [id, owner, ...aliases].some((name) => name.toLowerCase().includes(part))
      )
      return yield* answer({ models: matches })
    })
  }
  return tool
})

// get_quote

const QuoteArguments = Schema.StructWithRest(
  Schema.Struct({
    model: Schema.NonEmptyString.annotate({ description: "The model to order" })
  }),
  anyFields
).annotate({ description: "The arguments of the order tool of the model, as it would be called" })

const Quote = Schema.Struct({
  quote_id: text("Orders exactly this, once, at no more than `max_cost`"),
  expires_at: time("When the quote expires"),
  max_cost: decimal("The least `max_cost` that the order needs", "0.2"),
  tool: oneOf(
    ["order_video", "order_images", "order_speech"],
    "The tool that orders it",
    "order_images"
  ),
  quote: Schema.StructWithRest(
    Schema.Struct({
      ...quoteFields,
      kind: text("How the order is billed", "image"),
      unit: text("The unit of billing", "image")
    }),
    anyFields
  ).annotate({ description: "The quote, with the fields of its kind as in POST /v1/quotes" })
})

const toolOfModality: Readonly<Record<string, (typeof Quote.Type)["tool"]>> = {
  video: "order_video",
  image: "order_images",
  tts: "order_speech"
}

const makeGetQuote = Effect.gen(function* () {
  const quoteOrder = yield* makeQuoteOrder
  const quotes = yield* OrderQuotes
  const rates = yield* KeyRates
  const { digestOf } = yield* makeOrderTerms
  const decode = decodeBody(QuoteArguments)
  const answer = answerWith(Quote)

  const tool: Tool = {
    name: "get_quote",
    title: "Quote an order",
    description:
      "Says what an order would cost at most, and whether the money is enough now, with the arguments of its tool. Moves no money. The quote_id orders exactly this once.",
    annotations: readOnlyHints,
    scopes: orderScopes,
    inputSchema: inputSchemaOf(QuoteArguments),
    outputSchema: outputSchemaOf(Quote),
    run: Effect.fn("mcp.getQuote")(function* (args) {
      const caller = yield* CurrentCaller
      yield* rates.within(["quotes"], caller)
      const { model } = yield* decode(args)
      const fields = orderFieldsOf(args)
      const limitedCaller = { ...caller, orderLimitNano: MAX_AMOUNT_NANO }
      const quote = yield* quoteOrder(limitedCaller, { ...fields, model })
      const tool = toolOfModality[quote.modality]
      if (tool === undefined) {
        return yield* new ModalityMismatch({
          message: `Models of modality ${quote.modality} are ordered over HTTP alone; the tools order videos, images and speech`,
          param: "model"
        })
      }
      const holdNano = yield* Effect.orDie(Effect.fromResult(parseNano(quote.hold)))
      const digest = yield* digestOf(tool, fields)
      const signedQuote = yield* quotes.sign({ caller, digest }, holdNano)
      return yield* answer({
        quote_id: signedQuote.id,
        expires_at: signedQuote.expiresAt.toISOString(),
        max_cost: formatNano(holdNano),
        tool,
        quote
      })
    })
  }
  return tool
})

// get_order and cancel_order

const orderId = Schema.String.annotate({ description: "The order's id, such as vt_... or im_..." })

const OrderArguments = Schema.Struct({
  id: orderId,
  wait: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_WAIT_SECONDS })),
    `a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`
  ).annotate({ description: "Seconds to wait for the end of the order; 0 when left out" }),
  embed: embedField
})

const CancelArguments = Schema.Struct({ id: orderId })

/** The kind of an order that the key may read. */
const kindOf = Effect.fnUntraced(function* (id: string) {
  const caller = yield* CurrentCaller
  const name = taskNamed(id)
  if (name === null) {
    return yield* new TaskNotFound({
      message: `No order is called ${JSON.stringify(id)}`,
      param: "id"
    })
  }
  const scope = scopesOfKind[name.kind]
  return caller.scopes.has(scope) ? name.kind : yield* lacksScope(caller, [scope])
})

const makeFollowTools = (answers: OrderAnswers) => {
  const decode = decodeArguments(OrderArguments)
  const decodeCancel = decodeArguments(CancelArguments)
  const outputSchema = outputSchemaOf(OrderAnswer)

  const getOrder: Tool = {
    name: "get_order",
    title: "Read an order",
    description:
      "Reads how an order stands, with links to its files when it has succeeded. Waits for its end up to `wait` seconds.",
    annotations: { ...readOnlyHints, idempotentHint: true },
    scopes: orderScopes,
    inputSchema: inputSchemaOf(OrderArguments),
    outputSchema,
    run: Effect.fn("mcp.getOrder")(function* (args) {
      const { id, wait, embed } = yield* decode(args)
      const kind = yield* kindOf(id)
      const task = yield* answers.read(kind, id, wait ?? 0)
      return yield* answers.answer(kind, task, { embed: embed ?? false })
    })
  }

  const cancelOrder: Tool = {
    name: "cancel_order",
    title: "Cancel an order",
    description:
      "Asks the vendor to cancel a video or images. A cancelled order costs nothing; one that goes on has `cancellation`, and one that has ended stays as it is.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: true
    },
    scopes: ["videos", "images"],
    inputSchema: inputSchemaOf(CancelArguments),
    outputSchema,
    run: Effect.fn("mcp.cancelOrder")(function* (args) {
      const { id } = yield* decodeCancel(args)
      const kind = yield* kindOf(id)
      if (kind === "speech") {
        return yield* new InvalidRequest({
          message: "id: Expected a video or images, as no vendor cancels speech",
          param: "id"
        })
      }
      return yield* answers.answer(kind, yield* answers.cancel(kind, id), {})
    })
  }
  return [getOrder, cancelOrder]
}

// list_orders

const USUAL_ORDERS = 20
const MAX_ORDERS = 100

const OrdersArguments = Schema.Struct({
  limit: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_ORDERS })),
    `a whole number from 1 to ${MAX_ORDERS}`
  ).annotate({ description: `Orders at most; ${USUAL_ORDERS} when left out` }),
  state: optional(Schema.Literals(publicStates), publicStates.join(", ")).annotate({
    description: "Only orders in this state"
  }),
  model: optional(Schema.String, "the id of a model").annotate({
    description: "Only orders of this model"
  }),
  after: optional(Schema.String, "the id of an order").annotate({
    description: "Only orders before this one: `next` of the earlier answer"
  })
})

const OrderList = Schema.Struct({
  orders: arrayOf(OwnOrderView, "The member's own orders, newest first"),
  has_more: flag("Whether there are further orders"),
  next: textOrNull("The `after` of the next page; null on the last one")
})

const makeListOrders = Effect.gen(function* () {
  const lists = yield* OrderLists
  const lanes = yield* ReadLanes
  const modelFilter = yield* makeModelFilter
  const { currency } = yield* Settings
  const view = makeOwnOrderView(currency)
  const decode = decodeArguments(OrdersArguments)
  const answer = answerWith(OrderList)

  const tool: Tool = {
    name: "list_orders",
    title: "List orders",
    description: "Lists the member's own orders of every kind, newest first, with their charges.",
    annotations: readOnlyHints,
    scopes: ["usage"],
    inputSchema: inputSchemaOf(OrdersArguments),
    outputSchema: outputSchemaOf(OrderList),
    run: Effect.fn("mcp.listOrders")(function* (args) {
      const { organizationId, memberId } = yield* CurrentCaller
      const { limit, state, model, after } = yield* decode(args)
      const filter = {
        ...anyOrder,
        organizationId,
        memberId,
        model: yield* modelFilter(model ?? undefined),
        state: state == null ? null : orderStates[state]
      }
      const page = yield* lanes.inLane(
        "list",
        organizationId,
        lists.list(filter, { after: after ?? null, limit: limit ?? USUAL_ORDERS })
      )
      const { data, hasMore } = presentPage(page, view)
      const isCut = data.length < page.data.length
      return yield* answer({
        orders: data,
        has_more: hasMore,
        next: isCut ? (data.at(-1)?.id ?? null) : page.next
      })
    })
  }
  return tool
})

// get_balance

const NoArguments = Schema.Struct({})

const makeGetBalance = Effect.gen(function* () {
  const readBalance = yield* makeReadBalance
  const lanes = yield* ReadLanes
  const decode = decodeArguments(NoArguments)
  const answer = answerWith(BalanceView)

  const tool: Tool = {
    name: "get_balance",
    title: "Read the balance",
    description:
      "Reads the money of the organisation's pool, the member's month, and the budgets of this key.",
    annotations: readOnlyHints,
    scopes: ["usage"],
    inputSchema: inputSchemaOf(NoArguments),
    outputSchema: outputSchemaOf(BalanceView),
    run: Effect.fn("mcp.getBalance")(function* (args) {
      const caller = yield* CurrentCaller
      yield* decode(args)
      const balance = lanes.inLane("look-up", caller.organizationId, readBalance(caller))
      return yield* answer(yield* balance)
    })
  }
  return tool
})

export const makeReadTools = Effect.fnUntraced(function* (answers: OrderAnswers) {
  return [
    yield* makeListModels,
    yield* makeGetQuote,
    ...makeFollowTools(answers),
    yield* makeListOrders,
    yield* makeGetBalance
  ]
})
