/** What stores must sum up: charges, failures and what was given back, by every name and note. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { SumGroup } from "../../src/domain/money/usageSums.ts"
import { type SumFilter, type SumQuery, UsageSums } from "../../src/features/usage/UsageSums.ts"
import { type HoldRequest, Ledger } from "../../src/services/Ledger.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { organization, type Stores, usageOf } from "../support/ledger.ts"

const anything: SumFilter = {
  organizationId: null,
  memberId: null,
  keyId: null,
  model: null,
  channelId: null,
  tag: null
}

const always: Omit<SumQuery, "by" | "filter"> = {
  step: null,
  from: new Date("1970-01-01"),
  to: new Date("2999-12-31"),
  afterName: null,
  limit: 1000
}

type Line = readonly [name: string, count: number, failed: number, charge: bigint, returned: bigint]

/** An organisation with charges of two members, keys and models, a failure, and corrections. */
const business = Effect.gen(function* () {
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const own = yield* organization(1000n, 2)
  const { organizationId, memberIds, hold, close } = own
  const [first = "", second = ""] = memberIds
  const orders = [
    [{ memberId: first, keyId: "a", model: "m1", metadata: { team: "red" } }, 10n, 4n],
    [{ memberId: first, keyId: "b", model: "m2", metadata: { team: "blue", x: "" } }, 20n, null],
    [{ memberId: second, keyId: "c", model: "m1", metadata: { team: "red" } }, 7n, 0n],
    [{ memberId: second, keyId: "c", model: "m2", metadata: null }, null, null]
  ] as const satisfies ReadonlyArray<readonly [Partial<HoldRequest>, bigint | null, bigint | null]>
  for (const [about, charge, costNano] of orders) {
    const request = hold(10n, about)
    yield* ledger.hold(request)
    if (charge === null) {
      yield* ledger.release({ ...close(request.id), orphan: null, forgetKey: false })
      continue
    }
    yield* ledger.capture({
      ...close(request.id),
      chargeNano: charge,
      costNano,
      usage: usageOf(charge)
    })
    if (about.model === "m1") {
      yield* transfers.adjust({
        organizationId,
        kind: "correction",
        amountNano: 3n,
        reference: request.id,
        reason: "why",
        author: "who",
        orderId: request.id
      })
    }
  }
  return { ...own, first, second }
})

export const usageSumsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("orders and corrections are summed up by every name and note, and by none", () =>
    Effect.gen(function* () {
      const sums = yield* UsageSums
      const { organizationId, first, second } = yield* business
      const linesOf = Effect.fnUntraced(function* (
        by: SumGroup | null,
        more: Partial<SumFilter> = {},
        query: Partial<SumQuery> = {}
      ) {
        const filter = { ...anything, organizationId, ...more }
        const lines = yield* sums.read({ ...always, by, filter, ...query })
        return lines.map((line): Line => {
          const { name, count, failed, chargeNano, returnedNano } = line
          return [name, count, failed, chargeNano, returnedNano]
        })
      })
      const whole: Line = ["", 3, 1, 37n, 6n]
      assert.deepStrictEqual(yield* linesOf(null), [whole])
      for (const step of ["hour", "day", "month"] as const) {
        const lines = yield* sums.read({
          ...always,
          step,
          by: null,
          filter: { ...anything, organizationId }
        })
        assert.strictEqual(
          lines.reduce((sum, { chargeNano }) => sum + chargeNano, 0n),
          37n
        )
      }
      assert.deepStrictEqual(yield* linesOf("model"), [
        ["m1", 2, 0, 17n, 6n],
        ["m2", 1, 1, 20n, 0n]
      ])
      assert.deepStrictEqual(yield* linesOf("model", {}, { afterName: "m1" }), [
        ["m2", 1, 1, 20n, 0n]
      ])
      assert.lengthOf(yield* linesOf("key", {}, { limit: 2 }), 2)
      const members: ReadonlyArray<Line> = [
        [first, 2, 0, 30n, 3n],
        [second, 1, 1, 7n, 3n]
      ]
      assert.deepStrictEqual(
        yield* linesOf("member"),
        members.toSorted(([a], [b]) => (a < b ? -1 : 1))
      )
      assert.deepStrictEqual(yield* linesOf("key", { memberId: first }), [
        ["a", 1, 0, 10n, 3n],
        ["b", 1, 0, 20n, 0n]
      ])
      assert.deepStrictEqual(yield* linesOf("modality", { keyId: "c", model: "m1" }), [
        ["image", 1, 0, 7n, 3n]
      ])
      assert.deepStrictEqual(yield* linesOf("organization"), [[organizationId, 3, 1, 37n, 6n]])
      const team = { name: "team", value: null }
      assert.deepStrictEqual(yield* linesOf("tag", { tag: team }), [
        ["blue", 1, 0, 20n, 0n],
        ["red", 2, 0, 17n, 6n]
      ])
      assert.deepStrictEqual(yield* linesOf("key", { tag: { name: "team", value: "red" } }), [
        ["a", 1, 0, 10n, 3n],
        ["c", 1, 0, 7n, 3n]
      ])
      assert.deepStrictEqual(yield* linesOf("key", { tag: { name: "x", value: "" } }), [
        ["b", 1, 0, 20n, 0n]
      ])
      assert.deepStrictEqual(yield* linesOf(null, {}, { to: new Date("1980-01-01") }), [])
      assert.deepStrictEqual(yield* linesOf(null, {}, { from: new Date("2990-01-01") }), [])
    })
  )

  it.effect("charges and costs are summed up where the order was made in the end", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const sums = yield* UsageSums
      const { organizationId, hold, close } = yield* organization(100n)
      const jobAt = (channelId: string) => ({ channelId, protocol: "ip_a", upstreamModel: "u" })
      const rows = [
        ["left", 10n, 7n],
        ["right", 20n, null],
        ["right", 5n, 6n]
      ] as const
      for (const [channel, chargeNano, costNano] of rows) {
        const request = hold(10n, { job: jobAt("first") })
        const { id: holdId } = request
        yield* ledger.hold(request)
        const job = jobAt(channel)
        const refusal = { reason: "overloaded" as const, status: 503 }
        yield* ledger.reassign({ organizationId, holdId, job, cost: null, refusal })
        const usage = usageOf(chargeNano)
        yield* ledger.capture({ ...close(holdId), chargeNano, costNano, usage })
      }
      const lines = yield* sums.read({
        ...always,
        by: "channel",
        filter: { ...anything, organizationId }
      })
      assert.deepStrictEqual(
        lines.map(({ name, count, chargeNano, costNano, withoutCost, images }) => [
          name,
          count,
          chargeNano,
          costNano,
          withoutCost,
          images
        ]),
        [
          ["left", 1, 10n, 7n, 0, 10n],
          ["right", 2, 25n, 6n, 1, 25n]
        ]
      )
    })
  )
}
