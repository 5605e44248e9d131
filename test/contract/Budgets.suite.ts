/** What stores must hold to of budgets: what counts in them, what they refuse, and what is told. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BudgetExceeded } from "../../src/domain/Errors.ts"
import { Access, allScopes } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { Budgets, type NewBudget } from "../../src/services/money/Budgets.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"
import { claim, endpointOf } from "./Webhooks.suite.ts"

const decodeTold = Schema.decodeUnknownEffect(
  Schema.Struct({ budget_id: Schema.String, threshold: Schema.Int, used: Schema.String })
)

/** An organisation of two members, whose first one has two keys. */
const keyed = Effect.gen(function* () {
  const access = yield* Access
  const budgets = yield* Budgets
  const own = yield* organization(1000n, 2)
  const { organizationId, memberIds } = own
  const [memberId = "", otherId = ""] = memberIds
  const key = { name: "k", scopes: allScopes, models: null, expiresAt: null }
  const { id: keyId } = yield* access.createKey(memberId, key)
  const { id: secondKeyId } = yield* access.createKey(memberId, key)
  const subjects = { organization: organizationId, member: memberId, key: keyId }
  const budgetOf = (
    scope: NewBudget["scope"],
    period: NewBudget["period"],
    amountNano: bigint,
    more: Partial<NewBudget> = {}
  ) =>
    budgets.create({
      organizationId,
      scope,
      subjectId: subjects[scope],
      period,
      amountNano,
      thresholds: [50, 80, 100],
      ...more
    })
  return { ...own, memberId, otherId, keyId, secondKeyId, budgetOf }
})

/** The budget that refuses, with its use, in nano-units. */
const refusalOf = Effect.fnUntraced(function* (request: HoldRequest) {
  const error = yield* Effect.flip((yield* Ledger).hold(request))
  return error instanceof BudgetExceeded ? [error.budget, error.used] : [error._tag]
})

export const budgetsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("an order must fit into each of them, and the narrowest without room is named", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const budgets = yield* Budgets
      const { organizationId, memberId, otherId, keyId, secondKeyId, hold, budgetOf } = yield* keyed
      const whole = yield* budgetOf("organization", "total", 100n)
      const member = yield* budgetOf("member", "month", 60n)
      const month = yield* budgetOf("key", "month", 40n)
      const day = yield* budgetOf("key", "day", 40n)
      assert.deepStrictEqual([whole.resetsAt, whole.startedAt], [null, null])
      assert.isTrue(day.resetsAt !== null && month.resetsAt !== null)

      yield* ledger.hold(hold(30n, { memberId, keyId }))
      assert.deepStrictEqual(yield* refusalOf(hold(11n, { memberId, keyId })), [
        day.id,
        "0.00000003"
      ])
      yield* ledger.hold(hold(30n, { memberId, keyId: secondKeyId }))
      const beside = hold(1n, { memberId, keyId: secondKeyId })
      assert.deepStrictEqual(yield* refusalOf(beside), [member.id, "0.00000006"])
      // Who is wider is refused by what is wider.
      yield* ledger.hold(hold(40n, { memberId: otherId, keyId: "k" }))
      assert.deepStrictEqual(yield* refusalOf(hold(1n, { memberId: otherId, keyId: "k" })), [
        whole.id,
        "0.0000001"
      ])
      const applying = yield* budgets.listApplicable({ organizationId, memberId, keyId })
      assert.sameMembers(
        applying.map(({ id }) => id),
        [whole, member, month, day].map(({ id }) => id)
      )
      assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
    })
  )

  it.effect("what is charged counts, what is given back does not, and what was before does", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const budgets = yield* Budgets
      const own = yield* keyed
      const { organizationId, memberId, keyId, hold, close, budgetOf } = own
      const by = { memberId, keyId }
      const before = { charged: hold(10n, by), open: hold(20n, by), other: hold(50n) }
      for (const request of Object.values(before)) yield* ledger.hold(request)
      const usage = usageOf(7n)
      yield* ledger.capture({ ...close(before.charged.id), chargeNano: 7n, usage })
      const made = yield* budgetOf("key", "day", 30n)
      assert.deepInclude(made, { heldNano: 20n, capturedNano: 7n, isCap: false })
      assert.deepStrictEqual(yield* refusalOf(hold(4n, by)), [made.id, "0.000000027"])
      yield* ledger.hold(hold(3n, by))
      yield* ledger.release({ ...close(before.open.id), orphan: null, forgetKey: false })
      assert.deepInclude(yield* budgets.find(organizationId, made.id), {
        heldNano: 3n,
        capturedNano: 7n
      })
      const above = hold(20n, by)
      yield* ledger.hold(above)
      yield* ledger.capture({ ...close(above.id), chargeNano: 90n, usage: usageOf(90n) })
      assert.deepInclude(yield* budgets.find(organizationId, made.id), {
        heldNano: 3n,
        capturedNano: 97n
      })
      assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])

      // One more budget on the same key has all of it; without both, nothing refuses.
      const second = yield* budgetOf("key", "total", 50n)
      assert.deepInclude(second, { heldNano: 3n, capturedNano: 97n })
      yield* budgets.change(organizationId, made.id, { amountNano: 1000n })
      assert.deepStrictEqual(yield* refusalOf(hold(1n, by)), [second.id, "0.0000001"])
      yield* budgets.remove(organizationId, second.id)
      yield* ledger.hold(hold(1n, by))
      assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
      const gone = yield* Effect.flip(budgets.find(organizationId, second.id))
      assert.strictEqual(gone._tag, "not_found")
    })
  )

  it.effect("a percent is told once in a period, and a refusal tells all up to 100", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const budgets = yield* Budgets
      const { organizationId, memberId, keyId, hold, close, budgetOf } = yield* keyed
      const { endpoint } = yield* endpointOf(organizationId, ["budget.threshold"])
      const { id } = yield* budgetOf("key", "month", 100n)
      const by = { memberId, keyId }
      const told = Effect.flatMap(claim([endpoint.id]), (messages) =>
        Effect.forEach(messages, ({ data }) =>
          Effect.map(decodeTold(data), ({ budget_id, threshold, used }) => [
            budget_id,
            threshold,
            used
          ])
        )
      )
      const first = hold(49n, by)
      yield* ledger.hold(first)
      assert.deepStrictEqual(yield* told, [])
      yield* ledger.hold(hold(1n, by))
      assert.deepStrictEqual(yield* told, [[id, 50, "0.00000005"]])
      yield* ledger.release({ ...close(first.id), orphan: null, forgetKey: false })
      yield* ledger.hold(hold(78n, by))
      assert.deepStrictEqual(yield* told, [])
      assert.deepStrictEqual(yield* refusalOf(hold(22n, by)), [id, "0.000000079"])
      assert.sameDeepMembers(yield* told, [
        [id, 80, "0.000000079"],
        [id, 100, "0.000000079"]
      ])
      yield* refusalOf(hold(22n, by))
      yield* budgets.change(organizationId, id, { thresholds: [60, 150] })
      yield* budgets.change(organizationId, id, { amountNano: 50n })
      assert.deepStrictEqual(yield* told, [[id, 150, "0.000000079"]])
      // What is used already is told when the budget begins.
      const late = yield* budgetOf("member", "total", 100n)
      assert.deepStrictEqual(yield* told, [[late.id, 50, "0.000000079"]])
    })
  )

  it.effect("a member's cap is one of them, set with the member", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const budgets = yield* Budgets
      const accounts = yield* Accounts
      const { organizationId, memberId, keyId, hold, budgetOf } = yield* keyed
      const by = { memberId, keyId }
      yield* ledger.hold(hold(10n, by))
      yield* accounts.changeMember(memberId, { monthlyCapNano: 30n })
      const page = { after: null, limit: 9 }
      const list = () => budgets.list(organizationId, null, page)
      const [cap] = (yield* list()).data
      assert.deepInclude(cap, {
        scope: "member",
        period: "month",
        subjectId: memberId,
        isCap: true,
        amountNano: 30n,
        heldNano: 10n,
        thresholds: [50, 80, 100]
      })
      assert.deepStrictEqual(yield* refusalOf(hold(21n, by)), ["member_cap_exceeded"])
      // A smaller one of the same kind comes before it, and a wider one after.
      const smaller = yield* budgetOf("member", "month", 20n)
      yield* budgetOf("organization", "day", 20n)
      assert.deepStrictEqual(yield* refusalOf(hold(21n, by)), [smaller.id, "0.00000001"])
      yield* budgets.remove(organizationId, smaller.id)
      assert.deepStrictEqual(yield* refusalOf(hold(21n, by)), ["member_cap_exceeded"])
      yield* budgets.change(organizationId, cap?.id ?? "", { amountNano: 100n })
      assert.deepInclude(yield* accounts.member(memberId), { capNano: 100n, heldNano: 10n })
      yield* accounts.changeMember(memberId, { monthlyCapNano: null })
      assert.lengthOf((yield* list()).data, 1)
      yield* accounts.changeMember(memberId, { monthlyCapNano: 5n })
      assert.deepStrictEqual(yield* refusalOf(hold(1n, by)), ["member_cap_exceeded"])
      assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
    })
  )

  it.effect("of all organisations are listed by the share of them that is used", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const budgets = yield* Budgets
      const { memberId, keyId, hold, budgetOf } = yield* keyed
      const other = yield* keyed
      const large = yield* budgetOf("key", "day", 100n)
      const small = yield* budgetOf("member", "month", 20n)
      yield* budgetOf("member", "total", 1_000n)
      const others = yield* other.budgetOf("key", "total", 10n)
      yield* ledger.hold(hold(16n, { memberId, keyId }))
      yield* ledger.hold(other.hold(8n, { memberId: other.memberId, keyId: other.keyId }))
      const own = new Set([large.id, small.id, others.id])
      const listed = (minPercent: number) =>
        Effect.map(budgets.listUsed(minPercent, { after: null, limit: 100 }), ({ data }) =>
          data.map(({ id }) => id).filter((id) => own.has(id))
        )
      assert.deepStrictEqual(yield* listed(80), [others.id, small.id])
      assert.deepStrictEqual(yield* listed(81), [])
      assert.deepStrictEqual(yield* listed(16), [others.id, small.id, large.id])
      const next = yield* budgets.listUsed(80, { after: others.id, limit: 1 })
      assert.deepStrictEqual(
        next.data.map(({ id }) => id),
        [small.id]
      )
    })
  )

  it.effect("are listed newest first, in pages, and of one subject", () =>
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const { organizationId, keyId, budgetOf } = yield* keyed
      const made: Array<string> = []
      for (const period of ["day", "month", "total"] as const) {
        made.unshift((yield* budgetOf("key", period, 1n)).id)
      }
      yield* budgetOf("member", "day", 1n)
      const list = (after: string | null, limit: number) =>
        Effect.map(budgets.list(organizationId, keyId, { after, limit }), ({ data, hasMore }) => [
          ...data.map(({ id }) => id),
          hasMore
        ])
      assert.deepStrictEqual(yield* list(null, 2), [...made.slice(0, 2), true])
      assert.deepStrictEqual(yield* list(made[1] ?? null, 2), [...made.slice(2), false])
      const stranger = yield* organization(1n)
      const strangers = { organizationId: stranger.organizationId, amountNano: 1n, thresholds: [] }
      for (const scope of ["organization", "member", "key"] as const) {
        const subjectId = { organization: organizationId, member: "m", key: keyId }[scope]
        const refused = yield* Effect.flip(
          budgets.create({ ...strangers, scope, subjectId, period: "day" })
        )
        assert.strictEqual(refused._tag, "not_found")
      }
      for (const foreign of [
        budgets.find(stranger.organizationId, made[0] ?? ""),
        budgets.change(stranger.organizationId, made[0] ?? "", { amountNano: 5n }),
        budgets.remove(stranger.organizationId, made[0] ?? "")
      ]) {
        assert.strictEqual((yield* Effect.flip(foreign))._tag, "not_found")
      }
      assert.strictEqual((yield* budgets.find(organizationId, made[0] ?? "")).amountNano, 1n)
    })
  )
}
