/** Budgets over HTTP: what operators write, what clients are refused with, and what is said of bad input. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BudgetView } from "../../src/http/api/admin/budgets.ts"
import { list } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { textCatalog } from "../support/textCatalog.ts"

const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    budget: Schema.String,
    scope: Schema.String,
    period: Schema.String,
    amount: Schema.String,
    used: Schema.String,
    required: Schema.String,
    retry_after: Schema.NullOr(Schema.Int)
  })
})

const AgentKey = Schema.Struct({ key: Schema.String, budget: BudgetView })
const OwnKey = Schema.Struct({ id: Schema.String })
const QuotedOrder = Schema.Struct({
  hold: Schema.String,
  expected_charge: Schema.String,
  capped: Schema.optionalKey(Schema.Boolean)
})

const pathOf = ({ organizationId }: Customer, id = "") =>
  `/organizations/${organizationId}/budgets${id}`

const budget = Effect.fnUntraced(function* (who: Customer, json: object) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(pathOf(who), { json })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(BudgetView, answer)
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`budgets (${kind})`, (it) => {
    it.effect("are read with the balance, as far as they bound the key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100", { monthlyCap: "50" })
        const other = yield* gateway.customer("100")
        const holder = yield* bodyAs(
          Schema.Struct({ id: Schema.String }),
          yield* gateway.call("/v1/me", { key: who.key })
        )
        yield* budget(other, { scope: "organization", period: "day", amount: "1" })
        const own = yield* budget(who, {
          scope: "key",
          subject_id: holder.id,
          period: "total",
          amount: "0.5"
        })
        assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
        const { budgets } = yield* bodyAs(
          Schema.Struct({ budgets: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) }),
          yield* gateway.call("/v1/balance", { key: who.key })
        )
        const cap = budgets.find(({ scope }) => scope === "member")
        assert.deepInclude(cap, { period: "month", amount: "50", is_member_cap: true })
        assert.isString(cap?.resets_at)
        assert.deepStrictEqual(
          budgets.filter((one) => one !== cap),
          [
            {
              id: own.id,
              scope: "key",
              period: "total",
              amount: "0.5",
              used: "0.2",
              available: "0.3",
              is_member_cap: false,
              resets_at: null
            }
          ]
        )
      })
    )

    it.effect(
      "refuse every kind of order with 429, name themselves, and count what is charged",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const made = yield* budget(who, { scope: "organization", period: "month", amount: "5.3" })
          assert.deepInclude(made, {
            object: "budget",
            subject_id: who.organizationId,
            amount: "5.3",
            used: "0",
            thresholds: [50, 80, 100],
            exceeded: false,
            is_member_cap: false
          })
          const video = yield* createVideo(who, { model: "film-1" })
          const running = yield* bodyAs(
            BudgetView,
            yield* gateway.admin(pathOf(who, `/${made.id}`))
          )
          assert.deepInclude(running, { held: "4.968", charged: "0", available: "0.332" })
          const refused = yield* orderImages(who, { model: "paint-1", n: 2 })
          assert.strictEqual(refused.status, 429)
          const { error } = yield* bodyAs(Refused, refused)
          assert.deepInclude(error, {
            code: "budget_exceeded",
            budget: made.id,
            scope: "organization",
            period: "month",
            amount: "5.3",
            used: "4.968",
            required: "0.4"
          })
          assert.include(
            error.message,
            "This request needs 0.4 CNY; of the organisation's budget of 5.3 a month, 4.968 is used"
          )
          assert.isAbove(error.retry_after ?? 0, 0)
          assert.strictEqual(refused.headers.get("retry-after"), String(error.retry_after))
          assert.strictEqual(refused.headers.get("x-should-retry"), "false")
          yield* finishVideo(who, video)
          assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
          const spent = yield* bodyAs(
            list(BudgetView),
            yield* gateway.admin(pathOf(who, `?subject_id=${who.organizationId}`))
          )
          const [after] = spent.data
          assert.strictEqual(after?.held, "0")
          assert.strictEqual(after?.used, after?.charged)

          const total = yield* budget(who, { scope: "organization", period: "total", amount: "1" })
          assert.deepInclude(total, { exceeded: true, available: "0", resets_at: null })
          const never = yield* bodyAs(Refused, yield* orderImages(who, { model: "paint-1" }))
          assert.deepInclude(never.error, { budget: made.id })
          yield* gateway.admin(pathOf(who, `/${made.id}`), { method: "DELETE" })
          const last = yield* orderImages(who, { model: "paint-1" })
          assert.deepInclude((yield* bodyAs(Refused, last)).error, {
            budget: total.id,
            retry_after: null
          })
          assert.isNull(last.headers.get("retry-after"))
          yield* gateway.admin(pathOf(who, `/${total.id}`), {
            method: "PATCH",
            json: { amount: "100", thresholds: [] }
          })
          assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 200)
        })
    )

    it.effect("a key that is created with a budget never spends more, however parallel", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1000")
        const created = yield* gateway.admin(`/members/${who.memberId}/keys`, {
          json: { name: "Agent", budget: { amount: "20", period: "total" } }
        })
        assert.strictEqual(created.status, 200, created.text)
        const { key, budget } = yield* bodyAs(AgentKey, created)
        assert.deepInclude(budget, {
          scope: "key",
          period: "total",
          amount: "20",
          available: "20",
          thresholds: [50, 80, 100]
        })
        const agent = { ...who, key }
        const order = { model: "film-1", prompt: "a lighthouse" }
        const quoted = yield* gateway.call("/v1/quotes", { key: agent.key, json: order })
        // A tenth above the formula, for the frames that vendors count.
        const terms = { hold: "5.4648", capped: true, expected_charge: "4.968" }
        assert.deepInclude(yield* bodyAs(QuotedOrder, quoted), terms)
        assert.notProperty(
          yield* bodyAs(
            QuotedOrder,
            yield* gateway.call("/v1/quotes", { key: who.key, json: order })
          ),
          "capped"
        )
        const answers = yield* Effect.forEach(
          Array.from({ length: 12 }),
          (_, index) =>
            index % 2 === 0
              ? orderVideo(agent, order)
              : orderImages(agent, { model: "paint-1", n: 10 }),
          { concurrency: 12 }
        )
        const refused = answers.filter(({ status }) => status !== 200)
        assert.isAbove(refused.length, 0)
        for (const answer of refused) {
          const { error } = yield* bodyAs(Refused, answer)
          assert.deepInclude(error, { budget: budget.id, scope: "key", amount: "20" })
        }
        const path = pathOf(who, `/${budget.id}`)
        const spent = yield* bodyAs(BudgetView, yield* gateway.admin(path))
        // The prices of the orders are 5.4648 and 2, so less than 2 is left of it.
        assert.isBelow(Number(spent.available), 2)
        assert.isFalse(spent.exceeded)
        yield* gateway.verify
      })
    )

    it.effect("a budget of a key caps its orders from then on, and a removed one no longer", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1000")
        const { id: keyId } = yield* bodyAs(OwnKey, yield* gateway.call("/v1/me", { key: who.key }))
        const holdOf = Effect.map(
          Effect.flatMap(
            gateway.call("/v1/quotes", { key: who.key, json: { model: "film-1", prompt: "x" } }),
            (answer) => bodyAs(QuotedOrder, answer)
          ),
          ({ hold }) => hold
        )
        assert.strictEqual(yield* holdOf, "4.968")
        const made = yield* budget(who, {
          scope: "key",
          subject_id: keyId,
          period: "day",
          amount: "1000"
        })
        assert.strictEqual(yield* holdOf, "5.4648")
        yield* gateway.admin(pathOf(who, `/${made.id}`), { method: "DELETE" })
        assert.strictEqual(yield* holdOf, "4.968")
      })
    )

    it.effect.each([
      [{}, "scope"],
      [{ scope: "team", period: "day", amount: "1" }, "scope"],
      [{ scope: "key", period: "day", amount: "1" }, "subject_id"],
      [{ scope: "organization", period: "week", amount: "1" }, "period"],
      [{ scope: "organization", period: "day", amount: "-1" }, "amount"],
      [{ scope: "organization", period: "day", amount: 1 }, "amount"],
      [{ scope: "organization", period: "day", amount: "1", thresholds: [0] }, "thresholds[0]"],
      [{ scope: "organization", period: "day", amount: "1", thresholds: [1.5] }, "thresholds[0]"],
      [{ scope: "organization", period: "day", amount: "1", limit: "2" }, "limit"]
    ] as const)("%j is refused, and the field named", ([json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* gateway.admin(pathOf(who), { json })
        assert.strictEqual(answer.status, 400, answer.text)
        const error = yield* errorOf(answer)
        assert.deepStrictEqual([error.code, error.param], ["invalid_request", param])
        const none = yield* bodyAs(list(BudgetView), yield* gateway.admin(pathOf(who)))
        assert.deepStrictEqual(none.data, [])
      })
    )

    it.effect("of another organisation's key there is none", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [who, other] = [yield* gateway.customer("1"), yield* gateway.customer("1")]
        const foreign = { scope: "member", subject_id: other.memberId, period: "day", amount: "1" }
        const answer = yield* gateway.admin(pathOf(who), { json: foreign })
        assert.strictEqual(answer.status, 404, answer.text)
        const unknown = yield* gateway.admin("/organizations/nobody/budgets", {
          json: { scope: "organization", period: "day", amount: "1" }
        })
        assert.strictEqual(unknown.status, 404)
      })
    )
  })
}
