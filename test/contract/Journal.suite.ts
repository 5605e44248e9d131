/** What stores must show of the money that moved: the journal and the usage detail, page by page. */
import { assert, type Vitest } from "@effect/vitest"
import { Clock, Effect } from "effect"
import type { Page, PageRequest } from "../../src/runtime/Page.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { UsageLog } from "../../src/services/UsageLog.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"

/** Every page of a list, in pages of two. */
const allPages = Effect.fnUntraced(function* <A extends { readonly id: string }, E>(
  list: (page: PageRequest) => Effect.Effect<Page<A>, E>
) {
  const all: Array<A> = []
  let after: string | null = null
  while (true) {
    const page: Page<A> = yield* list({ after, limit: 2 })
    all.push(...page.data)
    if (!page.hasMore) return all
    assert.lengthOf(page.data, 2)
    after = page.data.at(-1)?.id ?? null
  }
})

/** One hold that is captured, one that is released and one that stays open. */
const threeHolds = Effect.fnUntraced(function* () {
  const ledger = yield* Ledger
  const made = yield* organization(100n, 2)
  const [captured, released, open] = [made.hold(10n), made.hold(20n), made.hold(30n)]
  for (const request of [captured, released, open]) yield* ledger.hold(request)
  const chargeNano = 15n
  yield* ledger.capture({ ...made.close(captured.id), chargeNano, usage: usageOf(chargeNano) })
  yield* ledger.release({ ...made.close(released.id), orphan: null, forgetKey: false })
  return { ...made, captured, released, open }
})

export const journalSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("the journal shows every movement, newest first, and folds to the balance", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { organizationId, captured, released, open } = yield* threeHolds()
      const entries = yield* allPages((page) => ledger.journal(organizationId, page))
      assert.deepStrictEqual(
        entries.map(({ kind, amountNano, holdId, debit, credit, reference }) => [
          kind,
          amountNano,
          holdId,
          debit,
          credit,
          reference
        ]),
        [
          ["hold", 30n, open.id, "pool", "held", null],
          ["release", 20n, released.id, "held", "pool", null],
          ["hold", 20n, released.id, "pool", "held", null],
          ["release", 10n, captured.id, "held", "pool", null],
          ["capture", 15n, captured.id, "pool", "revenue", null],
          ["hold", 10n, captured.id, "pool", "held", null],
          ["deposit", 100n, null, "external", "pool", "first"]
        ]
      )
      const { balanceNano, heldNano } = yield* ledger.balance(organizationId)
      const fold = (account: string) =>
        entries.reduce(
          (sum, { debit, credit, amountNano }) =>
            sum + (credit === account ? amountNano : 0n) - (debit === account ? amountNano : 0n),
          0n
        )
      assert.deepStrictEqual([fold("pool"), fold("held")], [balanceNano - heldNano, heldNano])
    })
  )

  it.effect("a journal of deposits alone has all of them on its pages", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { organizationId } = yield* organization(0n)
      const references = ["a", "b", "c", "d", "e"]
      for (const reference of references) yield* ledger.deposit(organizationId, 1n, reference)
      const entries = yield* allPages((page) => ledger.journal(organizationId, page))
      assert.deepStrictEqual(
        entries.map(({ reference }) => reference),
        references.toReversed()
      )
    })
  )

  it.effect("a journal takes no cursor it has not given out", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const mine = yield* threeHolds()
      const theirs = yield* threeHolds()
      const numbers = ["0", "1e3", "1.0", "-1", "9".repeat(30)].map((number) => `tr_${number}`)
      const foreign = [`hold_${theirs.open.id}`, `release_${mine.open.id}`]
      for (const after of [...foreign, ...numbers, "x"]) {
        const error = yield* Effect.flip(ledger.journal(mine.organizationId, { after, limit: 2 }))
        assert.deepInclude(error, { _tag: "invalid_request", param: "after" })
      }
    })
  )

  it.effect("the usage of a tag is that of the orders that carry it, of every kind", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const usageLog = yield* UsageLog
      const { organizationId, memberIds, hold, close } = yield* organization(100n, 2)
      const made: Array<string> = []
      for (const [index, metadata] of [
        { project: "a", team: "x" },
        null,
        { project: "b" },
        { project: "a" },
        { "project=a": "" }
      ].entries()) {
        const memberId = memberIds[index % 2] ?? ""
        const request = hold(10n, { memberId, metadata })
        yield* ledger.hold(request)
        yield* ledger.capture({ ...close(request.id), chargeNano: 1n, usage: usageOf(1n) })
        made.push(`us_${request.id}`)
      }
      const open = hold(10n, { metadata: { project: "a" } })
      yield* ledger.hold(open)
      const listed = (value: string, memberId: string | null = null) =>
        Effect.map(
          allPages((page) =>
            usageLog.list(organizationId, { memberId, tag: { name: "project", value } }, page)
          ),
          (records) => records.map(({ id }) => made.indexOf(id))
        )
      assert.deepStrictEqual(yield* listed("a"), [3, 0])
      assert.deepStrictEqual(yield* listed("a", memberIds[0] ?? ""), [0])
      assert.deepStrictEqual(yield* listed("b"), [2])
      assert.deepStrictEqual(yield* listed("c"), [])
      const receipt = yield* allPages((page) =>
        usageLog.list(organizationId, { memberId: null, tag: null }, page)
      )
      assert.deepStrictEqual(receipt.at(-1)?.metadata, { project: "a", team: "x" })
    })
  )

  it.effect("the usage detail has one record a charge, of one member or of all", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const usageLog = yield* UsageLog
      const { organizationId, memberIds, hold, close } = yield* organization(100n, 2)
      const ids: Array<string> = []
      for (const [index, units] of [1n, 2n, 3n, 4n, 5n].entries()) {
        const request = hold(10n, { memberId: memberIds[index % 2] ?? "" })
        yield* ledger.hold(request)
        const charged = { chargeNano: units, costNano: units - 1n, usage: usageOf(units) }
        const capture = { ...close(request.id), ...charged }
        for (const won of [true, false]) {
          assert.strictEqual((yield* ledger.capture(capture)).won, won)
        }
        ids.unshift(`us_${request.id}`)
      }
      const listed = (memberId: string | null) =>
        allPages((page) => usageLog.list(organizationId, { memberId, tag: null }, page))
      const all = yield* listed(null)
      assert.deepStrictEqual(
        all.map(({ id, chargeNano }) => [id, chargeNano]),
        ids.map((id, index) => [id, 5n - BigInt(index)])
      )
      const [newest] = all
      assert.deepStrictEqual(
        { ...newest, createdAt: null },
        {
          month: new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 7),
          id: ids[0],
          memberId: memberIds[0],
          model: "paint-1",
          modality: "image",
          input: 0n,
          output: 5n,
          unit: "image",
          unitPriceNano: 1n,
          inputUnitPriceNano: null,
          parts: null,
          chargeNano: 5n,
          costNano: 4n,
          vendorBill: null,
          reportedCostNano: null,
          priceListId: null,
          basis: "requested_images",
          taskId: null,
          metadata: null,
          createdAt: null
        }
      )
      const ofFirst = yield* listed(memberIds[0] ?? "")
      assert.deepStrictEqual(
        ofFirst.map(({ chargeNano }) => chargeNano),
        [5n, 3n, 1n]
      )
      const other = { after: all[1]?.id ?? null, limit: 2 }
      const error = yield* Effect.flip(
        usageLog.list(organizationId, { memberId: memberIds[0] ?? "", tag: null }, other)
      )
      assert.strictEqual(error.param, "after")
      assert.deepStrictEqual(
        yield* usageLog.list(
          "org_nobody",
          { memberId: null, tag: null },
          { after: null, limit: 2 }
        ),
        {
          data: [],
          hasMore: false
        }
      )
    })
  )
}
