/** What the operator is told of the one call that makes an image or a text, however the order ends. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import { Failpoints } from "../../src/runtime/Failpoints.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { brokenVendor, type Reply } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { chunkOf, counted, finished } from "../support/heldStream.ts"
import { orderImages } from "../support/orders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"
import { newestHold, timelineOf } from "../support/timelines.ts"

const said = (body: unknown): Reply => ({
  headers: { "content-type": "application/json", "x-request-id": "vendor-1" },
  body: JSON.stringify(body)
})
const streamed = (events: string): Reply => ({
  headers: { "content-type": "text/event-stream", "x-request-id": "vendor-1" },
  body: events
})

const chat = (stream: boolean) => (who: Customer) =>
  ask(who, talk("a lighthouse", { model: "talk-held", stream }))

const orders = {
  images: {
    purpose: "image",
    order: (who: Customer) => orderImages(who, { model: "paint-1" }),
    made: said({ created: 1, data: [{ url: "https://files.test/1.png" }] })
  },
  chat: {
    purpose: "text",
    order: chat(false),
    made: said({
      choices: [{ index: 0, message: { role: "assistant", content: "yes" } }],
      usage: { prompt_tokens: 10, completion_tokens: 20 }
    })
  },
  "streamed chat": {
    purpose: "text",
    order: chat(true),
    made: streamed(chunkOf("yes") + finished + counted(10, 20))
  }
} as const
type Order = keyof typeof orders
const everyOrder: ReadonlyArray<Order> = ["images", "chat", "streamed chat"]

/** The order's answer, what the operator is told of it, and how many rows the log has of it. */
const ordered = Effect.fnUntraced(function* (name: Order, reply: Reply) {
  const gateway = yield* Gateway
  const sql = yield* SqlClient.SqlClient
  const vendor = yield* brokenVendor(reply)
  const catalog = textCatalog(vendor.url)(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
  const who = yield* gateway.customer("100")
  const answer = yield* orders[name].order(who).pipe(
    // A stream that is cut off is no answer to its client.
    Effect.catchDefect(() => Effect.succeed(null))
  )
  const timeline = yield* timelineOf(yield* newestHold(who.organizationId))
  const [call] = timeline.upstream_calls
  assert.strictEqual(timeline.upstream_calls_total, 1)
  assert.lengthOf(timeline.upstream_calls, 1)
  const rows = yield* Effect.orDie(sql`SELECT id FROM upstream_calls WHERE job_id = ${timeline.id}`)
  return { answer, timeline, call, rows }
})

/** A row of the log, with what was asked. */
const isLogged = (name: Order, { call, rows }: Effect.Success<ReturnType<typeof ordered>>) => {
  assert.lengthOf(rows, 1)
  assert.deepInclude(call, {
    purpose: orders[name].purpose,
    method: "POST",
    bytes: null,
    request_id: null
  })
  assert.include(JSON.stringify(call?.request), '"characters":12')
}

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the call that makes an order (${kind})`, (it) => {
    it.effect.each(everyOrder)(
      "%s: the order's row tells of a success, and the log does not",
      (name) =>
        Effect.gen(function* () {
          const { made, purpose } = orders[name]
          const { answer, timeline, call, rows } = yield* ordered(name, made)
          assert.strictEqual(answer?.status, 200, answer?.text)
          assert.deepStrictEqual(rows, [])
          assert.strictEqual(timeline.state, "succeeded")
          const { started_at: startedAt, duration_ms: millis, ...rest } = call ?? assert.fail()
          assert.deepStrictEqual(rest, {
            id: timeline.id,
            channel: timeline.channel,
            purpose,
            method: null,
            url: null,
            status: 200,
            failure: null,
            bytes: typeof made === "object" ? Buffer.byteLength(`${made.body}`) : 0,
            request_id: "vendor-1",
            repeats: 0,
            last_at: startedAt,
            request: null,
            answer: null
          })
          assert.isAtLeast(Date.parse(startedAt), Date.parse(timeline.created_at) - 1000)
          assert.isAtLeast(millis, 0)
        })
    )

    it.effect("a vendor that names no request is told without a name", () =>
      Effect.gen(function* () {
        const { call } = yield* ordered("images", {
          body: { created: 1, data: [{ url: "https://files.test/1.png" }] }
        })
        assert.deepInclude(call, { status: 200, request_id: null })
      })
    )

    it.effect.each(everyOrder)(
      "%s: the log has what the vendor refused or answered in bad form",
      (name) =>
        Effect.gen(function* () {
          const refusal = { error: { code: "BadText", message: "no" } }
          const refused = yield* ordered(name, { status: 400, body: refusal })
          assert.strictEqual(refused.answer?.status, 400)
          isLogged(name, refused)
          assert.deepInclude(refused.call, { status: 400, failure: null })
          assert.deepNestedInclude(refused.call?.answer, { "error.code": "BadText" })

          const broken = yield* ordered(name, said({ id: "nothing" }))
          assert.strictEqual(broken.answer?.status, 502)
          isLogged(name, broken)
          assert.deepInclude(broken.call, { status: 200, answer: { id: "nothing" } })

          const lost = yield* ordered(name, "reset")
          isLogged(name, lost)
          assert.deepInclude(lost.call, { status: null, failure: "connection_lost" })
        })
    )

    it.effect("a stream that tells an error after its first words is charged, and in the log", () =>
      Effect.gen(function* () {
        const error = { error: { message: "it broke" } }
        const events = `${chunkOf("some words")}data: ${JSON.stringify(error)}\n\n`
        const broken = yield* ordered("streamed chat", streamed(events))
        assert.strictEqual(broken.timeline.state, "succeeded")
        isLogged("streamed chat", broken)
        assert.deepInclude(broken.call, {
          status: 200,
          answer: { events: 2, bytes: events.length }
        })
      })
    )
  })
}

const deadlines = {
  imageDeadlineSeconds: 1,
  textDeadlineSeconds: 1,
  textTokensPerHour: 1_000_000_000,
  textStreamDeadlineSeconds: 1
}
layer(
  layerTestGateway(
    "embedded",
    { ...quickSettings, ...deadlines },
    {
      catalogFor: textCatalog(),
      adapters: layerAdapters.pipe(Layer.provide(layerVendorLimits))
    }
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a call without an answer", (it) => {
  it.effect.each(everyOrder)("%s: is in the log", (name) =>
    Effect.gen(function* () {
      const late = yield* ordered(name, "hang")
      assert.strictEqual(late.answer?.status, 504, late.answer?.text)
      isLogged(name, late)
      assert.deepInclude(late.call, { status: null, failure: "timeout" })
    })
  )
})

/** What happens between a call and its charge. */
const atMade: { current: Effect.Effect<void> } = { current: Effect.void }
const stopping = Layer.succeed(Failpoints, {
  pass: (failpoint) =>
    failpoint.endsWith(".made") ? Effect.suspend(() => atMade.current) : Effect.void
})
layer(
  layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }).pipe(
    Layer.provide(stopping)
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("a call whose order is not charged", (it) => {
  it.effect.each(everyOrder)(
    "%s: is in the log when the order is cut off before its charge",
    (name) =>
      Effect.gen(function* () {
        for (const cut of [Effect.die(new Error("cut off")), Effect.interrupt]) {
          atMade.current = cut
          const open = yield* ordered(name, orders[name].made)
          assert.strictEqual(open.timeline.state, "processing")
          isLogged(name, open)
          assert.deepInclude(open.call, { status: 200, failure: null })
        }
      })
  )

  it.effect.each(everyOrder)(
    "%s: is in the log when the hold was given back before its charge",
    (name) =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        atMade.current = Effect.asVoid(ledger.sweepExpiredHolds("all"))
        const late = yield* ordered(name, orders[name].made)
        assert.strictEqual(late.timeline.state, "failed")
        isLogged(name, late)
        assert.deepInclude(late.call, { status: 200, failure: null })
      })
  )
})
