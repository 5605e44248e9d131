/**
 * Every answer that leaves through the edge is counted: whole ones until their request is over, streams
 * by the piece that is on its way. Large ones leave in pieces, as their client takes them, so that it
 * can be seen whether the client takes anything.
 */
import { Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { RateLimited } from "../../domain/Errors.ts"
import { type AnswerCount, CurrentAnswer } from "../../runtime/AnswerBudget.ts"
import { errorResponse } from "./errorResponse.ts"

/** Larger answers leave in pieces of this size. */
const PIECE_BYTES = 64 * 1024

/** Bodies whose pieces are all in memory from the start, and count as nothing else does. */
const bytesInMemory = new WeakMap<HttpBody.HttpBody, number>()

/** Says that all of a streamed body is in memory until it has left. */
export const countInMemory = (
  response: HttpServerResponse.HttpServerResponse,
  bytes: number
): HttpServerResponse.HttpServerResponse => {
  bytesInMemory.set(response.body, bytes)
  return response
}

const answersFull = new RateLimited({
  message:
    "Answers that were not read yet take all the room there is for them; send this one again when they are read",
  retryAfterSeconds: 1
})

/** Counts the answer of the request for its owner, if that has room for another one. */
export const admitAnswer = (owner: string): Effect.Effect<void, RateLimited> =>
  Effect.flatMap(CurrentAnswer, (answer) => {
    answer?.assign(owner)
    return answer === null || answer.hasRoom() ? Effect.void : Effect.fail(answersFull)
  })

const piecesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.byteLength / PIECE_BYTES) }, (_, index) =>
    bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES)
  )

/** Counts a piece from when it is taken until the next one is asked for, or the request is over. */
const countedPieces = <E>(answer: AnswerCount, pieces: Stream.Stream<Uint8Array, E>) => {
  let onItsWay = 0
  return Stream.mapArray(pieces, (taken) => {
    answer.shrink(onItsWay)
    onItsWay = taken.reduce((sum, { byteLength }) => sum + byteLength, 0)
    answer.grow(onItsWay)
    return taken
  })
}

/** The response with its bytes counted for the request it answers. */
export const countedAnswer = (
  answer: AnswerCount,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  switch (body._tag) {
    case "Uint8Array": {
      const bytes = body.contentLength
      if (bytes <= PIECE_BYTES) {
        answer.grow(bytes)
        return response
      }
      // Where a key is asked for, this was seen before anything was done.
      if (!answer.isAssigned() && !answer.hasRoom()) return errorResponse(answersFull)
      answer.grow(bytes)
      const pieces = Stream.rechunk(Stream.fromArray(piecesOf(body.body)), 1)
      return HttpServerResponse.setBody(response, HttpBody.stream(pieces, body.contentType, bytes))
    }
    case "Stream": {
      const whole = bytesInMemory.get(body)
      if (whole !== undefined) {
        answer.grow(whole)
        return response
      }
      return HttpServerResponse.setBody(
        response,
        HttpBody.stream(countedPieces(answer, body.stream), body.contentType, body.contentLength)
      )
    }
    default:
      return response
  }
}
