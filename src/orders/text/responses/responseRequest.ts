/**
 * Requests of responses. A vendor with a Responses API of its own gets the request as it is; any
 * other vendor gets it as a chat, whose answer is written as a response.
 */
import { Cause, Effect, Exit, Result } from "effect"
import { encodeAnswer, JSON_TYPE } from "../../../domain/RawAnswer.ts"
import { invalidFields } from "../../../domain/requestFields.ts"
import { chatOfResponses, responsePlaces } from "../../../domain/responses/chatOfResponses.ts"
import {
  makeOwnWriter,
  outputOf,
  ownRequestOf,
  ownResponseOf,
  type ReasoningMaker
} from "../../../domain/responses/ownResponses.ts"
import type { ResponsesBody } from "../../../domain/responses/ResponsesRequest.ts"
import { eventsOfResponse } from "../../../domain/responses/responseEvents.ts"
import { responseIdOf } from "../../../domain/responses/responseIds.ts"
import type { Fields, ResponseHead } from "../../../domain/responses/responseObject.ts"
import { makeChatWriter, type ResponseWriter } from "../../../domain/responses/responseWriter.ts"
import { placeVendorRefusal } from "../../../domain/text/translatedChat.ts"
import { Failpoints } from "../../../runtime/Failpoints.ts"
import { Settings } from "../../../runtime/Settings.ts"
import type { Caller } from "../../../services/Access.ts"
import type { TextAnswer, TextPiece } from "../../../services/ProtocolAdapter.ts"
import { ReasoningMakers } from "../../../services/results/ReasoningMakers.ts"
import { StoredResponses } from "../../../services/results/StoredResponses.ts"
import type { OrderBody } from "../../idempotency.ts"
import { makeModelCheck } from "../../OrderChecks.ts"
import { chatRequest, textModalities, type WorkNames } from "../../OrderResolution.ts"
import { StreamedAnswer, StreamedResponse } from "../../streamedAnswer.ts"
import { currentSeconds, encodeEvents, wholeChat, writeWith } from "../chatPieces.ts"
import type { TranslatedText } from "../textStream.ts"
import { failedWhileWriting, hasFailed } from "../workOrder.ts"
import { Conversations } from "./conversations.ts"

const itemIdsOf = (items: ReadonlyArray<object>): ReadonlyArray<string> =>
  items.flatMap((item) => ("id" in item && typeof item.id === "string" ? [item.id] : []))

const HOUR_SECONDS = 3600

/** The order gets the response with its id, which is stored where its client wants that. */
export const makeResponseRequests = Effect.gen(function* () {
  const conversations = yield* Conversations
  const checkModel = yield* makeModelCheck
  const responseStore = yield* StoredResponses
  const reasoningMakers = yield* ReasoningMakers
  const failpoints = yield* Failpoints
  const { responseHours } = yield* Settings

  return Effect.fnUntraced(function* (caller: Caller, body: ResponsesBody) {
    const { organizationId } = caller
    // A request that is refused for its model reads no conversation.
    yield* checkModel(caller, body.model, textModalities)
    const conversation = yield* conversations.read(organizationId, body)
    const chat = yield* Effect.fromResult(chatOfResponses(body, conversation.items))
    const base = chatRequest(chat.body, responsePlaces)
    const pricedRequest = chatRequest(chat.pricedBody, responsePlaces)
    const createdAtSeconds = yield* currentSeconds
    let orderId = ""
    let response: Fields | null = null
    let writer: ResponseWriter | null = null
    let lastEvents: Uint8Array | null = null

    const headOf = (model: string): ResponseHead => ({
      id: responseIdOf(orderId),
      createdAtSeconds,
      model,
      request: body
    })

    /** `maker` is null for the answer of a vendor of chats. */
    const presentAnswer = (
      { model }: WorkNames,
      answer: TextAnswer,
      maker: ReasoningMaker | null
    ) =>
      Effect.map(currentSeconds, (now): TextAnswer => {
        const head = headOf(model)
        if (maker !== null) {
          response = ownResponseOf(head, wholeChat(answer), maker)
        } else {
          const whole = makeChatWriter(head)
          whole.add(wholeChat(answer))
          response = whole.complete(now).response
        }
        const { raw: _, ...counts } = answer
        return { ...counts, result: response }
      })

    const request: TranslatedText["request"] = {
      ...base,
      expectedBy: pricedRequest.expectedBy,
      checkLimits: pricedRequest.checkLimits,
      serviceOf: (_, { text }, protocol) => {
        const adapter = text.get(protocol)
        if (adapter === undefined) return undefined
        const isServed = adapter.responses !== undefined || chat.faults.length === 0
        const contentType = isServed
          ? Result.succeed(JSON_TYPE)
          : Result.fail(invalidFields(chat.faults))
        return { adapter, contentType: () => contentType }
      },
      requestWork: ({ complete, responses }, account, names) => {
        const { upstreamModel } = names
        const maker = reasoningMakers.of(organizationId, account)
        return responses === undefined
          ? complete(account, { upstreamModel, body: base.body }).pipe(
              Effect.mapError(placeVendorRefusal(responsePlaces)),
              Effect.filterOrFail(
                (answer) => !hasFailed(answer),
                () => failedWhileWriting
              ),
              Effect.flatMap((answer) => presentAnswer(names, answer, null))
            )
          : responses
              .complete(account, {
                upstreamModel,
                body: ownRequestOf(body, conversation.items, maker)
              })
              .pipe(Effect.flatMap((answer) => presentAnswer(names, answer, maker)))
      },
      streamText: ({ stream, responses }, account, { upstreamModel, model }, take) => {
        const head = headOf(model)
        const maker = reasoningMakers.of(organizationId, account)
        writer = responses === undefined ? makeChatWriter(head) : makeOwnWriter(head, maker)
        const write = writeWith(writer.add)
        const takeWritten = (pieces: ReadonlyArray<TextPiece>) => take(pieces.map(write))
        return responses === undefined
          ? Effect.mapError(
              stream(account, { upstreamModel, body: base.body }, takeWritten),
              placeVendorRefusal(responsePlaces)
            )
          : responses.stream(
              account,
              { upstreamModel, body: ownRequestOf(body, conversation.items, maker) },
              takeWritten
            )
      }
    }

    const store = (content: Fields) =>
      responseStore
        .add({
          organizationId,
          orderId,
          id: responseIdOf(orderId),
          previousId: body.previous_response_id ?? null,
          response: content,
          input: conversation.input,
          itemIds: itemIdsOf([...conversation.input, ...outputOf(content)]),
          lifetimeSeconds: responseHours * HOUR_SECONDS
        })
        .pipe(
          Effect.catchCause((cause) =>
            Effect.logError("responses: storing a response failed", cause).pipe(
              Effect.annotateLogs({ order_id: orderId })
            )
          ),
          Effect.andThen(failpoints.pass("response.stored"))
        )

    /** Ends the response, and stores it. It is found only when its order is charged. */
    const complete = Effect.gen(function* () {
      if (writer !== null) {
        const end = writer.complete(yield* currentSeconds)
        lastEvents = encodeEvents(end.events)
        response = end.response
      }
      if (response !== null && (body.store ?? true)) yield* store(response)
    })

    const withAnswer: TranslatedText["withAnswer"] = (order) => ({
      ...order,
      around: (steps, id) => {
        orderId = id
        return order.around(steps, id)
      },
      finish: (product, id) =>
        Effect.tap(order.finish(product, id), (finish) =>
          finish._tag === "Charge" && Exit.isSuccess(finish.answer) ? complete : Effect.void
        )
    })

    return {
      request,
      withAnswer,
      lastEventsOf: (error) =>
        error === null || writer === null
          ? lastEvents
          : encodeEvents(writer.fail({ code: error._tag, message: error.message }).events)
    } satisfies TranslatedText
  })
})

/** Makes the function that answers a repeated request from the stored response. */
export const makeStoredAnswer = Effect.map(
  Conversations,
  (conversations) => (organizationId: string, orderId: string, body: OrderBody) =>
    Effect.map(conversations.find(organizationId, responseIdOf(orderId)), (match) => {
      if (match === null) return null
      const { response } = match
      if (body.stream !== true) return encodeAnswer(response)
      const events = encodeEvents(eventsOfResponse(response))
      const answer = new StreamedAnswer({
        take: Cause.done(),
        disconnect: Effect.void,
        onCut: () => undefined
      })
      return new StreamedResponse(answer, () => events)
    })
)
