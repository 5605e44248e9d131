/**
 * The responses of vendors that have the Responses API themselves. Such a vendor stores nothing: it
 * gets the whole conversation with each request.
 */
import { Predicate } from "effect"
import type { PlacedItem } from "./chatOfResponses.ts"
import type { ResponsesBody } from "./ResponsesRequest.ts"
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

/**
 * The request for the vendor. Reasoning that its vendor has not encrypted belongs to a response
 * that the vendor does not store, so that it cannot be sent back.
 */
export const ownRequestOf = (
  { previous_response_id: _previous, metadata: _metadata, ...request }: ResponsesBody,
  items: ReadonlyArray<PlacedItem>
): ResponsesBody & Fields => {
  const includes = new Set(request.include ?? [])
  const [first, ...others] = items
    .map(({ item }) => item)
    .filter((item) => item.type !== "reasoning" || Predicate.isString(item.encrypted_content))
  if (Predicate.isObject(request.reasoning)) includes.add(ENCRYPTED)
  return {
    ...request,
    input: first === undefined ? request.input : [first, ...others],
    include: [...includes],
    store: false
  }
}

/** The vendor's response with the id, the model and the request of the gateway's client. */
export const ownResponseOf = (head: ResponseHead, response: Fields): Fields => {
  const { instructions, metadata, model, previous_response_id, store, tools } = repeatOf(head)
  return {
    ...response,
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
export const makeOwnWriter = (head: ResponseHead): ResponseWriter => {
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
      const { type, sequence_number } = piece
      if (typeof type !== "string") return []
      const number = typeof sequence_number === "number" ? sequence_number : sequence
      sequence = number + 1
      if (type === "response.output_item.done") output.push(fieldsIn(piece.item))
      const event: ResponseEvent = { ...piece, type, sequence_number: number }
      if (!Predicate.isObject(piece.response)) return [event]
      const response = ownResponseOf(head, fieldsIn(piece.response))
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
