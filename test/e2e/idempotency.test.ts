import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"

const film = { model: "film-1", prompt: "a lighthouse sim:slow=100000" }
const paint = { model: "paint-1", prompt: "a lighthouse" }

const order = (
  who: Customer,
  key: string,
  json: Readonly<Record<string, unknown>>,
  resource: "videos" | "images" = "videos"
) =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/${resource}/generations`, {
      key: who.key,
      json,
      headers: { "idempotency-key": key }
    })
  )

const replayed = (answer: HttpAnswer) => answer.headers.get("idempotency-replayed")

const jobs = Effect.gen(function* () {
  const { simulator } = yield* Gateway
  return (yield* simulator.book).filter((entry) => entry.event === "accepted").length
})

const answeredAlike = (first: HttpAnswer, second: HttpAnswer) => {
  assert.isNull(replayed(first))
  assert.strictEqual(replayed(second), "true")
  assert.deepEqual([second.status, second.text], [first.status, first.text])
}

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `requests with an Idempotency-Key (${kind})`,
    (it) => {
      it.effect.each([
        ["a video", "videos", film, "95.032"],
        ["images by address", "images", { ...paint, n: 2 }, "99.6"],
        ["images in base64", "images", { ...paint, response_format: "b64_json" }, "99.8"]
      ] as const)("%s: the repeat is answered like the first and costs nothing", (row) =>
        Effect.gen(function* () {
          const [, resource, body, available] = row
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const key = randomUUID()
          const before = yield* jobs
          const first = yield* order(who, key, body, resource)
          assert.strictEqual(first.status, 200)
          const { model, ...rest } = body
          answeredAlike(first, yield* order(who, key, { ...rest, model }, resource))
          assert.strictEqual((yield* jobs) - before, 1)
          assert.strictEqual((yield* gateway.balance(who)).available, available)
          yield* gateway.verify
        })
      )

      it.effect("50 at once are one order, and all end with its answer", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("4.968")
          const key = randomUUID()
          const before = yield* jobs
          const running: Array<HttpAnswer> = []
          const once = Effect.flatMap(order(who, key, film), (answer) => {
            if (answer.status === 200) return Effect.succeed(answer.text)
            running.push(answer)
            return Effect.fail(answer)
          }).pipe(Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 }))
          const texts = yield* Effect.all(
            Array.from({ length: 50 }, () => once),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(new Set(texts).size, 1)
          assert.strictEqual((yield* jobs) - before, 1)
          for (const answer of running) {
            assert.deepNestedInclude(answer.body, { "error.code": "idempotency_conflict" })
            assert.deepEqual([answer.status, answer.headers.get("retry-after")], [409, "1"])
          }
          yield* gateway.verify
        })
      )

      it.effect("another body or another route under the key is a mismatch", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const key = randomUUID()
          const before = yield* jobs
          yield* order(who, key, film)
          for (const other of [
            yield* order(who, key, { ...film, duration: 6 }),
            yield* order(who, key, paint, "images")
          ]) {
            assert.strictEqual(other.status, 422)
            assert.deepNestedInclude(other.body, {
              "error.code": "idempotency_mismatch",
              "error.param": "idempotency-key"
            })
          }
          assert.strictEqual((yield* jobs) - before, 1)
        })
      )

      it.effect("another organisation's key of the same name is its own", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const [left, right] = [yield* gateway.customer("100"), yield* gateway.customer("100")]
          const key = randomUUID()
          const [first, second] = [yield* order(left, key, film), yield* order(right, key, film)]
          assert.deepEqual([first.status, second.status], [200, 200])
          assert.isNull(replayed(second))
          assert.notStrictEqual(first.text, second.text)
        })
      )

      it.effect("what is refused before the vendor is called leaves the key free", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1")
          const key = randomUUID()
          assert.strictEqual((yield* order(who, key, film)).status, 402)
          assert.strictEqual((yield* order(who, key, { ...film, duration: 99 })).status, 400)
          yield* gateway.admin(`/organizations/${who.organizationId}/deposits`, {
            json: { amount: "10", reference: randomUUID() }
          })
          const accepted = yield* order(who, key, film)
          assert.deepEqual([accepted.status, replayed(accepted)], [200, null])
        })
      )

      it.effect.each([
        ["videos", "film-1", "sim:moderate-input"],
        ["videos", "film-1", "sim:lost"],
        ["videos", "film-1", "sim:http500"],
        ["images", "paint-1", "sim:moderate-input"],
        ["images", "paint-1", "sim:lost"]
      ] as const)(
        "%s of %s with %s: the vendor's refusal is answered again, not asked for again",
        (row) =>
          Effect.gen(function* () {
            const [resource, model, prompt] = row
            const gateway = yield* Gateway
            const who = yield* gateway.customer("100")
            const key = randomUUID()
            const first = yield* order(who, key, { model, prompt }, resource)
            assert.isAtLeast(first.status, 400)
            const asked = (yield* gateway.simulator.book).length
            const second = yield* order(who, key, { model, prompt }, resource)
            answeredAlike(first, second)
            assert.strictEqual(
              second.headers.get("x-should-retry"),
              first.headers.get("x-should-retry")
            )
            assert.strictEqual((yield* gateway.simulator.book).length, asked)
            assert.strictEqual((yield* gateway.balance(who)).available, "100")
            yield* gateway.verify
          })
      )

      it.effect("a vendor that had no room leaves the key free for the next try", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const key = randomUUID()
          const body = { model: "film-1", prompt: "sim:rate" }
          for (let attempt = 0; attempt < 2; attempt++) {
            const answer = yield* order(who, key, body)
            assert.deepEqual([answer.status, replayed(answer)], [503, null])
          }
          assert.strictEqual((yield* gateway.balance(who)).available, "100")
        })
      )

      it.effect("a repeat is answered also when the order would not be possible any more", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("4.968")
          const key = randomUUID()
          const quick = { model: "film-1", prompt: "x sim:slow=0" }
          const first = yield* order(who, key, quick)
          yield* gateway
            .balance(who)
            .pipe(Effect.delay("20 millis"), Effect.repeat({ until: ({ held }) => held === "0" }))
          assert.notInclude((yield* gateway.balance(who)).available, "4.968")
          answeredAlike(first, yield* order(who, key, quick))
        })
      )

      it.effect.each([
        ["of 256 characters", "k".repeat(256)],
        ["with a space", "a b"],
        ["that is empty", ""],
        ["beyond ASCII", "é"]
      ])("a key %s is refused and costs nothing", ([, key = ""]) =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const answer = yield* order(who, key, film)
          assert.strictEqual(answer.status, 400)
          assert.deepNestedInclude(answer.body, {
            "error.code": "invalid_request",
            "error.param": "idempotency-key"
          })
          assert.strictEqual((yield* gateway.balance(who)).available, "100")
        })
      )
    }
  )
}

layer(layerTestGateway("postgres", { ...quickSettings, idempotencySeconds: 0.001 }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an Idempotency-Key whose time is over", (it) => {
  it.effect("orders again", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const before = yield* jobs
      yield* order(who, "k", film)
      const later = yield* order(who, "k", film)
      assert.deepEqual([later.status, replayed(later)], [200, null])
      assert.strictEqual((yield* jobs) - before, 2)
      yield* gateway.verify
    })
  )
})
