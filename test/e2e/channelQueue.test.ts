import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { call } from "../support/http.ts"
import { scrapeUntil } from "../support/metrics.ts"
import { createVideo, errorOf, finishVideo, listenUntil, orderVideo } from "../support/orders.ts"

const MAX_TASKS = 2

/** Channel `ch-a` makes few videos at a time. */
const catalogFor = (simulatorUrl: string): ReturnType<typeof testCatalog> => {
  const catalog = testCatalog(simulatorUrl)
  return {
    ...catalog,
    channels: catalog.channels.map((channel) =>
      channel.id === "ch-a" ? { ...channel, max_tasks: MAX_TASKS } : channel
    )
  }
}

const Queue = Schema.Struct({ position: Schema.Int, seconds: Schema.NullOr(Schema.Int) })
const Answer = Schema.Struct({
  id: Schema.String,
  task_status: Schema.String,
  status: Schema.optionalKey(Schema.String),
  queue: Schema.optionalKey(Queue),
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Schema.String })))
})

const Channels = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      waiting_orders: Schema.Int,
      oldest_wait_seconds: Schema.NullOr(Schema.Int)
    })
  )
})

const film = { model: "film-1" }
/** A video that its vendor makes only when the simulator lets it go on. */
const heldBack = { ...film, prompt: "a lighthouse sim:waits" }
const patient = { max_wait: 600 }

const orderWaiting = Effect.fnUntraced(function* (who: Customer, json: object = {}) {
  const answer = yield* orderVideo(who, { ...film, ...patient, ...json })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Answer, answer)
})

const read = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(Answer, yield* gateway.call(`/v1/videos/${id}`, { key: who.key }))
})

/** Fills the channel; the result lets its videos go on. */
const fillChannel = Effect.fnUntraced(function* (who: Customer) {
  const ids = yield* Effect.all(Array.from({ length: MAX_TASKS }, () => createVideo(who, heldBack)))
  const { simulator } = yield* Gateway
  const release = Effect.andThen(
    simulator.releaseTasks,
    Effect.forEach(ids, (id) => finishVideo(who, id))
  )
  return { release }
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`channels with a maximum number of tasks (${kind})`, (it) => {
    it.effect("a full channel refuses an order, or lets it wait with its hold", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { release } = yield* fillChannel(who)
        const { held } = yield* gateway.balance(who)

        const refusal = yield* orderVideo(who, film)
        assert.strictEqual(refusal.status, 429, refusal.text)
        assert.include((yield* errorOf(refusal)).message, "max_wait")
        assert.strictEqual((yield* gateway.balance(who)).held, held)

        const quote = yield* gateway.call("/v1/quotes", {
          key: who.key,
          json: { ...film, prompt: "a" }
        })
        const { queue } = yield* bodyAs(Schema.Struct({ queue: Schema.NullOr(Queue) }), quote)
        assert.strictEqual(queue?.position, 1)

        const first = yield* orderWaiting(who)
        const second = yield* orderWaiting(who)
        assert.strictEqual(first.task_status, "processing")
        assert.strictEqual(first.queue?.position, 1)
        assert.strictEqual(second.queue?.position, 2)
        let openaiId = ""
        for (const [max_wait, status] of [
          ["1e9", 400],
          ["", 400],
          ["600", 200]
        ] as const) {
          const answer = yield* gateway.call("/v1/videos", {
            key: who.key,
            json: { ...film, prompt: "a lighthouse", size: "1280x720", seconds: "6", max_wait }
          })
          assert.strictEqual(answer.status, status, answer.text)
          assert.include(answer.text, status === 200 ? '"queued"' : "max_wait")
          if (status === 200) openaiId = (yield* bodyAs(Answer, answer)).id
        }
        assert.strictEqual((yield* read(who, second.id)).queue?.position, 2)
        const openai = yield* read(who, second.id.replace("vt_", "video_"))
        assert.strictEqual(openai.status, "queued")
        const channels = yield* bodyAs(Channels, yield* gateway.admin("/channels"))
        const full = channels.data.find((channel) => channel.id === "ch-a")
        assert.strictEqual(full?.waiting_orders, 3)
        assert.isNotNull(full?.oldest_wait_seconds)
        yield* scrapeUntil(
          ({ value }) => value("gateway_channel_waiting_orders", { channel: "ch-a" }) === 3
        )
        assert.notStrictEqual((yield* gateway.balance(who)).held, held)

        yield* release
        for (const id of [first.id, second.id, openaiId.replace("video_", "vt_")]) {
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
          assert.notProperty(yield* read(who, id), "queue")
        }
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )

    it.effect("an order that waits is cancelled for nothing, and those behind it move up", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { release } = yield* fillChannel(who)
        const first = yield* orderWaiting(who)
        const second = yield* orderWaiting(who)
        const { held } = yield* gateway.balance(who)
        const cancellation = yield* gateway.call(`/v1/videos/${first.id}/cancel`, {
          method: "POST",
          key: who.key
        })
        const answer = yield* bodyAs(Answer, cancellation)
        assert.strictEqual(answer.error?.code, "cancelled")
        assert.isBelow(Number((yield* gateway.balance(who)).held), Number(held))
        assert.strictEqual((yield* read(who, second.id)).queue?.position, 1)
        yield* release
        assert.strictEqual((yield* finishVideo(who, second.id)).task_status, "succeeded")
        yield* gateway.verify
      })
    )

    it.effect(
      "events and the answer to a repeated order have the place of an order that waits",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const { release } = yield* fillChannel(who)
          const headers = { "idempotency-key": "second-order" }
          const order = { ...film, ...patient, prompt: "a lighthouse" }
          const first = yield* orderWaiting(who)
          const secondAnswer = yield* orderVideo(who, order, headers)
          const second = yield* bodyAs(Answer, secondAnswer)
          assert.deepStrictEqual(
            yield* bodyAs(Answer, yield* orderVideo(who, order, headers)),
            second,
            "nothing has changed"
          )
          yield* gateway.call(`/v1/videos/${first.id}/cancel`, { method: "POST", key: who.key })
          const repeat = yield* bodyAs(Answer, yield* orderVideo(who, order, headers))
          assert.strictEqual(second.queue?.position, 2)
          assert.strictEqual(repeat.queue?.position, 1)
          const event = yield* listenUntil(who, second.id, "\n\n")
          assert.include(event, `"queue":${JSON.stringify(repeat.queue)}`)
          yield* release
          yield* finishVideo(who, second.id)
          assert.notProperty(yield* bodyAs(Answer, yield* orderVideo(who, order, headers)), "queue")
          yield* gateway.verify
        })
    )

    it.effect("an order waits no longer than it asks, and costs nothing then", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { release } = yield* fillChannel(who)
        const { id } = yield* orderWaiting(who, { max_wait: 1 })
        const end = yield* finishVideo(who, id)
        assert.strictEqual(end.error?.code, "max_wait_exceeded")
        yield* release
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )

    it.effect("a vendor's refusal of an order that has waited fails its task", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const { release } = yield* fillChannel(who)
        const { id } = yield* orderWaiting(who, { prompt: "sim:moderate-input" })
        yield* release
        const end = yield* finishVideo(who, id)
        assert.deepInclude(end, { task_status: "failed" })
        assert.strictEqual(end.error?.code, "upstream_error")
        assert.strictEqual((yield* gateway.balance(who)).held, "0")
        yield* gateway.verify
      })
    )

    it.effect(
      "an order waits again where its vendor is overloaded or its channel is disabled",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const { release } = yield* fillChannel(who)
          const { id } = yield* orderWaiting(who)
          const account = (json: object) =>
            call(`${gateway.simulator.url}/_sim/accounts/vendor-key-a`, { method: "PUT", json })
          const catalog = catalogFor(gateway.simulator.url)
          const changeChannel = (change: object) =>
            gateway.admin("/catalog", {
              method: "PUT",
              json: {
                ...catalog,
                channels: catalog.channels.map((channel) =>
                  channel.id === "ch-a" ? { ...channel, ...change } : channel
                )
              }
            })
          yield* account({ switches: "sim:refuse=429" })
          yield* gateway.simulator.clearRequests
          yield* changeChannel({ max_tasks: MAX_TASKS + 1 })
          const isRefused = Effect.map(gateway.simulator.requests, (requests) =>
            requests.some(({ method }) => method === "POST")
          )
          yield* isRefused.pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (hasPosted) => hasPosted })
          )
          assert.strictEqual((yield* read(who, id)).task_status, "processing")

          yield* changeChannel({ max_tasks: MAX_TASKS + 1, enabled: false })
          yield* account({ switches: "" })
          yield* gateway.simulator.clearRequests
          yield* Effect.sleep("300 millis")
          assert.strictEqual((yield* read(who, id)).queue?.position, 1)
          yield* changeChannel({ max_tasks: MAX_TASKS + 1 })
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
          yield* changeChannel({})
          yield* release
          assert.strictEqual((yield* gateway.balance(who)).held, "0")
          yield* gateway.verify
        })
    )

    it.effect("inline media are refused where the order may wait", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const image = "data:image/png;base64,iVBORw0KGgo="
        const refusal = yield* orderVideo(who, { ...film, ...patient, image })
        assert.strictEqual(refusal.status, 400, refusal.text)
        assert.strictEqual((yield* errorOf(refusal)).param, "max_wait")
        const tooLong = yield* orderVideo(who, { ...film, max_wait: 100_000 })
        assert.strictEqual((yield* errorOf(tooLong)).param, "max_wait")
      })
    )

    it.effect("no organisation waits for another's crowd, and each keeps its sequence", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [crowd, single] = [yield* gateway.customer("1000"), yield* gateway.customer("1000")]
        const { release } = yield* fillChannel(crowd)
        const before = (yield* gateway.simulator.book).length
        const crowdIds: Array<string> = []
        for (let n = 0; n < 8; n++) {
          crowdIds.push((yield* orderWaiting(crowd, { prompt: `crowd ${n}` })).id)
        }
        const late = yield* orderWaiting(single, { prompt: "single" })
        assert.strictEqual(late.queue?.position, 1, "the crowd has all places")
        yield* release
        const done = yield* Effect.forEach(
          [...crowdIds.map((id) => [crowd, id] as const), [single, late.id] as const],
          ([who, id]) => finishVideo(who, id),
          { concurrency: "unbounded" }
        )
        assert.isTrue(done.every(({ task_status }) => task_status === "succeeded"))

        const book = (yield* gateway.simulator.book).slice(before)
        const jobIds = book.flatMap((entry) =>
          entry.event === "accepted" ? [entry.upstream_id] : []
        )
        assert.lengthOf(jobIds, 9)
        let open = MAX_TASKS
        for (const { event } of book) {
          open += event === "accepted" ? 1 : -1
          assert.isAtMost(open, MAX_TASKS)
        }
        const timelineOf = (id: string) =>
          Effect.flatMap(gateway.admin(`/tasks/${id}`), (answer) =>
            bodyAs(Schema.Struct({ upstream_id: Schema.String }), answer)
          )
        const places = yield* Effect.forEach([...crowdIds, late.id], (id) =>
          Effect.map(timelineOf(id), ({ upstream_id }) => jobIds.indexOf(upstream_id))
        )
        const ofCrowd = places.slice(0, -1)
        assert.deepStrictEqual(
          ofCrowd,
          ofCrowd.toSorted((one, other) => one - other)
        )
        assert.isAtMost(places.at(-1) ?? 9, 3)
        yield* gateway.verify
      })
    )
  })
}
