/** One key that asks too often takes nothing from the others. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { withoutConnections } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { assertLimited } from "../support/limited.ts"
import { orderImages } from "../support/orders.ts"

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
