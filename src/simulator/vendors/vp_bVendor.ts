import { Effect, Schema } from "effect"
import type { Headers } from "effect/http"
import type { AcceptedEntry, EndedEntry } from "../Book.ts"
import { randomText, requestId } from "../digest.ts"
import { MediaLinks } from "../Media.ts"
import { placeOrder } from "../placeOrder.ts"
import { Tasks } from "../Tasks.ts"
import { type Call, type Desk, decodeBody, keyOf, type Refusal, type Vendor } from "../Vendor.ts"
import {
  badKey,
  draftOf,
  invalidParameter,
  lifecycle,
  missingParameter,
  ofFault,
  orderFault,
  orderFields,
  pollAnswer,
  refusal,
  refuseWith,
  sensitiveInput
} from "./contentTasks.ts"

const Submit = Schema.Struct({
  ...orderFields,
  resolution: Schema.optionalKey(Schema.Unknown)
})

const applicationHeader = "X-Application-Id"

/** The application id that is refused for every key. */
const foreignApplication = "bad-app"

const decodeSubmit = decodeBody(Submit, { unknownFields: "ignored", refuse: ofFault })

const checkApplication = (headers: Headers.Headers): Effect.Effect<void, Refusal> => {
  const id = headers[applicationHeader.toLowerCase()]?.trim() ?? ""
  if (id === "") return Effect.fail(missingParameter(applicationHeader))
  return id === foreignApplication
    ? Effect.fail(
        refusal(
          403,
          "ApplicationMismatch",
          "The application does not belong to the API key.",
          "Forbidden"
        )
      )
    : Effect.void
}

const renderResult = Effect.fnUntraced(function* (_: AcceptedEntry, endedEntry: EndedEntry) {
  const links = yield* MediaLinks
  return { content: { video_url: links.video(endedEntry) }, duration: endedEntry.produced.seconds }
})

const newId = (): string => `vbt-${randomText("0123456789abcdef", 12)}`

const desk: Desk = {
  protocol: "vp_b",
  refuse: refuseWith("RateLimitExceeded", "ServerOverloaded"),
  moderatedInput: sensitiveInput
}

const submit = Effect.fnUntraced(function* (call: Call) {
  yield* checkApplication(call.headers)
  const order = yield* decodeSubmit(call.body)
  if (order.resolution !== undefined) {
    return yield* invalidParameter("resolution", "is not part of the interface.")
  }
  const fault = orderFault(order)
  if (fault !== undefined) return yield* fault
  return yield* placeOrder(
    desk,
    call,
    { ...draftOf(order, null), echo: {}, newId },
    ({ upstream_id }) =>
      Effect.succeed({ task_id: upstream_id, status: "queued", request_id: requestId() })
  )
})

const poll = Effect.fnUntraced(function* (call: Call) {
  yield* checkApplication(call.headers)
  const tasks = yield* Tasks
  const pollResult = yield* tasks.poll(desk, call.params.id ?? "", lifecycle)
  return yield* pollAnswer(desk, pollResult, { idField: "task_id", renderResult })
})

/**
 * The newer content block family: it requires an application id in addition to the key, and its
 * orders have no resolution.
 */
export const vp_b: Vendor = {
  ...desk,
  authenticate: (headers) => keyOf(headers, "Bearer", badKey),
  routes: [
    { method: "POST", path: "/v2/video/tasks", handle: submit },
    { method: "GET", path: "/v2/video/tasks/:id", handle: poll }
  ]
}
