/** Where a budget's periods end and begin, which no clock of a test can move: rows are set back instead. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BudgetExceeded } from "../../../src/domain/Errors.ts"
import { Ledger } from "../../../src/services/Ledger.ts"
import { Budgets, type NewBudget } from "../../../src/services/money/Budgets.ts"
import { layerStoresOnServer, organization, usageOf } from "../../support/ledger.ts"

const Uses = Schema.Array(
  Schema.Struct({
    held: Schema.BigInt,
    captured: Schema.BigInt,
    next_threshold_amount: Schema.NullOr(Schema.BigInt)
  })
)

/** An organisation, whose budget of a period is made by `budgetOf`. */
const owner = Effect.gen(function* () {
  const budgets = yield* Budgets
  const own = yield* organization(1000n)
  const { organizationId } = own
  const budgetOf = (period: NewBudget["period"]) =>
    budgets.create({
      organizationId,
      scope: "organization",
      subjectId: organizationId,
      period,
      amountNano: 100n,
      thresholds: [50, 80]
    })
  return { ...own, budgetOf }
})

const usesOf = Effect.fnUntraced(function* (budgetId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT held, captured, next_threshold_amount FROM budget_uses WHERE budget_id = ${budgetId} ORDER BY start`
  return yield* Schema.decodeUnknownEffect(Uses)(rows)
})

layer(layerStoresOnServer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "the periods of budgets",
  (it) => {
    it.effect.each(["day", "month"] as const)("the next %s begins with its first order", (period) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const { hold, close, budgetOf } = yield* owner
        const { id } = yield* budgetOf(period)
        const before = hold(90n)
        yield* ledger.hold(before)
        // The period that the order was taken in is over.
        yield* sql`
          UPDATE budget_uses SET id = ${`${id}@2020-01-01`}, start = '2020-01-01' WHERE budget_id = ${id}`
        yield* sql`UPDATE orders SET counts_in = ARRAY[${`${id}@2020-01-01`}] WHERE id = ${before.id}`
        yield* ledger.hold(hold(60n))
        const refused = yield* Effect.flip(ledger.hold(hold(41n)))
        assert.instanceOf(refused, BudgetExceeded)
        yield* ledger.capture({ ...close(before.id), chargeNano: 70n, usage: usageOf(70n) })
        const [last, present] = yield* usesOf(id)
        assert.deepInclude(last, { held: 0n, captured: 70n })
        assert.deepInclude(present, { held: 60n, captured: 0n })
      })
    )

    it.effect("a new budget counts what was ordered in its period", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const { hold, close, budgetOf } = yield* owner
        for (const [created, charge] of [
          ["2020-01-31T12:00:00Z", 30n],
          [null, 7n]
        ] as const) {
          const request = hold(charge)
          yield* ledger.hold(request)
          yield* sql`
            UPDATE orders SET created_at = coalesce(${created}::timestamptz, created_at) WHERE id = ${request.id}`
          yield* ledger.capture({
            ...close(request.id),
            chargeNano: charge,
            usage: usageOf(charge)
          })
        }
        const captured = { day: 7n, month: 7n, total: 37n } as const
        for (const period of ["day", "month", "total"] as const) {
          const { id } = yield* budgetOf(period)
          assert.deepStrictEqual(
            (yield* usesOf(id)).map((use) => use.captured),
            [captured[period]],
            period
          )
        }
      })
    )

    it.effect("what was told waits for the next percent", () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { hold, budgetOf } = yield* owner
        const { id } = yield* budgetOf("total")
        for (const [amount, next] of [
          [49n, 50n],
          [1n, 80n],
          [40n, null]
        ] as const) {
          yield* ledger.hold(hold(amount))
          assert.deepStrictEqual(
            (yield* usesOf(id)).map(({ next_threshold_amount }) => next_threshold_amount),
            [next]
          )
        }
      })
    )
  }
)
