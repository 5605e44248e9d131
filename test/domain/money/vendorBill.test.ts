/** The vendor's own bill at the price of its unit. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readBill, reportedCostOf, VendorBill } from "../../../src/domain/money/vendorBill.ts"

const billed = (amount: unknown) => readBill("credit", amount).bill

describe("the vendor's own bill", () => {
  it.each<readonly [amount: unknown, priceNano: bigint, costNano: bigint | null]>([
    ["20", 36_000_000n, 720_000_000n],
    [20, 36_000_000n, 720_000_000n],
    [0.1, 200_000_000n, 20_000_000n],
    ["0.0001", 10_000n, 1n],
    ["0.0001", 10_001n, 2n],
    ["0.0001", 1n, 1n],
    ["0", 1n, 0n],
    ["1000000", 1_000_000_000_000n, 1_000_000_000_000_000_000n],
    ["1000000", 1_000_000_000_001n, null],
    // Some vendors bill in points, of which an order takes millions.
    ["1000000000", 100n, 100_000_000_000n],
    ["1000000000.0001", 1n, null]
  ])("of %s at %s nano-units costs %s", (amount, priceNano, costNano) => {
    assert.strictEqual(reportedCostOf(billed(amount), priceNano), costNano)
  })

  it("has no cost without a report or without a price", () => {
    assert.isNull(reportedCostOf(undefined, 1n))
    assert.isNull(reportedCostOf(billed("3"), null))
  })

  it("is stored as decimal text with its unit", () => {
    const bill = billed("3.5") ?? assert.fail("no bill was read")
    const stored = Schema.encodeSync(VendorBill)(bill)
    assert.deepStrictEqual(stored, { amount: "3.5", unit: "credit" })
    assert.deepStrictEqual(Schema.decodeSync(VendorBill)(stored), bill)
  })
})
