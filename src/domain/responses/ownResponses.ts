/**
 * The responses of vendors that have the Responses API themselves. Such a vendor stores nothing: it
 * gets the whole conversation with each request.
 */
import { Predicate } from "effect"
import type { PlacedItem } from "./chatOfResponses.ts"
import type { Item, ResponsesBody } from "./ResponsesRequest.ts"
import {
  type Fields,
  fieldsIn,
  listIn,
  type ResponseHead,
  repeatOf,
  responseObject
} from "./responseObject.ts"
import type { ResponseEnd, ResponseEvent, ResponseWriter } from "./responseWriter.ts"

const ENCRYPTED = "reasoning.encrypted_content"

/** The account of a vendor that encrypts reasoning. No other account can read it, or should get it. */
export interface ReasoningMaker {
  /** The reasoning as clients and the store keep it, with its maker. */
  readonly wrap: (reasoning: string) => string
  /** The reasoning in a text from `wrap`; null if the text is not known to be of this maker. */
  readonly unwrap: (text: string) => string | null
}

/** The item as the maker gets it; none for reasoning that the maker has not encrypted. */
const itemFor =
  ({ unwrap }: ReasoningMaker) =>
  ({ item }: PlacedItem): ReadonlyArray<Item> => {
    if (item.type !== "reasoning") return [item]
    const { encrypted_content: text } = item
    const reasoning = Predicate.isString(text) ? unwrap(text) : null
    return reasoning === null ? [] : [{ ...item, encrypted_content: reasoning }]
  }

/**
 * The request for the vendor. Reasoning that the vendor has not encrypted belongs to another vendor,
 * or to a response that the vendor does not store, so that it cannot be sent back.
 */
export const ownRequestOf = (
  { previous_response_id: _previous, metadata: _metadata, ...request }: ResponsesBody,
  items: ReadonlyArray<PlacedItem>,
  maker: ReasoningMaker
): ResponsesBody & Fields => {
  const includes = new Set(request.include ?? [])
  const [first, ...others] = items.flatMap(itemFor(maker))
  if (Predicate.isObject(request.reasoning)) includes.add(ENCRYPTED)
  return {
    ...request,
    // A conversation of reasoning alone is refused before, so there is always an item.
    input: first === undefined ? "" : [first, ...others],
    include: [...includes],
    store: false
  }
}

const wrapItem = (item: Fields, { wrap }: ReasoningMaker): Fields =>
  Predicate.isString(item.encrypted_content)
    ? { ...item, encrypted_content: wrap(item.encrypted_content) }
    : item

/** The vendor's response with the id, the model and the request of the gateway's client. */
export const ownResponseOf = (
  head: ResponseHead,
  response: Fields,
  maker: ReasoningMaker
): Fields => {
  const { instructions, metadata, model, previous_response_id, store, tools } = repeatOf(head)
  return {
    ...response,
    ...(Array.isArray(response.output)
      ? { output: listIn(response.output).map((item) => wrapItem(item, maker)) }
      : {}),
    id: head.id,
    created_at: head.createdAtSeconds,
    instructions,
    metadata,
    model,
    previous_response_id,
    store,
    tools
  }
}

const lastTypes: ReadonlySet<unknown> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed"
])

/** The writer for a vendor of responses. The event that ends a response waits for its charge. */
export const makeOwnWriter = (head: ResponseHead, maker: ReasoningMaker): ResponseWriter => {
  const output: Array<Fields> = []
  let sequence = 0
  let last: ResponseEnd | null = null

  const fail: ResponseWriter["fail"] = (error) => {
    const state = { status: "failed", output, usage: null, error } as const
    const response = responseObject(head, state)
    const event = { type: "response.failed", sequence_number: sequence, response }
    return { events: [event], response }
  }

  return {
    add: (piece) => {
      const { type, sequence_number, item } = piece
      if (typeof type !== "string") return []
      const number = typeof sequence_number === "number" ? sequence_number : sequence
      sequence = number + 1
      const wrapped = Predicate.isObject(item) ? { item: wrapItem(fieldsIn(item), maker) } : {}
      if (type === "response.output_item.done") output.push(fieldsIn(wrapped.item))
      const event: ResponseEvent = { ...piece, ...wrapped, type, sequence_number: number }
      if (!Predicate.isObject(piece.response)) return [event]
      const response = ownResponseOf(head, fieldsIn(piece.response), maker)
      const ownEvent = { ...event, response }
      if (!lastTypes.has(type)) return [ownEvent]
      last = { events: [ownEvent], response }
      return []
    },
    complete: () =>
      last ?? fail({ code: "server_error", message: "The vendor's response has no end" }),
    fail
  }
}

/** The items of a vendor's response. */
export const outputOf = (response: Fields): ReadonlyArray<Fields> => listIn(response.output)
