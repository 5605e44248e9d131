import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"

const film = { model: "film-1", prompt: "a lighthouse sim:slow=100000" }

const order = (who: Customer, json: Record<string, unknown>, resource = "videos") =>
  Effect.flatMap(Gateway, (gateway) =>
    gateway.call(`/v1/${resource}/generations`, { key: who.key, json })
  )

const Journal = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      kind: Schema.String,
      amount: Schema.String,
      debit: Schema.String,
      credit: Schema.String
    })
  ),
  has_more: Schema.Boolean
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `money (${kind})`,
    (it) => {
      it.effect("200 orders at once against a balance for 20: 20 accepted, 180 times 402", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("99.36")
          const before = (yield* gateway.simulator.book).length
          const answers = yield* Effect.all(
            Array.from({ length: 200 }, () => order(who, film)),
            { concurrency: "unbounded" }
          )
          const count = (status: number) =>
            answers.filter((answer) => answer.status === status).length
          assert.deepEqual([count(200), count(402)], [20, 180])
          const booked = (yield* gateway.simulator.book).slice(before)
          assert.strictEqual(booked.filter((entry) => entry.event === "accepted").length, 20)
          assert.deepInclude(yield* gateway.balance(who), {
            balance: "99.36",
            held: "99.36",
            available: "0"
          })
          yield* gateway.verify
        })
      )

      it.effect("an empty pool is told what is needed and what there is", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("4.967999999")
          const answer = yield* order(who, film)
          assert.strictEqual(answer.status, 402)
          assert.deepNestedInclude(answer.body, {
            "error.type": "billing_error",
            "error.code": "insufficient_balance",
            "error.param": null,
            "error.required": "4.968",
            "error.available": "4.967999999"
          })
          yield* gateway.admin(`/organizations/${who.organizationId}/deposits`, {
            json: { amount: "0.000000001", reference: randomUUID() }
          })
          assert.strictEqual((yield* order(who, film)).status, 200)
        })
      )

      it.effect(
        "a member's cap ends in 429 until the next month, before the pool and the vendor",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            const who = yield* gateway.customer("1", { monthlyCap: "0.5" })
            const before = (yield* gateway.simulator.book).length
            const paint = { model: "paint-1", prompt: "x", n: 2 }
            const first = yield* order(who, paint, "images")
            assert.strictEqual(first.status, 200, first.text)
            const second = yield* order(who, paint, "images")
            assert.strictEqual(second.status, 429)
            assert.deepNestedInclude(second.body, {
              "error.type": "billing_error",
              "error.code": "member_cap_exceeded",
              "error.cap": "0.5",
              "error.used": "0.4",
              "error.required": "0.4"
            })
            const month = new Date()
            const next = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1)
            const wait = Number(second.headers.get("retry-after"))
            assert.isAtMost(Math.abs(Date.now() + wait * 1000 - next), 120_000)
            assert.strictEqual(second.headers.get("x-should-retry"), "false")
            // Beyond the pool as well, but the cap answers first.
            assert.strictEqual((yield* order(who, film)).status, 429)
            const booked = (yield* gateway.simulator.book).slice(before)
            assert.strictEqual(booked.filter((entry) => entry.event === "accepted").length, 1)
            const balance = yield* gateway.balance(who)
            assert.deepEqual(balance.month, { cap: "0.5", used: "0.4", held: "0" })
          })
      )

      it.effect("100 orders at once against a cap for 10: 10 accepted, 90 times 429", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("1000", { monthlyCap: "49.68" })
          const answers = yield* Effect.all(
            Array.from({ length: 100 }, () => order(who, film)),
            { concurrency: "unbounded" }
          )
          const accepted = answers.filter((answer) => answer.status === 200).length
          assert.deepEqual([accepted, answers.length - accepted], [10, 90])
          assert.deepEqual((yield* gateway.balance(who)).month, {
            cap: "49.68",
            used: "0",
            held: "49.68"
          })
          yield* gateway.verify
        })
      )

      it.effect("a deposit counts once per reference", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("0")
          const path = `/organizations/${who.organizationId}/deposits`
          const json = { amount: "12.5", reference: "invoice 1" }
          const answers = yield* Effect.all(
            Array.from({ length: 10 }, () => gateway.admin(path, { json })),
            { concurrency: "unbounded" }
          )
          const applied = answers.filter((answer) => /"applied":true/.test(answer.text))
          assert.strictEqual(applied.length, 1)
          const other = yield* gateway.admin(path, { json: { ...json, amount: "13" } })
          assert.strictEqual(other.status, 422)
          assert.deepNestedInclude(other.body, { "error.code": "idempotency_mismatch" })
          assert.strictEqual((yield* gateway.balance(who)).balance, "12.5")
          for (const amount of ["0", "-1", "1e3", "1.0000000001", "NaN", 5, "", "10000000000"]) {
            const refused = yield* gateway.admin(path, { json: { amount, reference: "x" } })
            assert.strictEqual(refused.status, 400, String(amount))
            assert.deepNestedInclude(refused.body, { "error.param": "amount" })
          }
        })
      )

      it.effect("the journal tells every movement, newest first, in pages", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          yield* order(who, { model: "paint-1", prompt: "x" }, "images")
          yield* order(who, { model: "paint-1", prompt: "x sim:moderate-input" }, "images")
          const path = `/organizations/${who.organizationId}/ledger`
          const whole = yield* bodyAs(Journal, yield* gateway.admin(path))
          const kinds = whole.data.map((entry) => `${entry.kind} ${entry.amount}`)
          assert.deepEqual([...kinds].sort(), [
            "capture 0.2",
            "deposit 10",
            "hold 0.2",
            "hold 0.2",
            "release 0.2",
            "release 0.2"
          ])
          assert.strictEqual(kinds[0], "release 0.2")
          assert.strictEqual(kinds[5], "deposit 10")

          const first = yield* bodyAs(Journal, yield* gateway.admin(`${path}?limit=3`))
          assert.deepEqual([first.data.length, first.has_more], [3, true])
          const last = first.data[2]?.id ?? ""
          const rest = yield* bodyAs(
            Journal,
            yield* gateway.admin(`${path}?limit=3&after=${encodeURIComponent(last)}`)
          )
          assert.isFalse(rest.has_more)
          const nowhere = yield* gateway.admin(`${path}?after=hold_nobody`)
          assert.deepNestedInclude(nowhere.body, { "error.param": "after" })
          assert.deepEqual([...first.data, ...rest.data], [...whole.data])

          const fold = (account: string) =>
            whole.data.reduce((sum, entry) => {
              const sign = entry.credit === account ? 1 : entry.debit === account ? -1 : 0
              return sum + sign * Number(entry.amount) * 10
            }, 0)
          assert.deepEqual([fold("pool"), fold("held"), fold("revenue")], [98, 0, 2])
        })
      )

      it.effect("a client that goes away in the middle neither loses money nor the charge", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("10")
          const before = (yield* gateway.simulator.book).length
          const leave = Effect.timeoutOption(
            order(who, { model: "paint-1", prompt: "x", size: "1024x1024" }, "images"),
            "3 millis"
          )
          yield* Effect.all(
            Array.from({ length: 20 }, () => leave),
            { concurrency: 5 }
          )
          /** An order of a client that has gone may still be on its way. */
          const settled = Effect.gen(function* () {
            const { balance, held } = yield* gateway.balance(who)
            const booked = (yield* gateway.simulator.book)
              .slice(before)
              .filter((entry) => entry.event === "accepted")
            const spent = 10 - Number(balance)
            return held === "0" && spent.toFixed(1) === (booked.length * 0.2).toFixed(1)
          })
          yield* settled.pipe(
            Effect.delay("200 millis"),
            Effect.repeat({ until: (isSettled) => isSettled }),
            Effect.timeout("30 seconds")
          )
          yield* gateway.verify
        })
      )
    }
  )
}
