import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { AnswerBody, Recalled } from "../../services/Repeats.ts"
import { Texts, type WrittenText } from "../../services/Texts.ts"
import { GatewayApi } from "../api/Api.ts"
import { CurrentCaller } from "../api/Authorization.ts"
import { errorBody } from "../errorResponse.ts"
import { makeOnce, otherKind } from "./once.ts"
import { answerErrors, answerOf, responseOf } from "./respond.ts"

const utf8 = new TextEncoder()
const event = (data: string): Uint8Array => utf8.encode(`data: ${data}\n\n`)

/** Proxies that hold answers back would hold every event back. */
const streamHeaders = { "cache-control": "no-store", "x-accel-buffering": "no" }

/**
 * Every event as soon as it is there. The last one tells that the charge is in the books, or what
 * became of the rest.
 */
const eventStream = Effect.fnUntraced(function* (text: WrittenText) {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* Effect.addFinalizer(() => text.leave)
  // The server is waiting for the client to take what was sent, so only the socket can be told.
  const cutOff = Effect.andThen(
    text.isCut,
    Effect.sync(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy())
  )
  const events = text.events.pipe(
    Stream.concat(Stream.succeed(event("[DONE]"))),
    Stream.catch((error) => Stream.succeed(event(JSON.stringify(errorBody(error)))))
  )
  return HttpServerResponse.stream(Stream.unwrap(Effect.as(Effect.forkScoped(cutOff), events)), {
    contentType: "text/event-stream",
    headers: streamHeaders
  })
})

const whole = (result: AnswerBody) => responseOf(answerOf(result))

const replay = (recalled: Recalled) =>
  recalled._tag === "Text" ? Effect.succeed(whole(recalled.result)) : otherKind(recalled)

export const layerTextsHandlers = HttpApiBuilder.group(
  GatewayApi,
  "texts",
  Effect.fn(function* (handlers) {
    const texts = yield* Texts
    const once = yield* makeOnce
    return handlers.handleAll({
      chat: Effect.fnUntraced(function* ({ headers, payload }) {
        const caller = yield* CurrentCaller
        return yield* once(
          {
            organizationId: caller.organizationId,
            key: headers["idempotency-key"],
            path: "/v1/chat/completions",
            body: payload
          },
          {
            order: (key) =>
              payload.stream === true
                ? Effect.flatMap(texts.write(caller, payload, key), eventStream)
                : Effect.map(texts.complete(caller, payload, key), whole),
            replay
          }
        )
      }, answerErrors),
      embed: Effect.fnUntraced(function* ({ headers, payload }) {
        const caller = yield* CurrentCaller
        return yield* once(
          {
            organizationId: caller.organizationId,
            key: headers["idempotency-key"],
            path: "/v1/embeddings",
            body: payload
          },
          {
            order: (key) => Effect.map(texts.embed(caller, payload, key), whole),
            replay
          }
        )
      }, answerErrors)
    })
  })
)
