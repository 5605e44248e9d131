import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Predicate, type Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AcceptedEntry } from "./Book.ts"
import { MediaLinks } from "./Media.ts"
import { echoOf, isOn, readSwitches, refusedStatus, type Switches } from "./switches.ts"
import { type Draft, Tasks } from "./Tasks.ts"
import { type Bench, type Call, type Desk, Refusal } from "./Vendor.ts"

/**
 * Accepts an order that passed the vendor's checks, unless a switch of its account or prompt
 * refuses it. A refused order is not entered into the book. An accepted order is entered first;
 * then `answer` makes the response. With `sim:same-job` the order counts as a repeat of the account's
 * last one of its model, whose job is answered. A JSON response may be cut or extended by switches; an HTTP
 * response, such as a stream, is sent unchanged. Switches may also prevent any response, or replace
 * it by an error although the order is accepted.
 */
export const placeOrder = Effect.fnUntraced(function* (
  desk: Desk,
  call: Call,
  draft: Omit<Draft, "api" | "key">,
  answer: (
    acceptedEntry: AcceptedEntry
  ) => Effect.Effect<Schema.Json | HttpServerResponse.HttpServerResponse, Refusal, Bench>
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Refusal, Bench> {
  const switches = { ...call.switches, ...readSwitches(draft.prompt) }
  yield* refuseInstead(desk, switches)
  if (isOn(switches, "html")) {
    return HttpServerResponse.text("<!doctype html><title>Back soon</title><p>Back soon.</p>", {
      contentType: "text/html; charset=utf-8"
    })
  }
  if (isOn(switches, "redirect")) {
    const { origin } = yield* MediaLinks
    return HttpServerResponse.redirect(`${origin}/${desk.protocol}/moved`, { status: 302 })
  }

  const tasks = yield* Tasks
  const repeated = isOn(switches, "same-job")
    ? yield* tasks.latestOf(desk, call.key, draft.model)
    : undefined
  const acceptedEntry = repeated ?? (yield* tasks.accept({ ...draft, api: desk, key: call.key }))
  const result = yield* answer(acceptedEntry)
  const body =
    Predicate.isObject(result) && !HttpServerResponse.isHttpServerResponse(result)
      ? { ...Object.fromEntries(Object.entries(result)), ...echoOf(switches) }
      : result
  if (isOn(switches, "lost")) {
    yield* hangUp
    return yield* Effect.never
  }
  if (isOn(switches, "hang")) return yield* Effect.never
  if (isOn(switches, "late500")) return yield* desk.refuse(500)
  if (HttpServerResponse.isHttpServerResponse(body)) return body
  if (isOn(switches, "cut")) return yield* cutAnswer(JSON.stringify(body))
  if (isOn(switches, "truncated")) {
    const text = JSON.stringify(body)
    return HttpServerResponse.text(text.slice(0, Math.floor(text.length / 2)), {
      contentType: "application/json"
    })
  }
  return HttpServerResponse.jsonUnsafe(body)
})

/** A response whose connection is closed after the headers and half of the body have arrived. */
const cutAnswer = Effect.fnUntraced(function* (text: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const half = new TextEncoder().encode(text.slice(0, Math.floor(text.length / 2)))
  const end = Effect.sleep("50 millis").pipe(Effect.andThen(hangUp), Effect.andThen(Effect.never))
  return HttpServerResponse.stream(
    Stream.concat(Stream.succeed(half), Stream.fromEffect(end)).pipe(
      Stream.provideService(HttpServerRequest.HttpServerRequest, request)
    ),
    { contentType: "application/json" }
  )
})

/** How the connection of a request is closed: its socket, unless the vendors have none. */
export const Connections = Context.Reference<{
  readonly close: (request: HttpServerRequest.HttpServerRequest) => void
}>("gateway/simulator/Connections", {
  defaultValue: () => ({
    close: (request) => {
      NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
    }
  })
})

/** Closes the connection of the request. */
export const hangUp = Effect.gen(function* () {
  const { close } = yield* Connections
  close(yield* HttpServerRequest.HttpServerRequest)
})

const refuseInstead = (desk: Desk, switches: Switches): Effect.Effect<void, Refusal> => {
  const status = refusedStatus(switches)
  if (status !== undefined) return Effect.fail(desk.refuse(status))
  if (isOn(switches, "moderate-input")) return Effect.fail(desk.moderatedInput())
  if (isOn(switches, "http500")) return Effect.fail(desk.refuse(500))
  if (isOn(switches, "rate")) {
    const { status, body } = desk.refuse(429)
    return Effect.fail(new Refusal({ status, body, headers: { "retry-after": "1" } }))
  }
  return Effect.void
}
