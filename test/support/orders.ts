/** A customer's calls, as the tests of whole journeys make them. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bodyAs, type Customer, Gateway, testCatalog } from "./gateway.ts"

type Json = Readonly<Record<string, unknown>>

const Accepted = Schema.Struct({ id: Schema.String, task_status: Schema.Literal("processing") })

export const orderVideo = (
  who: Customer,
  json: Json,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/videos/generations", {
      key: who.key,
      headers,
      json: { prompt: "a lighthouse", ...json }
    })
  )

/** A client that reads the events of a video until it has seen a text, and then goes away. */
export const listenUntil = (who: Customer, id: string, wanted: string) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (signal) => {
      const leave = new AbortController()
      signal.addEventListener("abort", () => leave.abort())
      const response = await fetch(`${url}/v1/videos/${id}/events`, {
        headers: { authorization: `Bearer ${who.key}` },
        signal: leave.signal
      })
      let text = ""
      for await (const chunk of response.body ?? []) {
        text += new TextDecoder().decode(chunk)
        if (text.includes(wanted)) break
      }
      leave.abort()
      return text
    })
  )

export const orderImages = (who: Customer, json: Json) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call("/v1/images/generations", {
      key: who.key,
      json: { prompt: "a lighthouse", ...json }
    })
  )

/** Orders a video that must be accepted; answers its task id. */
export const createVideo = Effect.fnUntraced(function* (who: Customer, json: Json) {
  const answer = yield* orderVideo(who, json)
  assert.strictEqual(answer.status, 200, answer.text)
  return (yield* bodyAs(Accepted, answer)).id
})

const Finished = Schema.Struct({
  id: Schema.String,
  task_status: Schema.String,
  content: Schema.optionalKey(Schema.Struct({ video_url: Schema.String })),
  usage: Schema.optionalKey(Schema.Struct({ completion_tokens: Schema.optionalKey(Schema.Int) })),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})

/** The task at its end, for which it waits. */
export const finishVideo = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Finished, answer)
})

const Failed = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    code: Schema.String,
    faults: Schema.optionalKey(
      Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
    ),
    upstream: Schema.optionalKey(
      Schema.Struct({ status: Schema.NullOr(Schema.Int), body: Schema.Unknown })
    )
  })
})

/** What stands in an error answer. */
export const errorOf = Effect.fnUntraced(function* (answer: Parameters<typeof bodyAs>[1]) {
  return (yield* bodyAs(Failed, answer)).error
})

/** Has the images made by another vendor; null is the simulator. */
export const moveTo = Effect.fnUntraced(function* (url: string | null) {
  const gateway = yield* Gateway
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-i" && url !== null ? { ...channel, base_url: url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
})

const CreatedMember = Schema.Struct({ id: Schema.String })
const CreatedKey = Schema.Struct({ key: Schema.String })

/** Another member of the organisation. */
export const colleagueOf = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const member = yield* gateway.admin(`/organizations/${organizationId}/members`, {
    json: { name: "colleague" }
  })
  const { id: memberId } = yield* bodyAs(CreatedMember, member)
  const made = yield* gateway.admin(`/members/${memberId}/keys`, { json: { name: "k" } })
  const { key } = yield* bodyAs(CreatedKey, made)
  return { organizationId, memberId, key } satisfies Customer
})
