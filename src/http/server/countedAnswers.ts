/**
 * Counts the bytes of every answer against the memory budget. A complete body counts until its
 * request has ended; of a stream, only the chunk in flight counts. A large body is sent in chunks
 * as its client reads them, so that a client that reads nothing is detected.
 */
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { RateLimited } from "../../domain/Errors.ts"
import { type AnswerCount, CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { errorResponse } from "./errorResponse.ts"

/** The chunk size of answers; larger answers are sent in several chunks. */
const CHUNK_BYTES = 64 * 1024

/** The sizes of streamed bodies that are completely in memory from the start. */
const bytesInMemory = new WeakMap<HttpBody.HttpBody, number>()

/** Counts the whole size of a streamed body, which is in memory until it has been sent. */
export const countInMemory = (
  response: HttpServerResponse.HttpServerResponse,
  bytes: number
): HttpServerResponse.HttpServerResponse => {
  bytesInMemory.set(response.body, bytes)
  return response
}

const budgetExhausted = new RateLimited({
  message:
    "Answers that were not read yet take all the room there is for them; send this one again when they are read",
  retryAfterSeconds: 1
})

/**
 * Assigns the answer of the request to its owner, or refuses the request when the owner has no room
 * in the budget.
 */
export const admitAnswer = (owner: string): Effect.Effect<void, RateLimited> =>
  Effect.flatMap(CurrentAnswer, (answer) => {
    answer?.assign(owner)
    return answer === null || answer.hasRoom() ? Effect.void : Effect.fail(budgetExhausted)
  })

const chunksOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.byteLength / CHUNK_BYTES) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES)
  )

/** Counts each chunk from its production until the next chunk is pulled or the request ends. */
const countedChunks = <E>(answer: AnswerCount, stream: Stream.Stream<Uint8Array, E>) => {
  let inFlightBytes = 0
  return Stream.mapArray(stream, (chunks) => {
    answer.shrink(inFlightBytes)
    inFlightBytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
    answer.grow(inFlightBytes)
    return chunks
  })
}

/**
 * Counts the bytes of the response for its request. A large body is converted to a stream of
 * chunks.
 */
export const countedAnswer = (
  answer: AnswerCount,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  switch (body._tag) {
    case "Uint8Array": {
      const bytes = body.contentLength
      if (bytes <= CHUNK_BYTES) {
        answer.grow(bytes)
        return response
      }
      // For requests with a key, `admitAnswer` has already checked the budget, before any work was
      // done.
      if (!answer.isAssigned() && !answer.hasRoom()) return errorResponse(budgetExhausted)
      answer.grow(bytes)
      const chunks = Stream.rechunk(Stream.fromArray(chunksOf(body.body)), 1)
      return HttpServerResponse.setBody(response, HttpBody.stream(chunks, body.contentType, bytes))
    }
    case "Stream": {
      const totalBytes = bytesInMemory.get(body)
      if (totalBytes !== undefined) {
        answer.grow(totalBytes)
        return response
      }
      return HttpServerResponse.setBody(
        response,
        HttpBody.stream(countedChunks(answer, body.stream), body.contentType, body.contentLength)
      )
    }
    default:
      return response
  }
}
