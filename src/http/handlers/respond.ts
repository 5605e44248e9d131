/** Responses that handlers of several groups share. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { UpstreamError } from "../../domain/Errors.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import type { OrderResult } from "../../orders/idempotency.ts"
import type { StreamedAnswer } from "../../orders/streamedAnswer.ts"
import type { StreamedWork } from "../../orders/text/streamedWork.ts"
import { onScopeEnd } from "../../runtime/onScopeEnd.ts"
import { type Page, type PageRequest, presentPage } from "../../runtime/Page.ts"
import type { Caller } from "../../services/Access.ts"
import type { AnswerBody } from "../../services/IdempotencyKeys.ts"
import { CurrentCaller } from "../api/middlewares.ts"
import { countInMemory } from "../server/countedAnswers.ts"
import { withHeaders } from "../server/envelope.ts"
import { errorBody } from "../server/errorResponse.ts"

/**
 * The maximum size of an answer that is sent in one piece; larger answers are streamed at the pace
 * of their client.
 */
const MAX_AT_ONCE_BYTES = 64 * 1024

/**
 * Sends a small answer in one piece. A large answer is sent chunk by chunk, so that its chunks need
 * not be copied into one.
 */
const rawResponse = (answer: RawAnswer) => {
  const { text, bytes, contentType, isCounted, release } = answer
  if (text !== null) return HttpServerResponse.text(text, { contentType })
  const { chunks } = answer
  const [first] = chunks
  if (chunks.length === 1 && first !== undefined && bytes <= MAX_AT_ONCE_BYTES) {
    return HttpServerResponse.uint8Array(first, { contentType })
  }
  const response = HttpServerResponse.stream(
    Stream.fromArray(chunks).pipe(Stream.rechunk(1), Stream.ensuring(Effect.sync(release))),
    { contentType, contentLength: bytes }
  )
  return isCounted ? response : countInMemory(response, bytes)
}

/** The response of an order. A vendor's body is sent unchanged. */
export const responseOf = (answer: AnswerBody): HttpServerResponse.HttpServerResponse =>
  answer instanceof RawAnswer ? rawResponse(answer) : HttpServerResponse.jsonUnsafe(answer)

/**
 * Responds with server-sent events. The `x-accel-buffering` header keeps proxies such as nginx from
 * buffering them.
 */
export const eventResponse = (events: Stream.Stream<Uint8Array>) =>
  HttpServerResponse.stream(events, {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })

/** The last event of a stream: `lastEvent`, or the error that cut the stream short. */
export const endWith =
  (lastEvent: Uint8Array | null) =>
  (error: UpstreamError | null): Uint8Array | null =>
    error === null ? lastEvent : dataEvent(JSON.stringify(errorBody(error)))

/**
 * Streams the events as they arrive, followed by the last one. The order waits for its client
 * meanwhile, so the socket of a client that reads nothing for too long is destroyed.
 */
export const streamResponse = Effect.fnUntraced(function* (
  answer: StreamedAnswer,
  lastEventOf: (error: UpstreamError | null) => Uint8Array | null
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* onScopeEnd(() => answer.disconnect)
  answer.onCut(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy())
  return eventResponse(answer.events(lastEventOf))
})

/**
 * Streams a sound as it arrives. If it is cut short, the connection is closed before the end of the
 * body, as nothing else tells a client of bytes that the sound is not complete.
 */
export const soundResponse = Effect.fnUntraced(function* ({ answer, contentType }: StreamedWork) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
  const cutOff = () => socket.destroy()
  yield* onScopeEnd(() => answer.disconnect)
  answer.onCut(cutOff)
  return HttpServerResponse.stream(answer.bytes(cutOff), {
    contentType,
    headers: { "cache-control": "no-store" }
  })
})

const utf8 = new TextEncoder()
export const dataEvent = (data: string): Uint8Array => utf8.encode(`data: ${data}\n\n`)

/** Places an order with the request's idempotency key, and marks a replayed answer by a header. */
export const placeOrder = Effect.fnUntraced(function* <Body, A, E, R>(
  { headers }: { readonly headers: { readonly "idempotency-key"?: string } },
  body: Body,
  order: (caller: Caller, body: Body, key?: string) => Effect.Effect<OrderResult<A>, E, R>
) {
  const { answer, isReplay } = yield* order(yield* CurrentCaller, body, headers["idempotency-key"])
  if (isReplay) yield* withHeaders({ "idempotency-replayed": "true" })
  return yield* Effect.fromResult(answer)
})

/** The page that a list's query requests. */
export const pageOf = (query: {
  readonly after?: string
  readonly limit: number
}): PageRequest => ({ after: null, ...query })

export const listView = <A, B>(page: Page<A>, view: (entry: A) => B) => {
  const { data, hasMore } = presentPage(page, view)
  return { object: "list" as const, data, has_more: hasMore }
}

/**
 * A page of a list with the cursor of the next page, which may lie after entries that are not
 * shown.
 */
export const listViewWithNext = <A, B extends { readonly id: string }>(
  page: Page<A> & { readonly next: string | null },
  view: (entry: A) => B
) => {
  const list = listView(page, view)
  const isCut = list.data.length < page.data.length
  return { ...list, next: isCut ? (list.data.at(-1)?.id ?? null) : page.next }
}
