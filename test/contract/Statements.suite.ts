/** What stores must tell of months: balances that go on from each other, entries that come to them, seals. */
import { assert, type Vitest } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { Statements } from "../../src/features/statements/Statements.ts"
import { statementFile } from "../../src/features/statements/statementFile.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { orderIdNow, organization, type Stores, usageOf } from "../support/ledger.ts"

const thisMonth = Effect.map(Clock.currentTimeMillis, (millis) =>
  new Date(millis).toISOString().slice(0, 7)
)

/** Deposits, adjustments, charges of two members and models, a failure and an open order. */
const business = Effect.gen(function* () {
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const own = yield* organization(1000n, 2)
  const { organizationId, memberIds, hold, close } = own
  const [first = "", second = ""] = memberIds
  const orders = [
    [{ memberId: first, model: "m1", metadata: { team: "red", b: "2", a: "1" } }, 40n],
    [{ memberId: second, model: "m2", metadata: { team: "red" } }, 30n],
    [{ memberId: second, model: "m1" }, 5n],
    [{ memberId: second, model: "m3" }, null]
  ] as const
  for (const [about, chargeNano] of orders) {
    const request = hold(50n, { ...about, id: yield* orderIdNow })
    yield* ledger.hold(request)
    if (chargeNano === null) {
      yield* ledger.release({ ...close(request.id), orphan: null, forgetKey: false })
      continue
    }
    yield* ledger.capture({ ...close(request.id), chargeNano, usage: usageOf(chargeNano) })
    if (chargeNano === 40n) {
      const why = { reason: "blurred", author: "who", orderId: request.id }
      const correction = { kind: "correction", amountNano: 15n, reference: "c" } as const
      yield* transfers.adjust({ organizationId, ...correction, ...why })
    }
  }
  const why = { reason: "because", author: "who", orderId: null, organizationId }
  yield* transfers.adjust({ ...why, kind: "credit", amountNano: 7n, reference: "gift" })
  yield* transfers.adjust({ ...why, kind: "withdrawal", amountNano: 100n, reference: "out" })
  yield* ledger.hold(hold(11n, { id: yield* orderIdNow }))
  return { ...own, first, second }
})

export const statementsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("a month tells what came, what was charged and what is left", () =>
    Effect.gen(function* () {
      const statements = yield* Statements
      const ledger = yield* Ledger
      const { organizationId, first, second } = yield* business
      const month = yield* thisMonth
      const statement = yield* statements.read(organizationId, month)
      const { balanceNano } = yield* ledger.balance(organizationId)
      assert.deepStrictEqual(
        [statement.openingNano, statement.closingNano, statement.charges, statement.openOrders],
        [0n, balanceNano, { count: 3, grossNano: 75n, returnedNano: 15n }, 1]
      )
      assert.strictEqual(balanceNano, 1000n - 75n + 15n + 7n - 100n)
      assert.strictEqual(statement.openNano, 11n)
      assert.deepStrictEqual(statement.transferTotals, {
        deposit: { count: 1, amountNano: 1000n },
        credit: { count: 1, amountNano: 7n },
        withdrawal: { count: 1, amountNano: 100n },
        correction: { count: 1, amountNano: 15n }
      })
      assert.deepStrictEqual(
        statement.transfers.map(({ kind, reference, reason, amountNano }) => [
          kind,
          reference,
          reason,
          amountNano
        ]),
        [
          ["deposit", "first", null, 1000n],
          ["correction", "c", "blurred", 15n],
          ["credit", "gift", "because", 7n],
          ["withdrawal", "out", "because", 100n]
        ]
      )
      assert.match(statement.transfers[1]?.correctedId ?? "", /^us_im_/)
      assert.deepStrictEqual(statement.byModel, [
        { model: "m1", count: 2, grossNano: 45n, returnedNano: 15n },
        { model: "m2", count: 1, grossNano: 30n, returnedNano: 0n }
      ])
      assert.deepStrictEqual(statement.byMember, [
        { memberId: first, name: "member 0", count: 1, grossNano: 40n, returnedNano: 15n },
        { memberId: second, name: "member 1", count: 2, grossNano: 35n, returnedNano: 0n }
      ])
      assert.deepStrictEqual(statement.byTag, [
        { name: "team", value: "red", count: 2, grossNano: 70n, returnedNano: 15n },
        { name: "a", value: "1", count: 1, grossNano: 40n, returnedNano: 15n },
        { name: "b", value: "2", count: 1, grossNano: 40n, returnedNano: 15n }
      ])
      assert.isNull(statement.seal)
    })
  )

  it.effect("its file leads from the opening balance to the closing one, entry by entry", () =>
    Effect.gen(function* () {
      const statements = yield* Statements
      const { organizationId, first } = yield* business
      const month = yield* thisMonth
      const statement = yield* statements.read(organizationId, month)
      const file = yield* Stream.mkString(
        statementFile(statement, statements.entries(organizationId, month))
      )
      const lines = file.trimEnd().split("\r\n")
      const kinds = lines.slice(1).map((line) => line.slice(0, line.indexOf(",")))
      assert.deepStrictEqual(kinds, [
        "opening",
        "deposit",
        "charge",
        "correction",
        "charge",
        "charge",
        "credit",
        "withdrawal",
        "closing"
      ])
      const [, , , charge = ""] = lines
      const told = charge.split(",")
      assert.deepStrictEqual(told.slice(3, 8), ["-0.00000004", "0.00000096", first, "key_1", "m1"])
      assert.include(charge, '"{""a"":""1"",""b"":""2"",""team"":""red""}"')
      assert.match(lines.at(-1) ?? "", new RegExp(`^closing,${organizationId}/${month},.*,0,`))
    })
  )

  it.effect("a month that is not over is not due, and a seal stays as it was", () =>
    Effect.gen(function* () {
      const statements = yield* Statements
      const { organizationId } = yield* organization(5n)
      const month = yield* thisMonth
      const due = yield* statements.sealableMonths(1000)
      assert.notInclude(
        due.map(({ organizationId }) => organizationId),
        organizationId
      )
      const seal = { sha256: "ab", entries: 1n, openingNano: 0n, closingNano: 5n }
      yield* statements.seal(organizationId, month, seal)
      yield* statements.seal(organizationId, month, { ...seal, sha256: "cd" })
      const page = yield* statements.sealedMonths(organizationId, { after: null, limit: 5 })
      assert.deepStrictEqual(
        page.data.map(({ month, sha256, closingNano }) => [month, sha256, closingNano]),
        [[month, "ab", 5n]]
      )
      assert.strictEqual((yield* statements.read(organizationId, month)).seal?.sha256, "ab")
      const rest = yield* statements.sealedMonths(organizationId, { after: month, limit: 5 })
      assert.deepStrictEqual(rest, { data: [], hasMore: false })
      const unknown = yield* Effect.flip(
        statements.sealedMonths(organizationId, { after: "1999-01", limit: 5 })
      )
      assert.strictEqual(unknown._tag, "invalid_request")
    })
  )

  it.effect("there is no statement of the future, of before, or of strangers", () =>
    Effect.gen(function* () {
      const statements = yield* Statements
      const { organizationId } = yield* organization(5n)
      const month = yield* thisMonth
      for (const [id, other] of [
        [organizationId, "2999-01"],
        [organizationId, "1999-12"],
        ["org_nobody", month]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(statements.read(id, other)))._tag, "not_found")
      }
      const none = yield* Stream.runCollect(statements.entries("org_nobody", month))
      assert.lengthOf(none, 0)
    })
  )
}
