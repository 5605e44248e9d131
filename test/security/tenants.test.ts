/** What belongs to another organisation answers exactly as what does not exist. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { bucket } from "../support/archives.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { createVideo, finishVideo, orderImages } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { declaredRoutes, examplesOf, paramsOf, pathWith } from "../support/routes.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"
import { PNG, uploaded } from "../support/uploads.ts"

/** With a model for responses. */
const catalogFor = (simulatorUrl: string) => {
  const { channels, models, mounts } = speechCatalog(simulatorUrl)
  const talk = {
    id: "talk-priced",
    modality: "chat",
    protocol: "openai",
    prices: TALK_PRICES
  } as const
  return {
    channels,
    models: [...models, talk],
    mounts: [...mounts, { model: talk.id, channel: "ch-o" }]
  }
}

const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** As random as a real one, and of the same form. */
const nobodys = (id: string): string =>
  id.replace(/[0-9a-f]{12}$/, (end) => [...end].reverse().join("")).replace(/.$/, "7")

/** A video's id in the words of OpenAI's API. */
const openaiId = (id: string): string => id.replace(/^vt_/, "video_")

/** An answer without what is the request's own, and with the id that was asked for as `ID`. */
const bytesOf = (answer: HttpAnswer, id: string): string =>
  JSON.stringify([
    answer.status,
    [...answer.headers]
      .filter(([name]) => !/^(?:x-request-id|date|x?-?ratelimit.*)$/.test(name))
      .map(([name, value]) => [name, value.replaceAll(id, "ID")]),
    answer.text.replaceAll(id, "ID")
  ])

const Accepted = Schema.Struct({ id: Schema.String })

/** Ids of things the owner has, by the name of the parameter or query that takes them. */
const belongings = Effect.fnUntraced(function* (owner: Customer) {
  const gateway = yield* Gateway
  const running = yield* createVideo(owner, { model: "film-1", prompt: "x sim:slow" })
  const done = yield* createVideo(owner, { model: "film-1" })
  yield* finishVideo(owner, done)
  const deleted = yield* createVideo(owner, { model: "film-1" })
  yield* finishVideo(owner, deleted)
  const other = yield* createVideo(owner, { model: "film-1" })
  yield* finishVideo(owner, other)
  assert.strictEqual((yield* orderImages(owner, { model: "paint-1" })).status, 200)
  const taskOf = Effect.fnUntraced(function* (path: string, json: object) {
    const headers = { prefer: "respond-async" }
    const accepted = yield* gateway.call(path, { key: owner.key, headers, json })
    const location = accepted.headers.get("location") ?? ""
    yield* gateway.call(`${location}?wait=30`, { key: owner.key })
    return (yield* bodyAs(Accepted, accepted)).id
  })
  const imageTask = taskOf("/v1/images/generations", { model: "paint-1", prompt: "x" })
  const speechTask = taskOf("/v1/audio/speech", { model: "voice-1", input: "x" })
  const images = yield* imageTask
  const speech = yield* speechTask
  const { url } = yield* makeReceiver()
  const endpoint = Effect.gen(function* () {
    const made = yield* gateway.call("/v1/webhook_endpoints", {
      key: owner.key,
      json: { name: "hooks", url, event_types: ["video.failed"] }
    })
    return (yield* bodyAs(Accepted, made)).id
  })
  const endpoints = [yield* endpoint]
  const response = Effect.gen(function* () {
    const json = { model: "talk-priced", input: "x" }
    const made = yield* gateway.call("/v1/responses", { key: owner.key, json })
    return (yield* bodyAs(Accepted, made)).id
  })
  const responses = [yield* response]
  const files = [yield* uploaded(owner, PNG)]
  const usage = yield* gateway.call("/v1/usage", { key: owner.key })
  const { data } = yield* bodyAs(Usage, usage)
  assert.isAtLeast(data.length, 2)
  return new Map([
    ["task_id", [running, done, openaiId(done)]],
    // Of a running task the events would go on.
    ["/v1/videos/:task_id/events", [done, openaiId(done)]],
    ["/v1/videos/:task_id/content", [done, openaiId(done)]],
    ["/v1/videos", [running, openaiId(done)]],
    ["/v1/images/:task_id", [images]],
    ["/v1/images/:task_id/events", [images]],
    ["/v1/images/:task_id/cancel", [images]],
    ["/v1/images/:task_id/content/:n", [images]],
    ["/v1/images", [images]],
    ["/v1/audio/speech/:task_id", [speech]],
    ["/v1/audio/speech/:task_id/events", [speech]],
    ["/v1/audio/speech/:task_id/content", [speech]],
    ["/v1/audio/speech", [speech]],
    ["/v1/orders", [running, done, deleted, images]],
    ["/v1/orders/:id", [running, done, deleted, images]],
    ["DELETE /v1/videos/:task_id", [deleted, openaiId(other)]],
    ["DELETE /v1/images/:task_id", [yield* imageTask]],
    ["DELETE /v1/audio/speech/:task_id", [yield* speechTask]],
    ["DELETE /v1/webhook_endpoints/:id", [yield* endpoint]],
    ["/v1/responses/:id", responses],
    ["/v1/responses/:id/input_items", responses],
    ["DELETE /v1/responses/:id", [yield* response]],
    ["/v1/files", files],
    ["/v1/files/:id", files],
    ["/v1/files/:id/content", files],
    ["DELETE /v1/files/:id", [yield* uploaded(owner, PNG)]],
    ["/v1/webhook_endpoints", endpoints],
    ...["", "/deliveries", "/redeliver", "/rotate_secret", "/test"].map(
      (rest) => [`/v1/webhook_endpoints/:id${rest}`, endpoints] as const
    ),
    ["id", data.map(({ id }) => id)],
    ["after", data.map(({ id }) => id)]
  ])
})

const lists: ReadonlySet<string> = new Set([
  "/v1/usage",
  "/v1/videos",
  "/v1/images",
  "/v1/audio/speech",
  "/v1/orders",
  "/v1/files",
  "/v1/webhook_endpoints"
])

/** Addresses of a customer's routes with an id in them, `%` standing for it. */
const places = declaredRoutes
  // The catalog is everybody's.
  .filter(({ path }) => path.startsWith("/v1/") && path !== "/v1/models/:id")
  .flatMap((route) => [
    // The place of a file is no id, nor is a month.
    ...paramsOf(route.path)
      .filter((param) => param !== "n" && param !== "month")
      .map((param) => ({ ...route, param, query: "" })),
    ...(route.method === "GET" && lists.has(route.path)
      ? [{ ...route, param: "after", query: "?after=" }]
      : [])
  ])

/** A request of the place with the id, by the customer. */
const requestAt = Effect.fnUntraced(function* (
  place: (typeof places)[number],
  who: Customer,
  id: string
) {
  const gateway = yield* Gateway
  const { method, path, param, query, bodies } = place
  const address = query === "" ? pathWith(path, { n: "0", [param]: id }) : `${path}${query}${id}`
  const body = bodies.length > 0 ? { json: examplesOf(place)[0] } : {}
  return yield* gateway.call(address, { method, key: who.key, ...body })
})

/** A stranger is answered as if the id stood for nothing; its owner is served. */
const assertHidden = Effect.fnUntraced(function* (
  place: (typeof places)[number],
  id: string,
  owner: Customer,
  stranger: Customer
) {
  const foreign = yield* requestAt(place, stranger, id)
  const unknown = yield* requestAt(place, stranger, nobodys(id))
  assert.notStrictEqual(nobodys(id), id)
  assert.strictEqual(bytesOf(foreign, id), bytesOf(unknown, nobodys(id)), place.path)
  assert.isAtLeast(foreign.status, 400, place.path)
  // The owner gets more, so the id was a real one.
  assert.strictEqual((yield* requestAt(place, owner, id)).status, 200, place.path)
})

const settings = { ...quickSettings, webhookAllowPrivate: true }

layer(layerTestGateway("postgres", { ...settings, hasArchive: true }, { catalogFor, bucket }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("tenants", (it) => {
  it.effect("a foreign id answers byte for byte as an unknown one, on every route", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const owner = yield* gateway.customer("100")
      const stranger = yield* gateway.customer("100")
      const ids = yield* belongings(owner)
      assert.isAtLeast(places.length, 2)
      for (const place of places) {
        const { method, path, param } = place
        const owned = ids.get(`${method} ${path}`) ?? ids.get(path) ?? ids.get(param)
        if (owned === undefined) throw new Error(`${path} needs ids of a ${param} to be tried`)
        for (const id of owned) yield* assertHidden(place, id, owner, stranger)
      }
    })
  )

  it.effect("an Idempotency-Key of another organisation says nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const owner = yield* gateway.customer("100")
      const stranger = yield* gateway.customer("100")
      const order = (who: Customer, prompt: string) =>
        gateway.call("/v1/images/generations", {
          key: who.key,
          headers: { "idempotency-key": "shared" },
          json: { model: "paint-1", prompt }
        })
      assert.strictEqual((yield* order(owner, "mine")).status, 200)
      const other = yield* order(stranger, "another")
      assert.strictEqual(other.status, 200, other.text)
      assert.isNull(other.headers.get("idempotency-replayed"))
    })
  )

  it.effect("lists and sums hold nothing of another organisation", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const owner = yield* gateway.customer("100")
      const stranger = yield* gateway.customer("100")
      const ids = [...(yield* belongings(owner)).values()].flat()
      for (const { method, path } of declaredRoutes) {
        if (method !== "GET" || !path.startsWith("/v1/") || paramsOf(path).length > 0) continue
        const { text } = yield* gateway.call(path, { key: stranger.key })
        for (const id of [...ids, owner.organizationId, owner.memberId]) {
          assert.notInclude(text, id, path)
        }
      }
      assert.deepInclude(yield* gateway.balance(stranger), { balance: "100", held: "0" })
    })
  )
})
