import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import { layer as layerClient, MediaGateway } from "media-gateway/client"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { call } from "../support/http.ts"
import { scrapeUntil } from "../support/metrics.ts"
import { createVideo, finishVideo, listenUntil } from "../support/orders.ts"

/** All events from now to the end of the stream. */
const listen = (who: Customer, id: string, lastEventId?: string) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/videos/${id}/events`, {
      key: who.key,
      headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId }
    })
  )

const read = (who: Customer, id: string) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call(`/v1/videos/${id}`, { key: who.key }))

const event = (number: number, state: string, data: string) =>
  `id: ${number}\nevent: video.${state}\ndata: ${data}\n\n`
const processing = (id: string) =>
  event(1, "processing", `{"id":"${id}","task_status":"processing"}`)
const life = ": still processing\n\n"

const Polls = Schema.Struct({
  data: Schema.Array(Schema.Struct({ polled_at: Schema.Array(Schema.Number) }))
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, { ...quickSettings, heartbeatSeconds: 0.05 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the events of a task (${kind})`, (it) => {
    it.effect("begin with its present state and end with its end", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=20" })
        const answer = yield* listen(who, id)
        const done = (yield* read(who, id)).text
        assert.strictEqual(
          answer.text.replaceAll(life, ""),
          processing(id) + event(2, "succeeded", done)
        )
        assert.deepStrictEqual(
          ["content-type", "cache-control", "x-accel-buffering"].map((name) =>
            answer.headers.get(name)
          ),
          ["text/event-stream", "no-store", "no"]
        )
        assert.strictEqual((yield* listen(who, id)).text, event(2, "succeeded", done))
      })
    )

    it.effect("are not repeated to a client that says what it has seen", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const order = { model: "clip-1", prompt: "x sim:slow=20 sim:fail" }
        const id = yield* createVideo(who, order)
        const resumed = yield* listen(who, id, "1")
        const failed = event(2, "failed", (yield* read(who, id)).text)
        assert.strictEqual(resumed.text.replaceAll(life, ""), failed)
        assert.isTrue(resumed.text.startsWith(life))
        const over = yield* listen(who, id, "2")
        assert.deepStrictEqual([over.status, over.text], [204, ""])
        for (const nonsense of ["", "3", "2.0", "end", "9".repeat(200)]) {
          assert.strictEqual((yield* listen(who, id, nonsense)).text, failed, nonsense)
        }
        const next = yield* createVideo(who, order)
        const early = yield* listen(who, next, "2")
        assert.include(early.text, processing(next))
      })
    )

    it.effect("are read to their end by the typed client", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=20" })
        const events = yield* Effect.gen(function* () {
          const media = yield* MediaGateway
          const answer = yield* media.videos.events({ params: { task_id: id }, headers: {} })
          return answer === undefined ? [] : yield* Stream.runCollect(answer)
        }).pipe(
          Effect.provide(
            layerClient({ baseUrl: gateway.url, apiKey: who.key }).pipe(
              Layer.provide(NodeHttpClient.layerUndici)
            )
          )
        )
        assert.deepStrictEqual(
          events.map(({ event, data }) => [event, data.task_status]),
          [
            ["video.processing", "processing"],
            ["video.succeeded", "succeeded"]
          ]
        )
      })
    )

    it.effect("are not found where the task is not, as JSON and byte for byte alike", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const owner = yield* gateway.customer("10")
        const stranger = yield* gateway.customer("10")
        const id = yield* createVideo(owner, { model: "film-1" })
        const foreign = yield* listen(stranger, id)
        const unknown = yield* listen(stranger, "vt_none")
        assert.deepStrictEqual([foreign.status, unknown.status], [404, 404])
        assert.strictEqual(foreign.text.replace(id, "vt_none"), unknown.text)
        assert.deepNestedInclude(unknown.body, { "error.code": "task_not_found" })
        const images = yield* gateway.customer("0", { key: { scopes: ["images"] } })
        assert.strictEqual((yield* listen(images, id)).status, 403)
        yield* finishVideo(owner, id)
      })
    )

    it.effect("come with a sign of life, and cost nothing once the client has left", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=100000" })
        const streams = "gateway_event_streams"
        const listener = yield* Effect.forkChild(listenUntil(who, id, "never"))
        yield* scrapeUntil((metrics) => metrics.value(streams) === 1)
        const text = yield* listenUntil(who, id, life + life)
        assert.include(text, processing(id) + life)
        yield* scrapeUntil((metrics) => metrics.value(streams) === 1)
        listener.interruptUnsafe()
        yield* scrapeUntil((metrics) => metrics.value(streams) === 0)
      })
    )
  })
}

const ASK_SECONDS = 0.3

layer(
  layerTestGateway("embedded", {
    ...quickSettings,
    askIntervalSeconds: ASK_SECONDS,
    pollerSeconds: 3600
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("many listeners to one task", (it) => {
  it.effect("cost the vendor no more questions than one", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:takes=1" })
      const answers = yield* Effect.all(
        Array.from({ length: 30 }, () => listen(who, id)),
        { concurrency: "unbounded" }
      )
      for (const { text } of answers) assert.include(text, "event: video.succeeded")
      const polls = yield* bodyAs(Polls, yield* call(`${gateway.simulator.url}/_sim/polls`))
      const asked = polls.data.flatMap(({ polled_at }) => polled_at)
      const lasted = (Math.max(...asked) - Math.min(...asked)) / 1000
      assert.isAtMost(asked.length, lasted / ASK_SECONDS + 2)
    })
  )
})
