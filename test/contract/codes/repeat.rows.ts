/** Requests under an Idempotency-Key that stands for another one, or for one that cannot be repeated. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import { bodyAs } from "../../support/operator.ts"
import {
  type Asked,
  as,
  asRich,
  chat,
  image,
  row,
  type Said,
  succeeding,
  video,
  withHeaders
} from "./Row.ts"
import { Surface } from "./Surface.ts"
import { keepOpen, waiting } from "./waiting.ts"

const Accepted = Schema.Struct({ id: Schema.String })

const keyed = (asked: Asked, key: string) => withHeaders(asked, { "idempotency-key": key })

/** Both under one key, of a customer whose money is known. */
const first = (before: Asked, then: Asked) =>
  Effect.gen(function* () {
    const { customer } = yield* Surface
    const who = yield* customer("100")
    const key = randomUUID()
    yield* succeeding(as(who, keyed(before, key)))
    return as(who, keyed(then, key))
  })

const mismatch: Said = {
  message: "This Idempotency-Key was used for another request; take a fresh one",
  param: "idempotency-key"
}

const stream = chat({ stream: true })

export const repeatRows = [
  row("idempotency_mismatch", "another body", first(video(), video({ duration: 6 })), mismatch),
  row("idempotency_mismatch", "another endpoint", first(image(), video()), mismatch),
  row(
    "idempotency_mismatch",
    "a deposit's reference with another amount",
    Effect.gen(function* () {
      const { adminToken, rich } = yield* Surface
      const path = `/admin/v1/organizations/${rich.organizationId}/deposits`
      const deposit = (amount: string): Asked => ({
        path,
        key: adminToken,
        json: { amount, reference: `another amount ${path}` }
      })
      yield* succeeding(deposit("1"))
      return deposit("2")
    }),
    {
      message: "This reference was deposited before with another amount",
      param: "reference"
    }
  ),
  row(
    "idempotency_conflict",
    "the first is still running",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      const order = as(who, keyed(image({ model: "paint-told" }), randomUUID()))
      yield* keepOpen([order])
      return order
    }),
    {
      message:
        "The first request with this Idempotency-Key is still running; repeat it in a moment for its answer",
      param: "idempotency-key",
      ...waiting(1)
    }
  ),
  row("idempotency_conflict", "the answer was a stream, which is not kept", first(stream, stream), {
    message:
      "The answer to the request of this Idempotency-Key was made and charged, and is not kept; take a fresh key to make another",
    param: "idempotency-key",
    more: { retry_after: null },
    headers: { "x-should-retry": "false" }
  }),
  row(
    "task_processing",
    "a task is deleted that has not ended",
    Effect.gen(function* () {
      const { customer } = yield* Surface
      const who = yield* customer("100")
      const made = yield* succeeding(as(who, video({ prompt: "x sim:slow=99" })))
      const { id } = yield* bodyAs(Accepted, made)
      return as(who, { path: `/v1/videos/${id}`, method: "DELETE" })
    }),
    ({ wait, path }) => ({
      message: `The task is still processing: delete it when it has ended, or cancel it with POST ${path}/cancel`,
      ...waiting(wait)
    })
  ),
  row(
    "price_list_in_use",
    "a price list is removed that an organisation is on",
    Effect.gen(function* () {
      const { admin, adminToken, customer } = yield* Surface
      const { organizationId } = yield* customer("1")
      const json = { name: randomUUID(), factor: "1" }
      const { id } = yield* bodyAs(Accepted, yield* admin("/price-lists", { json }))
      yield* admin(`/organizations/${organizationId}`, {
        method: "PATCH",
        json: { price_list: id }
      })
      return { path: `/admin/v1/price-lists/${id}`, method: "DELETE", key: adminToken }
    }),
    {
      message: "An organisation is on this price list; move it to another list or to none first",
      more: { organizations: 1 }
    }
  ),
  row(
    "precondition_failed",
    "a catalog is replaced that has changed meanwhile",
    Effect.map(Surface, ({ adminToken }) => ({
      path: "/admin/v1/catalog",
      method: "PUT",
      key: adminToken,
      headers: { "if-match": '"999"' },
      json: { channels: [], models: [], mounts: [] }
    })),
    {
      message: "The catalog is at version 1 by now: read it again, and make the change on that",
      more: { version: 1, changed: [] }
    }
  ),
  row("task_not_found", "a task nobody has", asRich({ path: "/v1/videos/vt_nobody" }), {
    message: 'No task is called "vt_nobody"'
  }),
  row(
    "task_not_found",
    "the events of a task nobody has",
    asRich({ path: "/v1/videos/vt_nobody/events" }),
    { message: 'No task is called "vt_nobody"' }
  ),
  row(
    "task_not_found",
    "the timeline of a task nobody has",
    Effect.map(Surface, ({ adminToken }) => ({
      path: "/admin/v1/tasks/vt_nobody",
      key: adminToken
    })),
    { message: 'No task is called "vt_nobody"' }
  )
]
