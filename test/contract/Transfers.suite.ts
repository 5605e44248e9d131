/** What every store of money that moves without an order must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../src/services/Ledger.ts"
import { type NewAdjustment, Transfers } from "../../src/services/money/Transfers.ts"
import { UsageLog, usageId } from "../../src/services/UsageLog.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"
import { quote } from "../support/tasks.ts"

type Own = Effect.Success<ReturnType<typeof organization>>

/** An order of 5 that was charged with `units`; answers its id. */
const charged = Effect.fnUntraced(function* ({ hold, close }: Own, units: bigint) {
  const ledger = yield* Ledger
  const request = hold(5n, { quote })
  yield* ledger.hold(request)
  yield* ledger.capture({ ...close(request.id), chargeNano: units, usage: usageOf(units) })
  return request.id
})

const adjustment = (
  { organizationId }: Own,
  more: Pick<NewAdjustment, "kind" | "amountNano" | "reference"> & Partial<NewAdjustment>
): NewAdjustment => ({ organizationId, reason: "why", author: "Ada", orderId: null, ...more })

export const transfersSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("adjustments move the pool, once per reference", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const transfers = yield* Transfers
      const own = yield* organization(100n)
      const { organizationId } = own
      const credit = adjustment(own, { kind: "credit", amountNano: 7n, reference: "a" })
      const first = yield* transfers.adjust(credit)
      assert.isTrue(first.applied)
      assert.deepInclude(first.adjustment, { ...credit })
      const repeats = yield* Effect.all(
        Array.from({ length: 5 }, () => transfers.adjust({ ...credit, author: "Bob" })),
        { concurrency: "unbounded" }
      )
      for (const repeat of repeats) assert.deepStrictEqual(repeat, { ...first, applied: false })
      for (const other of [
        { amountNano: 8n },
        { reason: "another" },
        { kind: "withdrawal" as const }
      ]) {
        const error = yield* Effect.flip(transfers.adjust({ ...credit, ...other }))
        assert.deepInclude(error, { _tag: "idempotency_mismatch", param: "reference" })
      }
      const deposited = { ...credit, reference: "first" }
      assert.strictEqual(
        (yield* Effect.flip(transfers.adjust(deposited)))._tag,
        "idempotency_mismatch"
      )
      const taken = adjustment(own, { kind: "withdrawal", amountNano: 20n, reference: "b" })
      yield* transfers.adjust(taken)
      assert.strictEqual((yield* ledger.balance(organizationId)).balanceNano, 87n)
      const unknown = adjustment(own, { ...credit, organizationId: "org_nobody" })
      assert.strictEqual((yield* Effect.flip(transfers.adjust(unknown)))._tag, "not_found")
      assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
    })
  )

  it.effect("a withdrawal takes what is available, and nothing that is held", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const transfers = yield* Transfers
      const own = yield* organization(100n)
      yield* ledger.hold(own.hold(30n))
      const take = (amountNano: bigint) =>
        transfers.adjust(adjustment(own, { kind: "withdrawal", amountNano, reference: "a" }))
      const error = yield* Effect.flip(take(71n))
      assert.deepInclude(error, {
        _tag: "insufficient_balance",
        required: "0.000000071",
        available: "0.00000007"
      })
      assert.isTrue((yield* take(70n)).applied)
      assert.deepStrictEqual(yield* ledger.balance(own.organizationId), {
        balanceNano: 30n,
        heldNano: 30n
      })
    })
  )

  it.effect("corrections give a charge back, and no more than it was", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const transfers = yield* Transfers
      const usageLog = yield* UsageLog
      const own = yield* organization(100n)
      const orderId = yield* charged(own, 12n)
      const back = (amountNano: bigint, reference: string, of = orderId) =>
        transfers.adjust(
          adjustment(own, { kind: "correction", amountNano, reference, orderId: of })
        )
      const first = yield* back(5n, "a")
      const error = yield* Effect.flip(back(8n, "b"))
      assert.deepInclude(error, {
        _tag: "invalid_request",
        message: "amount: Of this charge 0.000000007 CNY can be given back"
      })
      const another = yield* charged(own, 5n)
      const repeated = yield* Effect.flip(back(5n, "a", another))
      assert.strictEqual(repeated._tag, "idempotency_mismatch")
      const second = yield* back(7n, "b")
      assert.strictEqual((yield* Effect.flip(back(1n, "c")))._tag, "invalid_request")

      const open = own.hold(10n)
      yield* ledger.hold(open)
      for (const of of [open.id, "im_nothing"]) {
        assert.strictEqual((yield* Effect.flip(back(1n, "d", of)))._tag, "not_found")
      }
      assert.strictEqual((yield* ledger.balance(own.organizationId)).balanceNano, 95n)
      const receipt = yield* usageLog.receipt(own.organizationId, null, usageId(orderId))
      assert.deepStrictEqual(receipt.corrections, [first.adjustment, second.adjustment])
      assert.deepStrictEqual(
        receipt.entries.map(({ kind, amountNano }) => [kind, amountNano]),
        [
          ["hold", 5n],
          ["capture", 12n],
          ["release", 5n],
          ["correction", 5n],
          ["correction", 7n]
        ]
      )
      // What was charged is what was charged: the month counts it.
      const month = yield* ledger.memberMonth(own.organizationId, own.memberIds[0] ?? "")
      assert.strictEqual(month.capturedNano, 17n)
      assert.deepStrictEqual(yield* ledger.verifyOf([own.organizationId]), [])
    })
  )

  it.effect("deposits and adjustments are listed apart, and stand in the journal together", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const transfers = yield* Transfers
      const own = yield* organization(100n)
      const { organizationId } = own
      const made: Array<string> = []
      for (const reference of ["a", "b", "c"]) {
        const credit = adjustment(own, { kind: "credit", amountNano: 1n, reference })
        made.unshift((yield* transfers.adjust(credit)).adjustment.id)
      }
      const page = yield* transfers.adjustments(organizationId, { after: null, limit: 2 })
      const after = page.data.at(-1)?.id ?? null
      const rest = yield* transfers.adjustments(organizationId, { after, limit: 2 })
      assert.deepStrictEqual(
        [...page.data, ...rest.data].map(({ id }) => id),
        made
      )
      assert.isFalse(rest.hasMore)
      const deposits = yield* transfers.deposits(organizationId, { after: null, limit: 9 })
      assert.deepStrictEqual(
        deposits.data.map(({ reference, amountNano }) => [reference, amountNano]),
        [["first", 100n]]
      )
      assert.deepStrictEqual(yield* transfers.depositTotals(organizationId), {
        count: 1,
        amountNano: 100n
      })
      const withdrawn = { kind: "withdrawal", amountNano: 4n, reference: "w" } as const
      yield* transfers.adjust(adjustment(own, withdrawn))
      assert.deepStrictEqual(yield* transfers.adjustmentTotals(organizationId), [
        { kind: "credit", count: 3, amountNano: 3n },
        { kind: "withdrawal", count: 1, amountNano: 4n }
      ])
      assert.deepStrictEqual(yield* transfers.adjustmentTotals("org_nobody"), [])
      const wrong = yield* Effect.flip(transfers.deposits(organizationId, { after, limit: 9 }))
      assert.strictEqual(wrong.param, "after")
      const journal = yield* ledger.journal(organizationId, { after: made[0] ?? null, limit: 9 })
      assert.deepStrictEqual(
        journal.data.map(({ kind, reference, reason, author }) => [
          kind,
          reference,
          reason,
          author
        ]),
        [
          ["credit", "b", "why", "Ada"],
          ["credit", "a", "why", "Ada"],
          ["deposit", "first", null, null]
        ]
      )
    })
  )
}
