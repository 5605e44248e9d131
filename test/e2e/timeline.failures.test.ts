import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { Reply } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, finishVideo, orderVideo } from "../support/orders.ts"
import { callAt, job, newestHold, timelineOf } from "../support/timelines.ts"

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, { ...quickSettings, submitDeadlineSeconds: 2 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the timeline of an order that fails (${kind})`, (it) => {
    it.effect("a video the vendor fails tells why, and what was given back", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* callAt((method) =>
          method === "POST"
            ? { body: { id: "job-1" } }
            : job("failed", { error: { code: "OutputBlocked", message: "it was blocked" } })
        )
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1" })
        yield* finishVideo(who, id)
        const timeline = yield* timelineOf(id)
        assert.deepInclude(timeline, {
          state: "failed",
          error: { code: "OutputBlocked", message: "it was blocked" },
          orphan: null
        })
        assert.strictEqual(timeline.transitions.at(-1)?.state, "failed")
        assert.deepStrictEqual(
          timeline.ledger.map(({ kind: what, amount }) => [what, amount]),
          [
            ["hold", "4.968"],
            ["release", "4.968"]
          ]
        )
        assert.deepNestedInclude(timeline.upstream_calls.at(-1)?.answer, {
          status: "failed",
          "error.code": "OutputBlocked",
          "error.message.characters": 14
        })
      })
    )

    it.effect("an order the vendor refuses keeps its reason, without the prompt it repeats", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const prompt = "a lighthouse in the fog of november"
        yield* callAt(() => ({
          status: 400,
          body: { error: { code: "BadText", message: `No: "${prompt}" is forbidden` } }
        }))
        const who = yield* gateway.customer("100")
        const answer = yield* gateway.call("/v1/videos/generations", {
          key: who.key,
          headers: { "idempotency-key": "order-1" },
          json: { model: "film-1", prompt }
        })
        assert.strictEqual(answer.status, 400)
        const timeline = yield* timelineOf(yield* newestHold(who.organizationId))
        const message = 'No: "[…]" is forbidden'
        assert.deepInclude(timeline, {
          state: "rejected",
          error: { code: "upstream_error", message },
          upstream_id: null,
          idempotency_key: true
        })
        assert.deepStrictEqual(
          timeline.transitions.map(({ state, by }) => [state, by]),
          [
            ["submitting", "create"],
            ["rejected", "create"]
          ]
        )
        assert.deepInclude(timeline.upstream_calls[0], { status: 400, failure: null })
        assert.deepNestedInclude(timeline.upstream_calls[0]?.answer, {
          "error.code": "BadText",
          "error.message": message
        })
      })
    )

    it.effect("a submit that is lost shows the failed call and its orphan", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* callAt(() => "reset")
        const who = yield* gateway.customer("100")
        const answer = yield* orderVideo(who, { model: "film-1" })
        assert.strictEqual(answer.status, 502)
        const timeline = yield* timelineOf(yield* newestHold(who.organizationId))
        assert.strictEqual(timeline.state, "rejected")
        assert.deepInclude(timeline.upstream_calls[0], {
          purpose: "submit",
          status: null,
          failure: "connection_lost",
          answer: null
        })
        assert.deepInclude(timeline.orphan, {
          id: timeline.id,
          channel: "ch-a",
          reason: "connection_lost",
          amount_held: "4.968",
          resolved_at: null
        })
      })
    )

    it.effect("a job accepted after the order had been given up is kept with its orphan", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const asked = Promise.withResolvers<void>()
        const reply = Promise.withResolvers<Reply>()
        yield* callAt(() => {
          asked.resolve()
          return reply.promise
        })
        const who = yield* gateway.customer("100")
        const fiber = yield* Effect.forkChild(orderVideo(who, { model: "film-1" }))
        yield* Effect.promise(() => asked.promise)
        const id = yield* newestHold(who.organizationId)
        yield* Effect.orDie(
          sql`UPDATE tasks SET submit_deadline = now() - interval '1 second' WHERE id = ${id}`
        )
        yield* timelineOf(id).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: ({ state }) => state === "rejected" }),
          Effect.timeout("10 seconds")
        )
        assert.deepInclude((yield* timelineOf(id)).orphan, {
          reason: "gateway_stopped",
          upstream_id: null
        })
        reply.resolve({ body: { id: "job-late" } })
        assert.strictEqual((yield* Fiber.join(fiber)).status, 504)
        const late = yield* timelineOf(id)
        assert.deepInclude(late.orphan, { reason: "gateway_stopped", upstream_id: "job-late" })
        assert.strictEqual(late.upstream_id, "job-late")
      })
    )
  })
}
