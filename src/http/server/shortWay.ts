/**
 * The short way through the server, for the requests that come most and have nothing unusual about
 * them: one fiber from the socket to the handler and back. All others take the general way, where
 * the same checks are made in the same order and the same handlers answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Cause, Context, Effect, Exit, Layer, Redacted, References, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { Settings } from "../../runtime/Settings.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import type { Caller } from "../../services/Access.ts"
import { VendorTime } from "../../services/ProtocolAdapter.ts"
import { EventAnswer, eventHeaders, eventsUnlessCut } from "../handlers/eventAnswer.ts"
import { type Answer, answerErrors } from "../handlers/respond.ts"
import { Admission } from "./admission.ts"
import { Bodies, readFromSocket, SHORT_BYTES } from "./bodies.ts"
import { idsOf, unforeseen } from "./envelope.ts"
import { leanly } from "./leanServer.ts"
import { Listener } from "./listener.ts"
import { AnswerHeaders, RequestId } from "./requestId.ts"
import { beginRequest } from "./requestMetrics.ts"
import {
  makeShortRoutes,
  type OrderAnswer,
  type ShortOrder,
  type ShortRead
} from "./shortRoutes.ts"

/** What the short way knows of a request before anything of it is checked. */
type Asked = { readonly method: string; readonly url: string; readonly credential: string } & (
  | { readonly _tag: "Order"; readonly route: ShortOrder; readonly bytes: number }
  | { readonly _tag: "Read"; readonly route: ShortRead; readonly id: string }
)

const bearer = /^Bearer ([\x21-\x7e]+)$/
const plainId = /^[\w-]{1,100}$/
const plainLength = /^[1-9]\d{0,4}$/

/** The whole answer at once, or, of a vendor's, as fast as the client takes it. */
const write = (
  response: ServerResponse,
  answer: Answer,
  headers: Readonly<Record<string, string>>
): void => {
  if (!(answer instanceof RawAnswer)) {
    const { body } = answer
    if (body._tag !== "Uint8Array") throw new Error(`no short answer has a body of ${body._tag}`)
    response.writeHead(answer.status, { ...answer.headers, ...headers })
    response.end(body.text ?? body.body)
    return
  }
  const { chunks, bytes, letGo } = answer
  response.once("close", letGo)
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": `${bytes}`,
    ...headers
  })
  let next = 0
  const more = (): void => {
    while (next < chunks.length) {
      if (!response.write(chunks[next++])) return void response.once("drain", more)
    }
    response.end()
  }
  more()
}

/** Waits while the client takes nothing. */
const writeEvents = (response: ServerResponse, events: ReadonlyArray<Uint8Array>) => {
  response.cork()
  const isTaken = events.reduce((_, event) => response.write(event), true)
  response.uncork()
  return isTaken
    ? Effect.void
    : Effect.callback<void>((resume) => {
        const go = () => resume(Effect.void)
        response.once("drain", go)
        return Effect.sync(() => response.off("drain", go))
      })
}

/** Event by event, until all are sent or the client is gone. */
const pour = (
  response: ServerResponse,
  { text }: EventAnswer,
  headers: Readonly<Record<string, string>>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    response.writeHead(200, { ...eventHeaders, ...headers })
    return Stream.runForEachArray(
      eventsUnlessCut(text, () => response.destroy()),
      (events) => writeEvents(response, events)
    )
  }).pipe(
    Effect.andThen(Effect.sync(() => void response.end())),
    Effect.onExit((exit) =>
      Effect.andThen(
        text.leave,
        Effect.sync(() => void (Exit.isFailure(exit) && response.destroy()))
      )
    )
  )

const statusOf = (answer: OrderAnswer): number =>
  answer instanceof RawAnswer || answer instanceof EventAnswer ? 200 : answer.status

/** Says why an answer was not written, where its client has not just left. */
const unlessGone = (cause: Cause.Cause<never>): Effect.Effect<void> =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.logError("an answer could not be written", cause)

/** Nobody is there any more to take the answer. */
const letGo = (answer: OrderAnswer): void => {
  if (answer instanceof RawAnswer) answer.letGo()
  if (answer instanceof EventAnswer) Effect.runFork(answer.text.leave)
}

export const layerShortWay = Layer.effectDiscard(
  Effect.gen(function* () {
    const base = leanly(yield* Effect.context<never>())
    // A trace is to show the server's part as well, which only the general way tells.
    if (Context.get(base, References.TracerEnabled)) return
    const { server } = yield* Listener
    const random = yield* SecureRandom.SecureRandom
    const shutdown = yield* Shutdown
    const admission = yield* Admission
    const bodies = yield* Bodies
    const { maxMediaBodyBytes } = yield* Settings
    const { orders, reads } = yield* makeShortRoutes
    const readPaths = [...reads]
    const longest = Math.min(SHORT_BYTES, maxMediaBodyBytes)

    /** Null for whatever is not of the plainest form, or comes when the connection is to close. */
    const plainly = (request: IncomingMessage): Asked | null => {
      const { method, url, headers } = request
      if (
        url === undefined ||
        request.httpVersion !== "1.1" ||
        (headers.connection ?? "keep-alive").toLowerCase() !== "keep-alive" ||
        headers["transfer-encoding"] !== undefined ||
        shutdown.hasBegun()
      ) {
        return null
      }
      const [, credential] = bearer.exec(headers.authorization ?? "") ?? []
      if (credential === undefined) return null
      if (method === "POST") {
        const route = orders.get(url)
        const length = headers["content-length"] ?? ""
        return route === undefined ||
          headers["content-type"] !== "application/json" ||
          headers["content-encoding"] !== undefined ||
          headers.expect !== undefined ||
          !plainLength.test(length) ||
          Number(length) > longest
          ? null
          : { _tag: "Order", method, url, credential, route, bytes: Number(length) }
      }
      if (method !== "GET" || headers["content-length"] !== undefined || orders.has(url))
        return null
      for (const [path, route] of readPaths) {
        if (url.startsWith(path) && plainId.test(url.slice(path.length))) {
          return { _tag: "Read", method, url, credential, route, id: url.slice(path.length) }
        }
      }
      return null
    }

    /** Whatever is taken for the request is given back when its answer has left, or its client. */
    const makeRoom = (response: ServerResponse) => {
      const givings: Array<() => void> = []
      response.once("close", () => {
        for (const give of givings.splice(0)) give()
      })
      return {
        isOver: () => response.destroyed,
        onClose: (give: () => void) => void givings.push(give)
      }
    }

    const served = Effect.fnUntraced(function* (
      caller: Caller,
      asked: Asked,
      request: IncomingMessage,
      room: ReturnType<typeof makeRoom>
    ) {
      if (room.isOver()) return yield* Effect.interrupt
      const refused = admission.enter(caller, "working")
      if (refused !== null) return yield* refused
      room.onClose(() => admission.leave(caller, "working"))
      if (asked._tag === "Read") return yield* asked.route.answer(caller, asked.id)
      const { organizationId } = caller
      const noRoom = bodies.enter(organizationId, asked.bytes)
      if (noRoom !== null) return yield* noRoom
      room.onClose(() => bodies.leave(organizationId, asked.bytes))
      const bytes = yield* readFromSocket(request)
      const key = request.headers["idempotency-key"]
      return yield* asked.route.answer(
        caller,
        typeof key === "string" ? key : key?.join(", "),
        bytes
      )
    })

    const answered = Effect.fnUntraced(function* (
      asked: Asked,
      request: IncomingMessage,
      room: ReturnType<typeof makeRoom>
    ) {
      const caller = yield* admission.identify(
        Redacted.make(asked.credential),
        asked.route.endpoint,
        request.socket.remoteAddress
      )
      const answering = answerErrors(served(caller, asked, request, room))
      return yield* admission.counted(caller, asked.route.endpoint, answering)
    })

    const annotations = Context.get(base, References.CurrentLogAnnotations)

    const handle = (asked: Asked, request: IncomingMessage, response: ServerResponse): void => {
      const requestId = `req_${Effect.runSyncWith(base)(random.uuidV7())}`
      const ids = idsOf(request)
      const headers: Record<string, string> = {}
      const { method, route } = asked
      const { vendorTime, end } = beginRequest({ route: route.endpoint.path, method }, base)
      const context = base.pipe(
        Context.add(RequestId, requestId),
        Context.add(AnswerHeaders, headers),
        Context.add(VendorTime, vendorTime),
        Context.add(References.CurrentLogAnnotations, { ...annotations, requestId, ...ids })
      )
      const told = answered(asked, request, makeRoom(response)).pipe(
        answerErrors,
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : unforeseen(asked, cause)
        )
      )
      const fiber = Effect.runForkWith(context)(told)
      fiber.addObserver((exit) => {
        end(Exit.isSuccess(exit) ? statusOf(exit.value) : null)
        if (Exit.isFailure(exit) || response.destroyed) {
          if (Exit.isSuccess(exit)) letGo(exit.value)
          // Whoever is still there learns by this that no answer comes.
          response.destroy()
          return
        }
        const answer = exit.value
        const allHeaders = {
          ...headers,
          ...ids,
          "x-request-id": requestId,
          // The client's next request then goes to a gateway that stays.
          ...(shutdown.hasBegun() && request.complete ? { connection: "close" } : {})
        }
        try {
          if (answer instanceof EventAnswer) {
            const pouring = Effect.runForkWith(context)(
              Effect.catchCause(pour(response, answer, allHeaders), unlessGone)
            )
            response.once("close", () => pouring.interruptUnsafe())
          } else write(response, answer, allHeaders)
        } catch (defect) {
          response.destroy()
          Effect.runForkWith(context)(unlessGone(Cause.die(defect)))
        }
      })
      if (fiber.pollUnsafe() === undefined) {
        response.once("close", () => {
          if (!response.writableEnded) fiber.interruptUnsafe()
        })
      }
    }

    server.shortWay = (request, response) => {
      const asked = plainly(request)
      if (asked === null) return false
      handle(asked, request, response)
      return true
    }
  })
)
