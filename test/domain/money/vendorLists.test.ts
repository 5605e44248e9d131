import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { formatNano, MAX_AMOUNT_NANO } from "../../../src/domain/money/Money.ts"
import {
  detectDelimiter,
  type NumberForm,
  parseListNumber
} from "../../../src/features/reconciliations/vendorLists.ts"

const plain: NumberForm = { decimal: "point", thousands: null }

const anyAmount = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: -MAX_AMOUNT_NANO, maximum: MAX_AMOUNT_NANO })
)

/** As a person would group the digits. */
const grouped = (decimal: string, point: string, group: string): string => {
  const [whole = "", fraction] = decimal.split(".")
  const marked = whole.replace(/\B(?=(\d{3})+$)/g, group)
  return fraction === undefined ? marked : `${marked}${point}${fraction}`
}

describe("a number of a list", () => {
  it.prop("is read exactly, however it is written", [anyAmount], ([amountNano]) => {
    const decimal = formatNano(amountNano)
    assert.deepStrictEqual(parseListNumber(decimal, plain), Result.succeed(amountNano))
    for (const [form, point, group] of [
      [{ decimal: "point", thousands: "comma" }, ".", ","],
      [{ decimal: "comma", thousands: "point" }, ",", "."],
      [{ decimal: "comma", thousands: "space" }, ",", " "],
      [{ decimal: "point", thousands: "apostrophe" }, ".", "'"]
    ] as const) {
      const text = grouped(decimal, point, group)
      assert.deepStrictEqual(parseListNumber(text, form), Result.succeed(amountNano), text)
      assert.deepStrictEqual(
        parseListNumber(decimal.replace(".", point), form),
        Result.succeed(amountNano)
      )
    }
  })

  it.each([
    ["1,234", plain],
    ["1.5", { decimal: "comma", thousands: null }],
    ["1.5", { decimal: "comma", thousands: "point" }],
    ["1,23", { decimal: "point", thousands: "comma" }],
    ["1,234,56", { decimal: "point", thousands: "comma" }],
    ["1234,567", { decimal: "point", thousands: "comma" }],
    ["1.234,5", { decimal: "point", thousands: "comma" }],
    ["1.2.3", plain],
    ["--1", plain],
    ["+1", plain],
    ["1G234", { decimal: "point", thousands: "comma" }],
    ["1e3", plain],
    ["", plain],
    [".5", plain],
    ["5.", plain],
    ["１", plain]
  ] as const)("%j is refused as %j", (text, form) => {
    assert.isTrue(Result.isFailure(parseListNumber(text, form)), text)
  })
})

it.each([
  ["id,cost", "comma"],
  ["id;cost", "semicolon"],
  ["id\tcost", "tab"],
  ["id;amount, in yuan;note", "semicolon"],
  ["id", "comma"]
] as const)("cells of %j are separated by a %s", (names, delimiter) => {
  assert.strictEqual(detectDelimiter(names), delimiter)
})
