import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  Amount,
  formatNano,
  MAX_AMOUNT_NANO,
  NANO_PER_UNIT,
  PerMillionTokens,
  PositiveAmount,
  parseNano
} from "../../../src/domain/money/Money.ts"

const anyAmount = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: 0n, maximum: MAX_AMOUNT_NANO })
)
const whole = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999_999_999 }))

/** What stands for money elsewhere and is refused here. */
const refused = [
  "",
  " ",
  " 1",
  "1 ",
  "1\n",
  "+1",
  "-1",
  "-0",
  "−1",
  "1e3",
  "1E-3",
  "NaN",
  "Infinity",
  "null",
  "0x10",
  "1,5",
  "1_000",
  "1 000",
  ".5",
  "5.",
  "01",
  "00.5",
  "1.2.3",
  "1.0000000001",
  "0.0000000000",
  "１２",
  "CNY 1",
  "1000000000.000000001",
  "99999999999"
]

describe("formatting", () => {
  it.each([
    [0n, "0"],
    [1n, "0.000000001"],
    [4_968_000_000n, "4.968"],
    [100_000_000n, "0.1"],
    [NANO_PER_UNIT, "1"],
    [10_500_000_000n, "10.5"],
    [-1n, "-0.000000001"],
    [-4_968_000_000n, "-4.968"],
    [MAX_AMOUNT_NANO, "1000000000"],
    [9_223_372_036_854_775_807n, "9223372036.854775807"]
  ] as const)("shows %s nano-units as %s", (amountNano, text) => {
    assert.strictEqual(formatNano(amountNano), text)
  })

  it.prop(
    "leaves no trailing zero, no exponent and at most nine decimals",
    [anyAmount],
    ([nano]) => {
      assert.match(formatNano(nano), /^(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/)
    }
  )

  it.prop("of a debt is that of the amount with a minus", [anyAmount], ([nano]) => {
    assert.strictEqual(formatNano(-nano), nano === 0n ? "0" : `-${formatNano(nano)}`)
  })
})

describe("parsing", () => {
  it.each([
    ["0", 0n],
    ["0.0", 0n],
    ["4.968", 4_968_000_000n],
    ["4.968000000", 4_968_000_000n],
    ["0.000000001", 1n],
    ["0.1", 100_000_000n],
    ["12.50", 12_500_000_000n],
    ["1000000000", MAX_AMOUNT_NANO]
  ] as const)("reads %j as %s nano-units", (text, amountNano) => {
    assert.strictEqual(Result.getOrThrow(parseNano(text)), amountNano)
  })

  it.each(refused)("refuses %j", (text) => {
    assert.isTrue(Result.isFailure(parseNano(text)))
  })

  it("says what it wants", () => {
    assert.include(
      Result.getOrThrow(Result.flip(parseNano("1e3"))),
      'a decimal string such as "12.5"'
    )
    assert.strictEqual(
      Result.getOrThrow(Result.flip(parseNano("1000000001"))),
      "at most 1000000000"
    )
  })

  it.prop("gives back every amount that was formatted", [anyAmount], ([nano]) => {
    assert.strictEqual(Result.getOrThrow(parseNano(formatNano(nano))), nano)
  })

  it.prop("loses no digit of nine", [whole, whole], ([units, nano]) => {
    const text = `${units}.${String(nano).padStart(9, "0")}`
    assert.strictEqual(
      Result.getOrThrow(parseNano(text)),
      BigInt(units) * 1_000_000_000n + BigInt(nano)
    )
  })

  it.prop(
    "refuses a tenth decimal, whatever it is",
    [whole, Schema.Literals([0, 5, 9])],
    ([nano, digit]) => {
      assert.isTrue(Result.isFailure(parseNano(`1.${String(nano).padStart(9, "0")}${digit}`)))
    }
  )

  it.prop("never throws and never reads a text as less than nothing", [Schema.String], ([text]) => {
    assert.isTrue(
      Result.match(parseNano(text), { onSuccess: (nano) => nano >= 0n, onFailure: () => true })
    )
  })
})

const reads = (schema: Schema.Codec<bigint, string>, value: unknown) =>
  Result.isSuccess(Schema.decodeUnknownResult(schema)(value))

describe("an amount in JSON", () => {
  it.prop("comes back as it went", [anyAmount], ([nano]) => {
    assert.strictEqual(Schema.decodeSync(Amount)(Schema.encodeSync(Amount)(nano)), nano)
  })

  it.each([...refused, 1, 0.5, null, undefined, {}, ["1"]])("is not %j", (value) => {
    assert.isFalse(reads(Amount, value))
  })

  it("may be zero, unless it has to move something", () => {
    assert.isTrue(reads(Amount, "0"))
    assert.isFalse(reads(PositiveAmount, "0"))
    assert.isFalse(reads(PositiveAmount, "0.000"))
    assert.isTrue(reads(PositiveAmount, "0.000000001"))
  })
})

const milli = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))
const thousandths = (amount: number) =>
  `${Math.floor(amount / 1000)}.${String(amount % 1000).padStart(3, "0")}`

describe("a price per million tokens", () => {
  it.each([
    ["46", 46_000n],
    ["0.001", 1n],
    ["2.5", 2500n],
    ["0.0010", 1n],
    ["0", 0n]
  ] as const)("of %s is %s nano-units a token", (text, perToken) => {
    assert.strictEqual(Schema.decodeSync(PerMillionTokens)(text), perToken)
  })

  it.each(["0.0001", "46.0001", "46.000000001", ...refused])("of %j is refused", (text) => {
    assert.isFalse(reads(PerMillionTokens, text))
  })

  it.prop("with three decimals is exact over a million tokens", [milli], ([amount]) => {
    const text = thousandths(amount)
    const perToken = Schema.decodeSync(PerMillionTokens)(text)
    assert.strictEqual(perToken * 1_000_000n, Result.getOrThrow(parseNano(text)))
  })

  it.prop(
    "with a fourth decimal is refused",
    [milli, Schema.Literals([1, 5, 9])],
    ([amount, digit]) => {
      assert.isFalse(reads(PerMillionTokens, `${thousandths(amount)}${digit}`))
    }
  )

  it.prop("comes back as it went", [milli], ([perToken]) => {
    const text = Schema.encodeSync(PerMillionTokens)(BigInt(perToken))
    assert.strictEqual(Schema.decodeSync(PerMillionTokens)(text), BigInt(perToken))
  })
})
