import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  type Customer,
  Ledger,
  layerGatewaySimulated,
  layerGatewayTesting,
  ScriptedVendors,
  Simulator,
  TestingGateway,
  vendor
} from "../../src/testing/doubles.ts"

const Accepted = Schema.Struct({ id: Schema.String })

const order = Effect.fnUntraced(function* (who: Customer, json: object = {}) {
  const gateway = yield* TestingGateway
  const answer = yield* gateway.call("/v1/videos/generations", {
    key: who.key,
    json: { model: "film-1", prompt: "a lighthouse", ...json }
  })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return (yield* Effect.orDie(Schema.decodeUnknownEffect(Accepted)(answer.body))).id
})

const read = (who: Customer, id: string, query = "") =>
  Effect.flatMap(TestingGateway, (gateway) =>
    Effect.map(gateway.call(`/v1/videos/${id}${query}`, { key: who.key }), ({ body }) => body)
  )

/** Kind and amount of what moved since the deposit, newest first. */
const movements = ({ organizationId }: Customer) =>
  Effect.flatMap(Ledger, (ledger) =>
    Effect.map(ledger.journal(organizationId, { after: null, limit: 100 }), ({ data }) =>
      data.slice(0, -1).map(({ kind, amountNano }) => `${kind} ${amountNano}`)
    )
  )

describe("a gateway of doubles", () => {
  it.effect("makes a video when its time comes, and charges what the vendor reports", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      yield* vendors.videos(vendor.succeeds({ usage: { completionTokens: 110_000n } }))
      const who = yield* gateway.customer()
      const id = yield* order(who)
      assert.deepStrictEqual(yield* read(who, id), { id, task_status: "processing" })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* read(who, id), {
        id,
        task_status: "succeeded",
        content: { video_url: "https://vp_a.test/job-1.mp4" },
        usage: { completion_tokens: 110_000 }
      })
      assert.deepStrictEqual(yield* movements(who), [
        "release 4968000000",
        "capture 5060000000",
        "hold 4968000000"
      ])
      const [received] = yield* vendors.videoOrders
      assert.deepInclude(received?.order, {
        upstreamModel: "doubao-seedance-2-0-260128",
        seconds: 5
      })
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("wakes who waits for images as soon as they are there, whatever the clock says", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const letGo = yield* Deferred.make<void>()
      yield* vendors.images(vendor.makes({ after: Deferred.await(letGo) }))
      const who = yield* gateway.customer()
      const accepted = yield* gateway.call("/v1/images/generations", {
        key: who.key,
        headers: { prefer: "respond-async" },
        json: { model: "paint-1", prompt: "a lighthouse" }
      })
      assert.strictEqual(accepted.status, 202, JSON.stringify(accepted.body))
      const { id } = yield* Effect.orDie(Schema.decodeUnknownEffect(Accepted)(accepted.body))
      const images = gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
      const waiting = yield* Effect.forkChild(images)
      yield* Effect.repeat(Effect.yieldNow, { times: 1000 })
      assert.isUndefined(waiting.pollUnsafe())
      yield* Deferred.succeed(letGo, undefined)
      const { body } = yield* Fiber.join(waiting)
      assert.deepInclude(body, { id, task_status: "succeeded" })
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("gives a customer a part of a currency unit, and refuses what is no exact amount", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const ledger = yield* Ledger
      const { organizationId } = yield* gateway.customer({ deposit: 0.1 })
      const pool = yield* ledger.balance(organizationId)
      assert.deepStrictEqual(pool, { balanceNano: 100_000_000n, heldNano: 0n })
      const refused = yield* gateway
        .customer({ deposit: 1e-10 })
        .pipe(Effect.catchDefect(Effect.succeed))
      assert.include(String(refused), "deposit: Expected a decimal")
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("keeps a task in the works until the vendors are told to finish", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const vendors = yield* ScriptedVendors
      const who = yield* gateway.customer()
      const id = yield* order(who)
      yield* TestClock.adjust("10 minutes")
      const waiting = yield* Effect.forkChild(read(who, id, "?wait=60"))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(waiting.pollUnsafe())
      yield* vendors.finish({ _tag: "Failed", code: "moderated", message: "not this one" })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), {
        id,
        task_status: "failed",
        error: { code: "moderated", message: "not this one" }
      })
      assert.deepStrictEqual(yield* movements(who), ["release 4968000000", "hold 4968000000"])
    }).pipe(Effect.provide(layerGatewayTesting({ vendors: { videos: vendor.waits() } })))
  )

  it.effect("returns the hold of an order its vendor refuses, and passes the refusal on", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const answer = yield* gateway.call("/v1/images/generations", {
        key: who.key,
        json: { model: "paint-1", prompt: "x", n: 3 }
      })
      assert.strictEqual(answer.status, 422)
      assert.deepNestedInclude(answer.body, {
        "error.code": "upstream_error",
        "error.message": "no hats",
        "error.upstream": { status: 422, body: { why: "hats" } }
      })
      assert.deepStrictEqual(yield* movements(who), ["release 600000000", "hold 600000000"])
      assert.strictEqual(yield* (yield* ScriptedVendors).jobs, 0)
    }).pipe(
      Effect.provide(
        layerGatewayTesting({
          vendors: {
            images: vendor.refuses({ status: 422, message: "no hats", body: { why: "hats" } })
          }
        })
      )
    )
  )

  it.effect("orders once for one key, and has a page for everything an operator asks", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer({ deposit: 1 })
      const call = gateway.call("/v1/images/generations", {
        key: who.key,
        json: { model: "paint-1", prompt: "x" },
        headers: { "idempotency-key": "once" }
      })
      const [first, again] = [yield* call, yield* call]
      assert.deepStrictEqual(again.body, first.body)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.strictEqual(yield* (yield* ScriptedVendors).jobs, 1)
      const admin = (path: string) => gateway.call(`/admin/v1${path}`, { key: gateway.adminToken })
      const pool = yield* admin(`/organizations/${who.organizationId}`)
      assert.deepInclude(pool.body, { balance: "0.8", held: "0" })
      assert.deepStrictEqual((yield* admin("/ledger/verify")).body, { ok: true, violations: [] })
      for (const path of ["/orphans", "/audit", `/organizations/${who.organizationId}/usage`]) {
        assert.strictEqual((yield* admin(path)).status, 200)
      }
      assert.deepInclude((yield* gateway.call("/readyz")).body, { status: "ready" })
      assert.strictEqual((yield* gateway.call("/v1/models")).status, 401)
    }).pipe(Effect.provide(layerGatewayTesting()))
  )

  it.effect("takes its settings from the test", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const id = yield* order(who)
      yield* TestClock.adjust("80 seconds")
      assert.deepNestedInclude(yield* read(who, id), { "error.code": "deadline_exceeded" })
    }).pipe(
      Effect.provide(
        layerGatewayTesting({
          settings: { taskDeadlineSeconds: 60 },
          vendors: { videos: vendor.waits() }
        })
      )
    )
  )

  it.live("runs the real adapters before the simulator", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const simulator = yield* Simulator
      const who = yield* gateway.customer()
      const id = yield* order(who)
      assert.deepInclude(yield* read(who, id, "?wait=30"), { task_status: "succeeded" })
      assert.deepStrictEqual(
        (yield* simulator.book).map(({ event, protocol }) => `${event} ${protocol}`),
        ["accepted vp_a", "succeeded vp_a"]
      )
      const answer = yield* gateway.call(`/admin/v1/tasks/${id}`, { key: gateway.adminToken })
      assert.deepNestedInclude(answer.body, { "upstream_calls[0].purpose": "submit" })
      assert.deepStrictEqual(yield* (yield* Ledger).verify, [])
    }).pipe(Effect.provide(layerGatewaySimulated()))
  )
})
