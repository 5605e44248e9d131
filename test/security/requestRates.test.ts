/** One key, organisation or channel that asks for too much takes nothing from the others. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { withoutConnections } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { heldVendor } from "../support/heldVendor.ts"
import type { HttpAnswer } from "../support/http.ts"
import { createVideo, orderImages, orderVideo } from "../support/orders.ts"

const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    message: Schema.String
  })
})

const assertLimited = Effect.fnUntraced(function* (answer: HttpAnswer) {
  assert.strictEqual(answer.status, 429, answer.text)
  const { error } = yield* bodyAs(ErrorBody, answer)
  assert.deepInclude(error, { code: "rate_limited", type: "rate_limit_error" })
  const seconds = Number(answer.headers.get("retry-after"))
  const millis = Number(answer.headers.get("retry-after-ms"))
  assert.isAtLeast(seconds, 1)
  assert.isAbove(millis, 0)
  // Whole seconds are never earlier than the exact time.
  assert.isAtLeast(seconds * 1000, millis)
  assert.isNull(answer.headers.get("x-should-retry"))
  return error
})

const rateOf = ({ headers }: HttpAnswer) => ({
  limit: headers.get("x-ratelimit-limit-requests"),
  remaining: headers.get("x-ratelimit-remaining-requests")
})

layer(layerTestGateway("postgres"), { excludeTestServices: true, timeout: "60 seconds" })(
  "the rate of a key",
  (it) => {
    it.effect("stands on every answer to it, also on errors", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("10", {
          key: { requests_per_minute: 6, scopes: ["models", "videos"] }
        })
        const answers = [
          yield* gateway.call("/v1/models", { key }),
          yield* gateway.call("/v1/videos/vt_nobody", { key }),
          yield* gateway.call("/v1/videos/generations", { key, body: "{" }),
          yield* gateway.call("/v1/balance", { key })
        ]
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 404, 400, 403]
        )
        assert.deepEqual(answers.map(rateOf), [
          { limit: "6", remaining: "5" },
          { limit: "6", remaining: "4" },
          { limit: "6", remaining: "3" },
          { limit: "6", remaining: "2" }
        ])
        const [first] = answers
        assert.strictEqual(first?.headers.get("x-ratelimit-reset-requests"), "10s")
        assert.strictEqual(first?.headers.get("ratelimit-policy"), '"default";q=6;w=60')
        assert.strictEqual(first?.headers.get("ratelimit"), '"default";r=5;t=10')
      })
    )

    it.effect("is the gateway's where the key has none, and each key has its own", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        for (const who of [yield* gateway.customer("1"), yield* gateway.customer("1")]) {
          assert.deepEqual(rateOf(yield* gateway.call("/v1/models", { key: who.key })), {
            limit: "600000",
            remaining: "599999"
          })
        }
      })
    )

    it.effect("is a whole number above 0", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { memberId } = yield* gateway.customer("1")
        for (const rate of [0, -1, 1.5, "60", 1e12]) {
          const answer = yield* gateway.admin(`/members/${memberId}/keys`, {
            json: { name: "k", requests_per_minute: rate }
          })
          assert.strictEqual(answer.status, 400, `${rate}`)
          assert.include(answer.text, "requests_per_minute")
        }
      })
    )

    it.effect("that is used up stops this key before anything is done, and no other", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const flooding = yield* gateway.customer("100", { key: { requests_per_minute: 5 } })
        const other = yield* gateway.customer("100")
        const sibling = yield* gateway.admin(`/members/${flooding.memberId}/keys`, {
          json: { name: "sibling" }
        })
        const { key: siblingKey } = yield* bodyAs(Schema.Struct({ key: Schema.String }), sibling)
        const accepted = Effect.map(
          gateway.simulator.book,
          (book) => book.filter(({ event }) => event === "accepted").length
        )
        const before = yield* accepted
        const flood = Effect.forEach(
          Array.from({ length: 300 }, (_, index) => index),
          (index) => orderImages(flooding, { model: "paint-1", prompt: `p${index}` }),
          { concurrency: 16 }
        )
        const others = Effect.forEach(
          Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? other.key : siblingKey)),
          (key) =>
            gateway.call("/v1/images/generations", {
              key,
              json: { model: "paint-1", prompt: "x" }
            }),
          { concurrency: 4 }
        )
        const [floods, served] = yield* Effect.all([flood, others], { concurrency: "unbounded" })
        assert.deepEqual([...new Set(served.map(({ status }) => status))], [200])
        const limited = floods.filter(({ status }) => status !== 200)
        for (const answer of limited) yield* assertLimited(answer)
        // Five at once, and one for every 12 seconds that passed.
        assert.isAtLeast(limited.length, 290)
        assert.isAtLeast(floods.length - limited.length, 5)
        assert.strictEqual(
          (yield* accepted) - before,
          served.length + floods.length - limited.length
        )
        const sql = yield* SqlClient.SqlClient
        const holds = yield* sql`
          SELECT count(*)::int AS holds FROM orders
           WHERE organization_id = ${flooding.organizationId}`
        assert.deepEqual(holds, [{ holds: floods.length - limited.length + 15 }])
      })
    )

    it.effect("is told without a question to the database, and without the body", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1", { key: { requests_per_minute: 1 } })
        assert.strictEqual((yield* gateway.call("/v1/models", { key })).status, 200)
        yield* withoutConnections(
          Effect.gen(function* () {
            yield* assertLimited(yield* gateway.call("/v1/balance", { key }))
            yield* assertLimited(
              yield* gateway.call("/v1/images/generations", { key, body: "{ not json" })
            )
          })
        )
      })
    )
  }
)

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
