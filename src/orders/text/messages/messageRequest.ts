/** Requests of messages: a vendor gets a chat, whose answer is written as a message. */
import { Effect } from "effect"
import { chatOfMessages, messagePlaces } from "../../../domain/messages/chatOfMessages.ts"
import type { MessagesBody } from "../../../domain/messages/MessagesRequest.ts"
import {
  type MessageHead,
  type MessageWriter,
  makeMessageWriter,
  messageOfResponse,
  stopSequenceIn
} from "../../../domain/messages/messageWriter.ts"
import { messageIdOf, responseIdOf } from "../../../domain/responses/responseIds.ts"
import type { Fields, ResponseHead } from "../../../domain/responses/responseObject.ts"
import { makeChatWriter, type ResponseWriter } from "../../../domain/responses/responseWriter.ts"
import { placeVendorRefusal } from "../../../domain/text/translatedChat.ts"
import type { TextPiece } from "../../../services/ProtocolAdapter.ts"
import { chatRequest } from "../../OrderResolution.ts"
import { currentSeconds, encodeEvents, parseJson, wholeChat, writeWith } from "../chatPieces.ts"
import type { TranslatedText } from "../textStream.ts"
import { failedWhileWriting, hasFailed } from "../workOrder.ts"

/** The order gets the id of its message, whose stream ends when its charge is decided. */
export const messageRequest = Effect.fnUntraced(function* (body: MessagesBody) {
  const chat = yield* Effect.fromResult(chatOfMessages(body))
  const base = chatRequest(chat, messagePlaces)
  const { thinking = null, stop_sequences } = body
  const isThinking = thinking !== null && thinking.type !== "disabled"
  const createdAtSeconds = yield* currentSeconds
  let orderId = ""
  let stream: { readonly chat: ResponseWriter; readonly message: MessageWriter } | null = null
  let stopSequence: string | null = null
  let lastEvents: Uint8Array | null = null

  const responseHead = (model: string): ResponseHead => ({
    id: responseIdOf(orderId),
    createdAtSeconds,
    model,
    request: { model }
  })

  const headOf = (model: string): MessageHead => ({
    id: messageIdOf(responseIdOf(orderId)),
    model,
    hasThoughts: isThinking && thinking.display !== "omitted",
    stopSequences: stop_sequences ?? [],
    parseJson
  })

  const request: TranslatedText["request"] = {
    ...base,
    requestWork: ({ complete }, account, { upstreamModel, model }) =>
      complete(account, { upstreamModel, body: base.body }).pipe(
        Effect.mapError(placeVendorRefusal(messagePlaces)),
        Effect.filterOrFail(
          (answer) => !hasFailed(answer),
          () => failedWhileWriting
        ),
        Effect.flatMap((answer) =>
          Effect.map(currentSeconds, (now) => {
            const head = headOf(model)
            const writer = makeChatWriter(responseHead(model))
            const wholeAnswer = wholeChat(answer)
            writer.add(wholeAnswer)
            const { response } = writer.complete(now)
            const { raw: _, ...counts } = answer
            const stopText = stopSequenceIn(wholeAnswer, head)
            return { ...counts, result: messageOfResponse(head, response, stopText) }
          })
        )
      ),
    streamText: (adapter, account, { upstreamModel, model }, take) => {
      const head = headOf(model)
      const writers = {
        chat: makeChatWriter(responseHead(model)),
        message: makeMessageWriter(head)
      }
      stream = writers
      const write = writeWith((chunk: Fields) => {
        stopSequence = stopSequenceIn(chunk, head) ?? stopSequence
        return writers.message.add(writers.chat.add(chunk))
      })
      return adapter
        .stream(account, { upstreamModel, body: base.body }, (pieces: ReadonlyArray<TextPiece>) =>
          take(pieces.map(write))
        )
        .pipe(Effect.mapError(placeVendorRefusal(messagePlaces)))
    }
  }

  const complete = Effect.map(currentSeconds, (now) => {
    if (stream === null) return
    const { events } = stream.chat.complete(now)
    lastEvents = encodeEvents(stream.message.end(events, stopSequence))
  })

  const withAnswer: TranslatedText["withAnswer"] = (order) => ({
    ...order,
    around: (steps, id) => {
      orderId = id
      return order.around(steps, id)
    },
    finish: (product, id) => Effect.tap(order.finish(product, id), complete)
  })

  return {
    request,
    withAnswer,
    lastEventsOf: () => lastEvents
  } satisfies TranslatedText
})
