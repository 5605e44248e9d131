/** One organisation that has much running takes no place from the others, at a channel or elsewhere. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import { assertLimited } from "../support/limited.ts"
import { createVideo, orderImages, orderVideo } from "../support/orders.ts"

const bounded = {
  ...quickSettings,
  keyRequestsPerMinute: 0,
  organizationInFlight: 3,
  organizationWaits: 2,
  channelInFlight: 4
}

/** Has paint-1 made by a vendor that answers when it is let go. */
const held = Effect.gen(function* () {
  const gateway = yield* Gateway
  const vendor = yield* heldVendor
  const catalog = testCatalog(gateway.simulator.url)
  const channels = catalog.channels.map((channel) =>
    channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
  return vendor
})

const paint = (who: Customer) => Effect.forkChild(orderImages(who, { model: "paint-1" }))

/** Waits until so many orders of the organisation are held. */
const untilHeld = Effect.fnUntraced(function* (who: Customer, amount: string) {
  const gateway = yield* Gateway
  yield* gateway
    .admin(`/organizations/${who.organizationId}`)
    .pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: ({ text }) => text.includes(`"held":"${amount}"`) }),
      Effect.timeout("10 seconds")
    )
})

layer(layerTestGateway("postgres", bounded), { excludeTestServices: true, timeout: "60 seconds" })(
  "requests in flight",
  (it) => {
    it.effect("that only wait are bounded apart", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* gateway.admin("/catalog", {
          method: "PUT",
          json: testCatalog(gateway.simulator.url)
        })
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=1000000" })
        const wait = gateway.call(`/v1/videos/${id}?wait=60`, { key: who.key })
        const waiting = yield* Effect.forEach([1, 2], () => Effect.forkChild(wait))
        yield* Effect.sleep("1 millis").pipe(
          Effect.andThen(gateway.call(`/v1/videos/${id}?wait=1`, { key: who.key })),
          Effect.repeat({ until: ({ status }) => status === 429 }),
          Effect.timeout("10 seconds")
        )
        // Nobody who does something is kept from it by those who wait.
        const asked = yield* gateway.call(`/v1/videos/${id}`, { key: who.key })
        assert.strictEqual(asked.status, 200)
        assert.strictEqual(
          (yield* gateway.call(`/v1/videos/${id}?wait=0`, { key: who.key })).status,
          200
        )
        for (const fiber of waiting) yield* Fiber.interrupt(fiber)
        // Whoever went away gives the place back.
        yield* gateway
          .call(`/v1/videos/${id}?wait=1`, { key: who.key })
          .pipe(
            Effect.repeat({ until: ({ status }) => status === 200 }),
            Effect.timeout("10 seconds")
          )
      })
    )

    it.effect("are bounded for each channel, before anything is held", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* held
        const many = [yield* gateway.customer("100"), yield* gateway.customer("100")] as const
        const [one, two] = many
        const running = yield* Effect.forEach([one, one, two, two], paint)
        yield* untilHeld(one, "0.4")
        yield* untilHeld(two, "0.4")
        const late = yield* gateway.customer("100")
        const answer = yield* gateway.call("/v1/images/generations", {
          key: late.key,
          headers: { "idempotency-key": "late" },
          json: { model: "paint-1", prompt: "x" }
        })
        const error = yield* assertLimited(answer)
        assert.strictEqual(error.param, "model")
        assert.deepInclude(yield* gateway.balance(late), { balance: "100", held: "0" })
        const sql = yield* SqlClient.SqlClient
        assert.deepEqual(
          yield* sql`SELECT id FROM orders WHERE organization_id = ${late.organizationId}`,
          []
        )
        // Another channel has room.
        assert.strictEqual((yield* orderVideo(late, { model: "film-1" })).status, 200)
        yield* vendor.letGo
        for (const fiber of running) assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
        const again = yield* gateway.call("/v1/images/generations", {
          key: late.key,
          headers: { "idempotency-key": "late" },
          json: { model: "paint-1", prompt: "x" }
        })
        assert.strictEqual(again.status, 200, again.text)
      }).pipe(Effect.scoped)
    )

    it.effect("leave other organisations their half of a channel", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* held
        const many = yield* gateway.customer("100")
        const other = yield* gateway.customer("100")
        const running = yield* Effect.forEach([many, many], paint)
        yield* untilHeld(many, "0.4")
        const error = yield* assertLimited(
          yield* orderImages(many, { model: "paint-1" }).pipe(Effect.timeout("10 seconds"))
        )
        assert.strictEqual(error.param, "model")
        assert.include(error.message, "This organisation has")
        assert.deepInclude(yield* gateway.balance(many), { balance: "100", held: "0.4" })
        const others = yield* Effect.forEach([other, other], paint)
        yield* untilHeld(other, "0.4")
        yield* vendor.letGo
        for (const fiber of [...running, ...others]) {
          assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
        }
        assert.strictEqual((yield* orderImages(many, { model: "paint-1" })).status, 200)
      }).pipe(Effect.scoped)
    )

    it.effect("keep their place at a channel when the client has gone", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* held
        const [one, two, late] = [
          yield* gateway.customer("100"),
          yield* gateway.customer("100"),
          yield* gateway.customer("100")
        ]
        const running = yield* Effect.forEach([one, one, two, two], paint)
        yield* untilHeld(one, "0.4")
        yield* untilHeld(two, "0.4")
        for (const fiber of running) yield* Fiber.interrupt(fiber)
        // Requests that came and went behind them show that the gateway has seen them go.
        yield* Effect.repeat(gateway.balance(late), { times: 20 })
        yield* assertLimited(yield* orderImages(late, { model: "paint-1" }))
        yield* vendor.letGo
        yield* orderImages(late, { model: "paint-1" }).pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: ({ status }) => status === 200 }),
          Effect.timeout("10 seconds")
        )
      }).pipe(Effect.scoped)
    )
  }
)

layer(layerTestGateway("postgres", { ...bounded, channelInFlight: 8 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("requests and orders of an organisation", (it) => {
  it.effect("are bounded while they are in flight, and their place is free again afterwards", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* held
      const who = yield* gateway.customer("100")
      const other = yield* gateway.customer("100")
      const running = yield* Effect.forEach([1, 2, 3], () => paint(who))
      yield* untilHeld(who, "0.6")
      const { message } = yield* assertLimited(yield* gateway.call("/v1/models", { key: who.key }))
      assert.include(message, "3 requests")
      const answer = yield* gateway.call("/v1/models", { key: other.key })
      assert.strictEqual(answer.status, 200)
      assert.isNull(answer.headers.get("x-ratelimit-limit-requests"))
      yield* vendor.letGo
      for (const fiber of running) {
        assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      }
      assert.strictEqual((yield* gateway.call("/v1/models", { key: who.key })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("are bounded also where orders run on without their client", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const vendor = yield* held
      const who = yield* gateway.customer("100")
      const running = yield* Effect.forEach([who, who, who], paint)
      yield* untilHeld(who, "0.6")
      for (const fiber of running) yield* Fiber.interrupt(fiber)
      // Its requests have room again when the gateway has seen the clients go.
      yield* gateway
        .call("/v1/models", { key: who.key })
        .pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: ({ status }) => status === 200 }),
          Effect.timeout("10 seconds")
        )
      const order = orderImages(who, { model: "paint-1" })
      const error = yield* assertLimited(yield* order.pipe(Effect.timeout("10 seconds")))
      assert.include(error.message, "3 orders running")
      assert.isNull(error.param)
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0.6" })
      yield* vendor.letGo
      yield* order.pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: ({ status }) => status === 200 }),
        Effect.timeout("10 seconds")
      )
    }).pipe(Effect.scoped)
  )
})
